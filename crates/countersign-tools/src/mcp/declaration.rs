//! What a file says of MCP servers: the tables `[mcp.NAME]` of `countersign.toml` and `config.toml`.

use std::collections::BTreeMap;
use std::fmt;

use countersign_core::UrlHost;
use serde::{Deserialize, Serialize};

/// How a server is reached, as somebody wrote it down.
///
/// Values of variables and headers may be private: they are compared, and never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum McpServerDeclaration {
    /// A program that speaks on its standard input and output.
    Program(McpProgramDeclaration),
    /// A place that speaks streamable HTTP.
    Url(McpUrlDeclaration),
}

/// A program, and what it asks for beyond reading.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpProgramDeclaration {
    /// The program: a name to be found in `PATH`, or a path from the workspace's folder.
    pub command: String,
    /// Its words.
    #[serde(default)]
    pub args: Vec<String>,
    /// What it sees beside the environment of all tools.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The hosts it reaches; `*` for all that are public.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Whether it changes files of the workspace.
    #[serde(default, skip_serializing_if = "is_not")]
    pub writes: bool,
    /// Whether it runs in the sandbox.
    #[serde(default = "yes", skip_serializing_if = "is_so")]
    pub sandbox: bool,
}

/// A place, and what it is sent.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpUrlDeclaration {
    /// Where.
    pub url: String,
    /// What is sent with every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// What is said instead of the name of a host to mean every public one.
pub(super) const ANY_HOST: &str = "*";

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_so(it: &bool) -> bool {
    *it
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_not(it: &bool) -> bool {
    !*it
}

impl McpProgramDeclaration {
    /// Returns why it cannot be what somebody meant.
    fn problem(&self) -> Option<String> {
        if !self.sandbox && (self.writes || !self.hosts.is_empty()) {
            let why = "`sandbox = false` lets it do anything: leave out `hosts` and `writes`";
            return Some(why.to_owned());
        }
        let is_host = |name: &String| {
            name == ANY_HOST
                || matches!(UrlHost::from_url(&format!("https://{name}/")), Ok(UrlHost::Named(it)) if it == *name)
        };
        let odd = self.hosts.iter().find(|name| !is_host(name))?;
        Some(format!("`{odd}` in `hosts` is not the name of a public host, in lower case, nor `*`"))
    }
}

impl fmt::Display for McpServerDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |f: &mut fmt::Formatter<'_>, what, names: &BTreeMap<String, String>| {
            if names.is_empty() {
                return Ok(());
            }
            write!(f, " ({what}: {})", names.keys().cloned().collect::<Vec<_>>().join(", "))
        };
        match self {
            Self::Program(program) => {
                write!(f, "{}", program.command)?;
                for word in &program.args {
                    write!(f, " {word}")?;
                }
                named(f, "sets", &program.env)?;
                if !program.hosts.is_empty() {
                    write!(f, " (reaches: {})", program.hosts.join(", "))?;
                }
                if program.writes {
                    f.write_str(" (changes the workspace)")?;
                }
                f.write_str(if program.sandbox { "" } else { " (OUTSIDE THE SANDBOX)" })
            }
            Self::Url(place) => {
                write!(f, "{}", place.url)?;
                named(f, "sends", &place.headers)
            }
        }
    }
}

impl fmt::Debug for McpServerDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Declared({self})")
    }
}

/// Why a file declares no servers that could be understood.
#[derive(Debug, thiserror::Error)]
pub enum McpDeclarationError {
    /// It is not TOML.
    #[error("it is not valid TOML: {0}")]
    Toml(String),
    /// A table is not what it should be.
    #[error("`[mcp.{name}]`: {why}")]
    Server {
        /// The server.
        name: String,
        /// What is wrong.
        why: String,
    },
}

#[derive(Deserialize)]
struct McpServersFile {
    #[serde(default)]
    mcp: BTreeMap<String, toml::Value>,
}

