//! A Rust SDK for the Claude Code CLI.
//!
//! # A minute
//!
//! Install the CLI (`npm install -g @anthropic-ai/claude-code`) and sign in once (`claude`), or set
//! `ANTHROPIC_API_KEY`. Then ask something:
//!
//! ```no_run
//! use countersign_claude::{Options, query};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut answers = query("What is 2 + 2?", Options::new()).await?;
//!     while let Some(message) = answers.next().await {
//!         print!("{}", message?.text());
//!     }
//!     Ok(())
//! }
//! ```
//!
//! or talk:
//!
//! ```no_run
//! use countersign_claude::{ClaudeClient, Message, Options};
//!
//! # async fn talk() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options::new().allowed_tools(["Read", "Glob", "Grep"]).cwd("/path/to/project");
//! let client = ClaudeClient::connect(options).await?;
//! let mut turn = client.send("What files are here?")?;
//! while let Some(message) = turn.next().await {
//!     match message? {
//!         Message::Assistant(said) => println!("{}", said.text()),
//!         Message::Result(result) => println!("cost: {}", result.cost().unwrap_or_default()),
//!         _ => {}
//!     }
//! }
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Who decides
//!
//! | a tool call | what happens |
//! | --- | --- |
//! | is in [`allowed_tools`](Options::allowed_tools) | it runs; the callback is not asked |
//! | is in neither list, and a callback is set | [`can_use_tool`](Options::can_use_tool) is asked |
//! | is in neither list, and no callback is set | the CLI's own rules decide |
//! | is in [`disallowed_tools`](Options::disallowed_tools) | the model does not have it |
//!
//! The callback gets a [`ToolRequest`] and returns a [`PermissionResult`]. It is async, may take its time,
//! and several run at once. What goes wrong is a denial: a panic, a
//! [deadline](Options::permission_deadline), a session that ends. In `bypassPermissions` the CLI asks
//! nobody, so that mode and a callback exclude each other.
//!
//! A [`HookMatcher`] for `PreToolUse` sees every call, also the allowed ones; ready-made ones
//! [validate](HookMatcher::validation), [log](HookMatcher::logging),
//! [deny](HookMatcher::deny_tools) or [allow only](HookMatcher::allow_only) some tools. For approval
//! by people in a browser there is the [`ApprovalBridge`]: what waits, events for every listener,
//! the first decision counts, and nobody's is a denial.
//!
//! # What to know
//!
//! - A [`TurnStream`] gets the messages its prompt caused and ends with its result. A session also takes
//!   turns nobody asked for, such as when a background task is done:
//!   [`unsolicited`](ClaudeClient::unsolicited) has them.
//! - Who does not read holds up nobody: the CLI's requests are answered all the same. What waits is
//!   [counted](ClaudeClient::backlog).
//! - Nothing the CLI sends is lost: a [`Message`] keeps its line, and what this version does not
//!   know is an `Unknown` or `Other` that holds it.
//! - Dropping a [`ClaudeClient`], a [`Query`] or the future that makes one ends the CLI and all it started,
//!   after a moment to write its transcript. If the program itself is killed, a guard does. This
//!   takes process groups and a shell, so the crate is for Unix.
//! - Without a [`system_prompt`](Options::system_prompt) the model has none, as in the official SDKs;
//!   [`SystemPrompt::claude_code`] is the one of the CLI.
//!
//! # The layers
//!
//! [`client`], [`query`](mod@query) and [`turn`] are what a program talks to. Below them, [`control`] speaks the
//! control protocol in both directions over one line: questions of ours wait for their answers, and
//! questions of the CLI ([`permission`], [`hook`], [`mcp`]) are answered by tasks of their own. The
//! line is a [`transport`]: the CLI's [`process`], or a pipe to a CLI that a test plays. [`options`]
//! become its flags, environment and first request. [`message`] is what it says, [`session`] what it
//! leaves on disk, [`mirror`] a copy of that elsewhere, and [`warm_pool`] starts it ahead of time.
//!
//! # Coming from the Python SDK
//!
//! | Python | here |
//! | --- | --- |
//! | `query(prompt=, options=)` | [`query()`] |
//! | `ClaudeSDKClient(options)`, `connect` | [`ClaudeClient::connect`] |
//! | `client.query(text)`, `receive_response()` | [`ClaudeClient::send`], then the [`TurnStream`] |
//! | `receive_messages()` | the [`TurnStream`]s, and [`ClaudeClient::unsolicited`] for the rest |
//! | `disconnect()`, `async with` | [`ClaudeClient::close`], or drop it |
//! | `interrupt()` | [`SessionControls::interrupt`], which returns its receipt |
//! | `set_permission_mode`, `set_model` | [`SessionControls::set_permission_mode`], [`SessionControls::set_model`] |
//! | `rewind_files` | [`SessionControls::rewind_files`], which returns what changed |
//! | `get_mcp_status`, `reconnect_mcp_server`, `toggle_mcp_server` | [`SessionControls::mcp_status`], [`SessionControls::mcp_reconnect`], [`SessionControls::mcp_toggle`] |
//! | `get_context_usage`, `stop_task` | [`SessionControls::context_usage`], [`SessionControls::stop_task`] |
//! | `get_server_info()` | [`ClaudeClient::initialize_response`] |
//! | `ClaudeAgentOptions(...)` | [`Options`], one method for each |
//! | `can_use_tool`, `ToolPermissionContext` | [`Options::can_use_tool`], [`ToolRequest`] |
//! | `PermissionResultAllow`, `PermissionResultDeny` | [`PermissionResult`] |
//! | `HookMatcher(matcher, hooks, timeout)` | [`HookMatcher`], one for each function |
//! | `create_sdk_mcp_server`, `@tool` | [`McpServer`], [`SdkMcpTool`] |
//! | `AgentDefinition` | [`AgentDefinition`] |
//! | `AssistantMessage`, `TextBlock`, ... | [`Message`] and [`message`] |
//! | `list_sessions`, `get_session_messages`, `rename_session`, ... | [`StoredSessions`] |
//! | `SessionStore` | [`TranscriptStore`], for the copy |
//! | `CLINotFoundError`, `CLIConnectionError` | [`ConnectError`] |
//! | `ProcessError`, `ResultError` | [`SessionEnd`] |
//! | `CLIJSONDecodeError`, `MessageParseError` | [`StreamError`], after which the stream goes on |

