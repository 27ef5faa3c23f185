//! The tools of Countersign: each plans a call, previews it and runs it on a permit.
//!
//! A [`Toolbox`] holds [`Tool`]s by name; [`Toolbox::coding`] is the usual six, [`Toolbox::full`] all
//! of them. A [`PlannerCatalogue`] knows every call that can be judged, also those that others run.
//!
//! The crate has these rooms. Each uses only those below it in this list:
//!
//! - `catalogue`: which tools there are by name: the ready toolboxes, the planners, and what Claude Code
//!   has beyond ours.
//! - `builtin`: our own tools, one file each: [`Read`], [`Write`], [`Edit`], [`MultiEdit`],
//!   [`NotebookEdit`], [`ApplyPatch`], [`Bash`], [`Diagnostics`], [`Glob`], [`Grep`], [`ListDir`],
//!   [`WebFetch`], [`WebSearch`], [`TodoWrite`], [`TodoRead`], and [`Task`], which only plans. Two seams
//!   lead to the net: a [`HostResolver`] says where names lead, a [`SearchEngine`] finds pages.
//! - `client`: the four tools that are decided at a server and run on another machine, for both sides:
//!   [`Toolbox::client`].
//! - `mcp`: the tools of MCP servers that a person has trusted: [`McpServers`].
//! - `tool`: what a [`Tool`] is, and what all of them share: parsing inputs, the [`Toolbox`], the adapter
//!   that makes a tool of what each of them says.
//! - `sandbox`: where children run. [`Sandbox`] turns a command line into one that runs inside, with a
//!   [`ChildView`] of what it may see and change; a rehearsal runs there too.
//! - `machine`: this machine, its processes and programs, and the executor of canonical commands.
//! - `files`: paths, files and their text.
//! - `tool_error`: [`ToolError`], why a tool could not do its work.
//!
//! `builtin`, `client` and `mcp` do not use each other. Nothing here decides whether a call may run,
//! reads the environment or waits for a person.
//!
//! Cargo features, none of them on by itself:
//!
//! - `git`: reads the configs of repositories. Without it every git command is for a person to decide.
//! - `mcp`: MCP servers ([`McpServers`]).
//! - `sandbox`: Landlock and seccomp. Without it [`Sandbox::probe`] finds [`IsolationLevel::None`], and
//!   [`enter`] starts nothing that was to be confined.
//! - `web`: [`WebFetch`] and [`WebSearch`]. Without it they are in no toolbox, and whoever else calls them
//!   asks a person.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/adding-a-tool.md")]
struct AddingATool;

mod builtin;
mod catalogue;
mod client;
mod files;
mod machine;
mod mcp;
mod sandbox;
mod tool;
mod tool_error;

pub use builtin::{
    AgentKind, ApplyPatch, Bash, DelegatedTask, Diagnostics, Edit, Glob, Grep, ListDir, MultiEdit,
    NotebookEdit, Read, Task, TodoList, TodoRead, TodoWrite, Write,
};
#[cfg(feature = "web")]
pub use builtin::{
    BraveSearch, FixedResolver, FixedSearch, HostResolver, SearchEngine, SearchError, SearchHit,
    SystemResolver, WebFetch, WebSearch,
};
pub use catalogue::{PlannerCatalogue, asks_by_itself};
pub use client::{
    ClientRoot, ClientSide, ExecuteCommand, ListDirectory, OutputListener, ReadFile, WriteFile,
};
pub use files::backup::{BackupLimits, BackupStore, FileBackup, RestoreError};
pub use files::escape::{escape_invisible, escape_to_line};
pub use files::workspace::{NotAFolder, Workspace};
pub use machine::Environment;
pub use machine::executor::run_canonical;
pub use machine::git::{reader_environment, with_reader_arguments};
pub use machine::process::ResourceLimits;
pub use mcp::McpTool;
#[cfg(feature = "mcp")]
pub use mcp::{
    McpConfinement, McpDeclarationError, McpError, McpPinFile, McpProgramDeclaration,
    McpServerDeclaration, McpServerPin, McpServers, McpToolPin, McpUrlDeclaration, TrustStatus,
    parse_declarations,
};
pub use sandbox::rehearsal::{RehearsalError, StagedRehearsal};
pub use sandbox::{
    ChildView, CommandSpec, EnterError, IsolationLevel, NetworkAccess, Sandbox, SandboxSetup,
    SandboxedCommand, enter,
};
pub use tool::{NeedsApproval, Tool, ToolInfo, Toolbox, VerifiedPermit, keep_rehearsed, run};
pub use tool_error::ToolError;
