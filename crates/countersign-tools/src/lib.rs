//! The tools of Countersign: each plans a call, previews it and runs it on a permit.
//!
//! A [`Toolbox`] holds [`Tool`]s by name; [`Toolbox::coding`] is the usual six. A [`Catalogue`] knows
//! every call that can be judged, also those that others run. A tool reads its input strictly, turns every path into a [`countersign_core::Target`] by way of the [`Workspace`], says what
//! the call would do (`plan`), shows it (`preview`) and does it (`run`), in one file per tool:
//! [`Read`], [`Write`], [`Edit`], [`Bash`], [`Glob`], [`Grep`]. Those that only plan and preview are
//! files of the same shape: [`MultiEdit`], [`NotebookEdit`], [`ApplyPatch`], [`ListDir`], [`WebFetch`],
//! [`WebSearch`], [`TodoWrite`], [`TodoRead`], [`Task`], [`McpTool`]. In `client` are the four tools
//! that are decided at a server and run on another machine, for both sides: [`Toolbox::client`]. In `claude_code` is
//! what Claude Code has beyond these.
//!
//! Below them: `input` parses what a model sent, `path` refuses what no path may look like, `reach`
//! says what reading and writing one does, `text` knows encodings, `disk` opens and replaces
//! files without following links, `walk` goes through folders, `process` starts children and ends
//! them with all their kin, `capped` keeps the two ends of an output that is too long.
//!
//! Nothing here decides whether a call may run, reads the environment or waits for a person.

mod apply_patch;
mod bash;
mod blocking;
mod capped;
mod catalogue;
mod claude_code;
mod client;
mod disk;
mod edit;
mod git;
mod glob;
mod grep;
mod info;
mod input;
mod list_dir;
mod machine;
mod mcp;
mod multi_edit;
mod notebook_edit;
mod path;
mod process;
mod reach;
mod read;
mod shown;
mod task;
mod text;
mod todo;
mod tool;
mod toolbox;
mod unknown;
mod walk;
mod web_fetch;
mod web_search;
mod workspace;
mod write;

pub use apply_patch::ApplyPatch;
pub use bash::Bash;
pub use catalogue::Catalogue;
pub use claude_code::asks_by_itself;
pub use client::{
    ClientRoot, ClientSide, ExecuteCommand, ListDirectory, Listener, ReadFile, WriteFile,
};
pub use edit::Edit;
pub use glob::Glob;
pub use grep::Grep;
pub use info::ToolInfo;
pub use list_dir::ListDir;
pub use mcp::McpTool;
pub use multi_edit::MultiEdit;
pub use notebook_edit::NotebookEdit;
pub use process::Environment;
pub use read::Read;
pub use shown::{shown, spelled};
pub use task::Task;
pub use todo::{TodoRead, TodoWrite};
pub use tool::{Cleared, NeedsApproval, Tool, ToolError, run};
pub use toolbox::Toolbox;
pub use web_fetch::WebFetch;
pub use web_search::WebSearch;
pub use workspace::{NotAFolder, Workspace};
pub use write::Write;
