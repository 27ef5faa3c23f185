//! Options on what the model can reach: tools, skills, plugins, MCP servers.

use std::path::PathBuf;

use super::Options;
use crate::mcp::{McpServer, McpServerConfig};

/// Which built-in tools exist in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolSet {
    /// All the CLI offers by default.
    Default,
    /// Only these; none if empty.
    Only(Vec<String>),
}

/// Which skills a session may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillSelection {
    /// Every skill that is found.
    All,
    /// Only these.
    Only(Vec<String>),
}

/// A plugin on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdkPluginConfig {
    /// Its folder.
    pub path: PathBuf,
    /// Whether its MCP servers stay off.
    pub without_mcp: bool,
}

impl<P: Into<PathBuf>> From<P> for SdkPluginConfig {
    fn from(path: P) -> Self {
        Self { path: path.into(), without_mcp: false }
    }
}

impl Options {
    /// Lets only these built-in tools exist; an empty list leaves none.
    ///
    /// This is not a permission: a tool that exists may still need one.
    pub fn tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools = Some(ToolSet::Only(tools.into_iter().map(Into::into).collect()));
        self
    }

    /// Lets all built-in tools exist that the CLI offers by default.
    pub fn default_tools(mut self) -> Self {
        self.tools = Some(ToolSet::Default);
        self
    }

    /// Allows these tools, or uses of them (`Bash(ls:*)`), without asking.
    ///
    /// A tool allowed as a whole never reaches [`can_use_tool`](Self::can_use_tool); that is warned
    /// about. To see every call, use a `PreToolUse` hook.
    pub fn allowed_tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.allowed_tools.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Forbids these tools, or uses of them; a bare name takes the tool away from the model.
    pub fn disallowed_tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.disallowed_tools.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Chooses the skills. They are found only where [`setting_sources`](Self::setting_sources)
    /// lets the CLI look.
    pub fn skills(mut self, skills: SkillSelection) -> Self {
        self.skills = Some(skills);
        self
    }

    /// Loads a plugin from a folder.
    pub fn plugin(mut self, plugin: impl Into<SdkPluginConfig>) -> Self {
        self.plugins.push(plugin.into());
        self
    }

    /// Adds an MCP server that runs elsewhere.
    pub fn mcp_server(mut self, name: impl Into<String>, server: McpServerConfig) -> Self {
        self.mcp_servers.insert(name.into(), server);
        self
    }

    /// Adds an MCP server that runs in this process.
    pub fn sdk_mcp_server(mut self, server: McpServer) -> Self {
        self.sdk_servers.insert(server.name().to_owned(), server);
        self
    }

    /// Reads MCP servers from a file. Not together with [`mcp_server`](Self::mcp_server).
    pub fn mcp_config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.mcp_config_file = Some(path.into());
        self
    }

    /// Ignores every MCP server that is not named here.
    pub fn strict_mcp_config(mut self) -> Self {
        self.strict_mcp_config = true;
        self
    }

    /// Sends calls of one tool to another.
    pub fn tool_alias(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.tool_aliases.insert(from.into(), to.into());
        self
    }
}