/// Reads the servers that a file declares, by name. Everything else in it is for others to read.
pub fn parse_declarations(
    text: &str,
) -> Result<BTreeMap<String, McpServerDeclaration>, McpDeclarationError> {
    let file: McpServersFile = toml::from_str(text)
        .map_err(|error| McpDeclarationError::Toml(error.to_string().trim().into()))?;
    let read = |(name, table): (String, toml::Value)| {
        let bad =
            |why: &str| McpDeclarationError::Server { name: name.clone(), why: why.to_owned() };
        if !is_name(&name) {
            return Err(bad("a name has letters, digits, `-` and single `_`, none at its ends"));
        }
        let declared = McpServerDeclaration::deserialize(table).map_err(|_| bad(EXPECTED))?;
        match &declared {
            McpServerDeclaration::Program(program) => match program.problem() {
                Some(why) => Err(bad(&why)),
                None => Ok((name, declared)),
            },
            McpServerDeclaration::Url(place) if !is_web(&place.url) => {
                Err(bad("`url` does not start with `https://` or `http://`"))
            }
            McpServerDeclaration::Url(_) => Ok((name, declared)),
        }
    };
    file.mcp.into_iter().map(read).collect()
}

const EXPECTED: &str = "expected `command` with `args`, `env`, `hosts`, `writes` and `sandbox`, or `url` \
with `headers`";

fn is_web(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// Names become part of the names of tools, whose parts `__` separates.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty()
        && name.len() <= 32
        && name.chars().all(plain)
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_declares_programs_and_places_beside_its_rules() {
        let found = parse_declarations(
            "[permissions]\nallow = ['Read']\n[mcp.time]\ncommand = 'uvx'\nargs = ['a', 'b']\n\
             [mcp.docs]\nurl = 'https://example.org/mcp'\nheaders = { Authorization = 'Bearer x' }",
        );
        let found = found.unwrap();
        assert_eq!(found["time"].to_string(), "uvx a b");
        assert_eq!(found["docs"].to_string(), "https://example.org/mcp (sends: Authorization)");
        assert!(parse_declarations("").unwrap().is_empty());
    }

    #[test]
    fn what_a_program_asks_for_is_part_of_what_is_shown() {
        let shown = |more: &str| {
            parse_declarations(&format!("[mcp.a]\ncommand = 'x'\n{more}")).unwrap()["a"].to_string()
        };
        assert_eq!(shown(""), "x");
        assert_eq!(shown("hosts = ['a.example', '*']"), "x (reaches: a.example, *)");
        assert_eq!(shown("writes = true"), "x (changes the workspace)");
        assert_eq!(shown("sandbox = false"), "x (OUTSIDE THE SANDBOX)");
        // What was consented to before any of this could be asked for is still what it was.
        let old: McpServerDeclaration =
            serde_json::from_str(r#"{"command":"x","args":[],"env":{}}"#).unwrap();
        assert_eq!(old, parse_declarations("[mcp.a]\ncommand = 'x'").unwrap()["a"]);
        assert_eq!(serde_json::to_string(&old).unwrap(), r#"{"command":"x","args":[],"env":{}}"#);
    }

    #[test]
    fn what_cannot_be_understood_is_told_and_declares_nothing() {
        check("[mcp.a__b]\ncommand = 'x'", "`[mcp.a__b]`: a name has letters");
        check("[mcp.a]\ncommand = 'x'\nurl = 'https://y'", "`[mcp.a]`: expected `command`");
        check("[mcp.a]\ncommand = 'x'\nnetwork = true", "`[mcp.a]`: expected `command`");
        check("[mcp.a]\nurl = 'https://x'\nsandbox = false", "`[mcp.a]`: expected `command`");
        for host in
            ["localhost", "127.0.0.1", "10.0.0.1", "a.example/b", "Example.org", "a:1", "u@a", ""]
        {
            let text = format!("[mcp.a]\ncommand = 'x'\nhosts = ['{host}']");
            check(&text, &format!("`[mcp.a]`: `{host}` in `hosts` is not the name"));
        }
        let both = "[mcp.a]\ncommand = 'x'\nhosts = ['*']\nsandbox = false";
        check(both, "`[mcp.a]`: `sandbox = false` lets it do anything");
        check("[mcp.a]\nurl = 'file:///etc/passwd'", "`[mcp.a]`: `url` does not start");
        check("[mcp.a", "it is not valid TOML");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let said = parse_declarations(text).unwrap_err().to_string();
        assert!(said.starts_with(expected), "{said}");
    }
}
