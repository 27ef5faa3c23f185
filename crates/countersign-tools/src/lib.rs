//! The tools of Countersign: each plans a call, previews it and runs it on a permit.
//!
//! A [`Toolbox`] holds [`Tool`]s by name; [`Toolbox::coding`] is the usual six. A tool reads its input
//! strictly, turns every path into a [`countersign_core::Target`] by way of the [`Workspace`], says what
//! the call would do (`plan`), shows it (`preview`) and does it (`run`), in one file per tool:
//! [`Read`], [`Write`], [`Edit`], [`Bash`], [`Glob`], [`Grep`].
//!
//! Below them: `input` parses what a model sent, `text` knows encodings, `disk` opens and replaces
//! files without following links, `walk` goes through folders, `process` starts children and ends
//! them with all their kin, `capped` keeps the two ends of an output that is too long.
//!
//! Nothing here decides whether a call may run, reads the environment or waits for a person.

mod bash;
mod blocking;
mod capped;
mod disk;
mod edit;
mod git;
mod glob;
mod grep;
mod input;
mod machine;
mod process;
mod read;
mod shown;
mod text;
mod tool;
mod toolbox;
mod walk;
mod workspace;
mod write;

pub use bash::Bash;
pub use edit::Edit;
pub use glob::Glob;
pub use grep::Grep;
pub use process::Environment;
pub use read::Read;
pub use tool::{NeedsApproval, Tool, ToolError, run};
pub use toolbox::Toolbox;
pub use workspace::{NotAFolder, Workspace};
pub use write::Write;
