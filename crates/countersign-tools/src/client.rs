//! The tools of a client: decided here, run on another machine.
//!
//! Its files are not ours to look at, so a path is judged by its components alone, against the
//! folder the project has over there; links on that machine are the business of whoever runs it.

mod execute_command;
mod list_directory;
mod read_file;
mod root;
mod write_file;

pub use self::execute_command::ExecuteCommand;
pub use self::list_directory::ListDirectory;
pub use self::read_file::ReadFile;
pub use self::root::ClientRoot;
pub use self::write_file::WriteFile;
