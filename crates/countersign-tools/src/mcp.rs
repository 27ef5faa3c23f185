//! MCP servers as tools: declared in a file, consented to by a person, called through the gate.
//!
//! What a file of the workspace [`declare`]s starts nothing. A person looks at a server once, and what
//! they saw is a [`McpServerPin`], kept in our own data: how it is started, which files that runs, what its tools
//! say of themselves. [`McpServers`] offers the tools of pinned servers in the words that were seen, and
//! calls one only while server and tool are still what was pinned.

mod cache;
mod confinement;
mod connection;
mod declaration;
mod pin;
mod planner;
mod servers;
mod tool;

pub use confinement::McpConfinement;
pub use connection::McpError;
pub use declaration::{
    McpDeclarationError, McpProgramDeclaration, McpServerDeclaration, McpUrlDeclaration,
    parse_declarations,
};
pub use pin::{McpPinFile, McpServerPin, McpToolPin};
pub use planner::McpTool;
pub use servers::{McpServers, TrustStatus};