pub mod bridge;
pub mod client;
pub mod control;
pub mod error;
pub mod hook;
pub mod mcp;
pub mod message;
pub mod mirror;
pub mod options;
pub mod permission;
pub mod process;
pub mod query;
pub mod session;
pub mod transport;
pub mod turn;
pub mod warm_pool;

pub use bridge::{ApprovalBridge, BridgeEvent, BridgeOutcome, NotPendingError, PendingApproval};
pub use client::{ClaudeClient, PromptPriority, SessionControls, UserPrompt};
pub use control::{ControlRequest, InterruptReceipt, MessageBacklog, RewindFilesResult};
pub use error::{ConnectError, ControlError, SessionEnd, StreamError, TurnError};
pub use hook::{HookDetails, HookEvent, HookFailurePolicy, HookInput, HookMatcher, HookOutput};
pub use mcp::{McpServer, McpServerConfig, SdkMcpTool, SdkMcpToolOutput};
pub use message::{Message, ResultMessage, format_cost};
pub use mirror::{TranscriptBatch, TranscriptStore};
pub use options::{AgentDefinition, Options, OptionsError, SystemPrompt};
pub use permission::{PermissionMode, PermissionResult, PermissionUpdate, ToolRequest};
pub use query::{Query, query};
pub use session::{SessionInfo, StoredSessions};
pub use turn::{MessageStream, TurnStream};
pub use warm_pool::{WarmLimits, WarmPool};
