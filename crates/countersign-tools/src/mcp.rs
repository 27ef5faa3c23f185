//! MCP servers as tools: declared in a file, consented to by a person, called through the gate.
//!
//! What a file of the workspace [`declare`]s starts nothing. A person looks at a server once, and what
//! they saw is a [`McpServerPin`], kept in our own data: how it is started, which files that runs, what its tools
//! say of themselves. [`McpServers`] offers the tools of pinned servers in the words that were seen, and
//! calls one only while server and tool are still what was pinned. Without the feature `mcp` there is only
//! [`McpTool`], which judges the calls that others make.

#[cfg(feature = "mcp")]
mod cache;
#[cfg(feature = "mcp")]
mod confinement;
#[cfg(feature = "mcp")]
mod connection;
#[cfg(feature = "mcp")]
mod declaration;
#[cfg(feature = "mcp")]
mod pin;
mod planner;
#[cfg(feature = "mcp")]
mod servers;
#[cfg(feature = "mcp")]
mod tool;

#[cfg(feature = "mcp")]
pub use confinement::McpConfinement;
#[cfg(feature = "mcp")]
pub use connection::McpError;
#[cfg(feature = "mcp")]
pub use declaration::{
    McpDeclarationError, McpProgramDeclaration, McpServerDeclaration, McpUrlDeclaration,
    parse_declarations,
};
#[cfg(feature = "mcp")]
pub use pin::{McpPinFile, McpServerPin, McpToolPin};
pub use planner::McpTool;
#[cfg(feature = "mcp")]
pub use servers::{McpServers, TrustStatus};
