//! The tools of Countersign: each plans a call, previews it and runs it on a permit.
//!
//! A [`Toolbox`] holds [`Tool`]s by name; [`Toolbox::coding`] is the usual six, [`Toolbox::full`] all
//! of them. A [`Catalogue`] knows every call that can be judged, also those that others run. A tool
//! reads its input strictly, turns every path into a [`countersign_core::Target`] by way of the
//! [`Workspace`], says what the call would do (`plan`), shows it (`preview`) and does it (`run`), in
//! one file per tool: [`Read`], [`Write`], [`Edit`], [`MultiEdit`], [`NotebookEdit`], [`ApplyPatch`],
//! [`Bash`], [`Diagnostics`], [`Glob`], [`Grep`], [`ListDir`], [`WebFetch`], [`WebSearch`],
//! [`TodoWrite`], [`TodoRead`]. [`Task`] and [`McpTool`] only plan and preview. In `client` are
//! the four tools that are decided at a server and run on another machine, for both sides:
//! [`Toolbox::client`]. In `claude_code` is what Claude Code has beyond these.
//!
//! Two seams lead to the net: a [`Resolver`] says where names lead and which addresses may be asked,
//! a [`SearchEngine`] finds pages.
//!
//! Below them: `input` parses what a model sent, `path` refuses what no path may look like, `reach`
//! says what reading and writing one does, `text` knows encodings, `disk` opens and replaces
//! files without following links, `walk` goes through folders, `process` starts children and ends
//! them with all their kin, `capped` keeps the two ends of an output that is too long.
//!
//! In `sandbox` is where children run: [`Sandbox`] says what it is worth here and turns a command line
//! into one that runs inside, with a [`View`] of what it may see and change.
//!
//! Nothing here decides whether a call may run, reads the environment or waits for a person.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/adding-a-tool.md")]
struct AddingATool;

mod apply_patch;
mod bash;
mod blocking;
mod capped;
mod catalogue;
mod child;
mod claude_code;
mod client;
mod diagnostics;
mod disk;
mod edit;
mod executor;
mod file_diff;
mod git;
mod glob;
mod grep;
mod info;
mod input;
mod keep;
mod list_dir;
mod machine;
mod mcp;
mod multi_edit;
mod notebook_edit;
mod path;
mod process;
mod reach;
mod read;
mod rehearsal;
mod sandbox;
mod shown;
mod task;
mod text;
mod todo;
mod tool;
mod toolbox;
mod transaction;
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
pub use diagnostics::Diagnostics;
pub use edit::Edit;
pub use executor::run_canonical;
pub use git::{reader_environment, with_reader_arguments};
pub use glob::Glob;
pub use grep::Grep;
pub use info::ToolInfo;
pub use keep::{Keep, KeepLimits, Kept, NotRestored};
pub use list_dir::ListDir;
pub use mcp::{
    Confinement, Declared, DeclaredProgram, DeclaredUrl, McpError, McpServers, McpTool,
    NotDeclared, Pin, PinnedTool, Pins, Standing, declare,
};
pub use multi_edit::MultiEdit;
pub use notebook_edit::NotebookEdit;
pub use process::Environment;
pub use read::Read;
pub use rehearsal::{NotRehearsed, Staged};
pub use sandbox::{
    Confined, EnterError, Level, Limits, Network, Sandbox, Setup, Start, View, enter,
};
pub use shown::{shown, spelled};
pub use task::{AgentKind, Task, Work};
pub use todo::{TodoList, TodoRead, TodoWrite};
pub use tool::{Cleared, NeedsApproval, Tool, ToolError, keep_rehearsed, run};
pub use toolbox::Toolbox;
pub use web_fetch::{FixedResolver, Resolver, SystemResolver, WebFetch};
pub use web_search::{BraveSearch, FixedSearch, Found, SearchEngine, SearchError, WebSearch};
pub use workspace::{NotAFolder, Workspace};
pub use write::Write;
