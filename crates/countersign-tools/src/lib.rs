//! The tools of Countersign: each plans a call, previews it and runs it on a permit.
//!
//! A [`Toolbox`] holds [`Tool`]s by name; [`Toolbox::coding`] is the usual six, [`Toolbox::full`] all
//! of them. A [`PlannerCatalogue`] knows every call that can be judged, also those that others run. A tool
//! reads its input strictly, turns every path into a [`countersign_core::EffectTarget`] by way of the
//! [`Workspace`], says what the call would do (`plan`), shows it (`preview`) and does it (`run`), in
//! one file per tool: [`Read`], [`Write`], [`Edit`], [`MultiEdit`], [`NotebookEdit`], [`ApplyPatch`],
//! [`Bash`], [`Diagnostics`], [`Glob`], [`Grep`], [`ListDir`], [`WebFetch`], [`WebSearch`],
//! [`TodoWrite`], [`TodoRead`]. [`Task`] and [`McpTool`] only plan and preview. In `client` are
//! the four tools that are decided at a server and run on another machine, for both sides:
//! [`Toolbox::client`]. In `claude_code` is what Claude Code has beyond these.
//!
//! Two seams lead to the net: a [`HostResolver`] says where names lead and which addresses may be asked,
//! a [`SearchEngine`] finds pages.
//!
//! Below them: `input` parses what a model sent, `path` refuses what no path may look like, `reach`
//! says what reading and writing one does, `text` knows encodings, `disk` opens and replaces
//! files without following links, `walk` goes through folders, `process` starts children and ends
//! them with all their kin, `capped` keeps the two ends of an output that is too long.
//!
//! In `sandbox` is where children run: [`Sandbox`] says what it is worth here and turns a command line
//! into one that runs inside, with a [`ChildView`] of what it may see and change.
//!
//! Nothing here decides whether a call may run, reads the environment or waits for a person.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/adding-a-tool.md")]
struct AddingATool;

mod apply_patch;
mod backup;
mod bash;
mod blocking;
mod catalogue;
mod child_command;
mod claude_code;
mod client;
mod diagnostics;
mod disk;
mod edit;
mod escape;
mod executor;
mod file_diff;
mod git;
mod glob;
mod grep;
mod input;
mod list_dir;
mod machine;
mod mcp;
mod multi_edit;
mod notebook_edit;
mod path;
mod path_effects;
mod process;
mod read;
mod rehearsal;
mod sandbox;
mod task;
mod text;
mod todo;
mod tool;
mod tool_info;
mod toolbox;
mod transaction;
mod truncate;
mod unknown_tool;
mod walk;
mod web_fetch;
mod web_search;
mod workspace;
mod write;

pub use apply_patch::ApplyPatch;
pub use backup::{BackupLimits, BackupStore, FileBackup, RestoreError};
pub use bash::Bash;
pub use catalogue::PlannerCatalogue;
pub use claude_code::asks_by_itself;
pub use client::{
    ClientRoot, ClientSide, ExecuteCommand, ListDirectory, OutputListener, ReadFile, WriteFile,
};
pub use diagnostics::Diagnostics;
pub use edit::Edit;
pub use escape::{escape_invisible, escape_to_line};
pub use executor::run_canonical;
pub use git::{reader_environment, with_reader_arguments};
pub use glob::Glob;
pub use grep::Grep;
pub use list_dir::ListDir;
pub use mcp::{
    McpConfinement, McpDeclarationError, McpError, McpPinFile, McpProgramDeclaration,
    McpServerDeclaration, McpServerPin, McpServers, McpTool, McpToolPin, McpUrlDeclaration,
    TrustStatus, parse_declarations,
};
pub use multi_edit::MultiEdit;
pub use notebook_edit::NotebookEdit;
pub use process::Environment;
pub use read::Read;
pub use rehearsal::{RehearsalError, StagedRehearsal};
pub use sandbox::{
    ChildView, CommandSpec, EnterError, IsolationLevel, NetworkAccess, ResourceLimits, Sandbox,
    SandboxSetup, SandboxedCommand, enter,
};
pub use task::{AgentKind, DelegatedTask, Task};
pub use todo::{TodoList, TodoRead, TodoWrite};
pub use tool::{NeedsApproval, Tool, ToolError, VerifiedPermit, keep_rehearsed, run};
pub use tool_info::ToolInfo;
pub use toolbox::Toolbox;
pub use web_fetch::{FixedResolver, HostResolver, SystemResolver, WebFetch};
pub use web_search::{BraveSearch, FixedSearch, SearchEngine, SearchError, SearchHit, WebSearch};
pub use workspace::{NotAFolder, Workspace};
pub use write::Write;
