//! What a rule looks for, read from Claude Code's syntax: `Tool`, `Tool(specifier)`.

use super::{ArgvPattern, CommandPattern, DomainPattern, PathPattern};

/// A rule that cannot be understood: what is wrong, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadRule(String);

impl BadRule {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// What a rule about files is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// Looking at them.
    Read,
    /// Making, changing, moving or removing them, by whatever tool.
    Edit,
}

/// What a rule looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RulePattern {
    /// A tool as a whole: its name, in which `*` stands for anything.
    Tool(String),
    /// A command, in whichever tool runs it.
    Command(CommandPattern),
    /// A command by its words.
    Argv(ArgvPattern),
    /// Files.
    Path(FileAccess, PathPattern),
    /// A host that is talked to.
    Domain(DomainPattern),
    /// Another agent, by its kind.
    Agent(String),
    /// Reading from a service with the person's credentials, by the program that does it.
    RemoteRead(String),
    /// A field of the input that has a value.
    Field {
        /// The tool.
        tool: String,
        /// The field.
        name: String,
        /// The value, as text; `*` stands for anything.
        value: String,
    },
}

/// Tools that run commands.
pub(crate) const COMMAND_TOOLS: &[&str] = &["Bash", "execute_command", "Diagnostics"];
/// Tools that look at files.
const READERS: &[&str] = &["Read", "Glob", "Grep", "ListDir", "LS", "read_file", "list_directory"];
/// Tools that change files: a rule about one is a rule about all.
pub(crate) const WRITERS: &[&str] =
    &["Edit", "Write", "MultiEdit", "NotebookEdit", "ApplyPatch", "write_file"];
/// Tools that start agents.
const SPAWNERS: &[&str] = &["Task", "Agent"];
/// What rules call a reading from a service; no tool has this name.
const REMOTE_READ: &str = "RemoteRead";
/// Tools that talk to a host.
const FETCHERS: &[&str] = &["WebFetch"];

impl RulePattern {
    pub(crate) fn parse(text: &str) -> Result<Self, BadRule> {
        let text = text.trim();
        let Some((tool, rest)) = text.split_once('(') else { return tool_name(text) };
        let Some(specifier) = rest.strip_suffix(')') else {
            return Err(BadRule::new(format!("`{text}` has a `(` without a `)` at its end")));
        };
        let tool = tool.trim();
        let Self::Tool(tool) = tool_name(tool)? else { return tool_name(tool) };
        let specifier = specifier.trim();
        if specifier.is_empty() || specifier == "*" {
            return Ok(Self::Tool(tool));
        }
        Self::with_specifier(&tool, specifier)
    }

    fn with_specifier(tool: &str, specifier: &str) -> Result<Self, BadRule> {
        let is = |tools: &[&str]| tools.contains(&tool);
        if is(COMMAND_TOOLS) {
            return Ok(Self::Command(CommandPattern::parse(specifier)));
        }
        if is(READERS) {
            return Ok(Self::Path(FileAccess::Read, PathPattern::parse(specifier)?));
        }
        if is(WRITERS) {
            return Ok(Self::Path(FileAccess::Edit, PathPattern::parse(specifier)?));
        }
        if is(FETCHERS) {
            let Some(domain) = specifier.strip_prefix("domain:") else {
                return Err(BadRule::new(format!(
                    "`{tool}({specifier})` names no host: write `{tool}(domain:docs.rs)`"
                )));
            };
            return Ok(Self::Domain(DomainPattern::parse(domain)?));
        }
        if tool == REMOTE_READ {
            let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
            return if specifier.chars().all(plain) {
                Ok(Self::RemoteRead(specifier.to_owned()))
            } else {
                Err(BadRule::new(format!("`{specifier}` is no program: write `RemoteRead(gh)`")))
            };
        }
        if is(SPAWNERS) && !specifier.contains(':') {
            return Ok(Self::Agent(specifier.to_owned()));
        }
        match specifier.split_once(':') {
            Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                let (tool, name) = (tool.to_owned(), name.trim().to_owned());
                Ok(Self::Field { tool, name, value: value.trim().to_owned() })
            }
            _ => Err(BadRule::new(format!(
                "`{tool}({specifier})` is not understood: write `{tool}` or `{tool}(field:value)`"
            ))),
        }
    }

    /// Says why the pattern is too wide to allow anything, if it is.
    pub(crate) fn may_allow(&self) -> Result<(), BadRule> {
        let why = match self {
            Self::Tool(name) if is_unanchored(name) => {
                format!("`{name}` does not say which tool (or server): a rule that allows must")
            }
            Self::Field { tool, .. } => {
                format!("a rule about a field of `{tool}` can deny or ask, not allow")
            }
            Self::Domain(domain) if domain.is_any() => {
                "a rule that allows every host allows too much: name hosts".to_owned()
            }
            Self::Command(command) if command.head().trim().is_empty() => {
                "a rule that allows must start with the program it allows".to_owned()
            }
            _ => return Ok(()),
        };
        Err(BadRule::new(why))
    }

    /// Returns the tool a rule speaks of, for a restricting rule that could not be read.
    pub(crate) fn extract_tool_name(text: &str) -> String {
        let name = text.split('(').next().unwrap_or_default().trim();
        if tool_name(name).is_ok() { name.to_owned() } else { "*".to_owned() }
    }
}

fn tool_name(name: &str) -> Result<RulePattern, BadRule> {
    let plain = |c: char| c.is_alphanumeric() || "_-*.".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(RulePattern::Tool(name.to_owned()));
    }
    Err(BadRule::new(format!("`{name}` is not the name of a tool")))
}

/// A server's name must stand to the letter before anything is left open.
fn is_unanchored(name: &str) -> bool {
    let Some(star) = name.find('*') else { return false };
    let fixed = name.get(..star).unwrap_or_default();
    let server = fixed.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    server.is_none_or(|(server, _)| server.is_empty())
}

/// Returns whether a tool is meant by a pattern of names; `mcp__server` means all tools of it.
pub(crate) fn names_tool(pattern: &str, tool: &str) -> bool {
    let all_of_server = || {
        let is_server = pattern.starts_with("mcp__") && pattern.matches("__").count() == 1;
        is_server && tool.strip_prefix(pattern).is_some_and(|rest| rest.starts_with("__"))
    };
    // Claude Code has renamed it and reads both.
    let both_spawn = || SPAWNERS.contains(&pattern) && SPAWNERS.contains(&tool);
    matches_wildcard(pattern, tool) || all_of_server() || both_spawn()
}

/// Returns whether a text matches a pattern in which `*` stands for anything.
pub(crate) fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut pieces: Vec<_> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = rest.get(at + piece.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}
