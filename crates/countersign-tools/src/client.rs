//! The tools of a client: decided at the server, run on another machine.
//!
//! They have two sides. The server's files are not the client's, so there a path is judged by its
//! components alone, against the folder the project has over there, and nothing runs. On the client's
//! machine the same tools look again, links and all, and run with the code of the tools that run here.

mod execute_command;
mod list_directory;
mod read_file;
mod report;
mod root;
mod side;
mod write_file;

pub use self::execute_command::{ExecuteCommand, OutputListener};
pub use self::list_directory::ListDirectory;
pub use self::read_file::ReadFile;
pub use self::root::ClientRoot;
pub use self::side::ClientSide;
pub use self::write_file::WriteFile;

/// Above this many bytes a text does not travel between server and client.
const CONTENT_LIMIT: usize = 10 * 1024 * 1024;
