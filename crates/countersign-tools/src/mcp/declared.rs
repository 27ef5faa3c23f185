//! What a file says of MCP servers: the tables `[mcp.NAME]` of `countersign.toml` and `config.toml`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How a server is reached, as somebody wrote it down.
///
/// Values of variables and headers may be private: they are compared, and never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Declared {
    /// A program that speaks on its standard input and output.
    Program {
        /// The program: a name to be found in `PATH`, or a path from the workspace's folder.
        command: String,
        /// Its words.
        #[serde(default)]
        args: Vec<String>,
        /// What it sees beside the environment of all tools.
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    /// A place that speaks streamable HTTP.
    Url {
        /// Where.
        url: String,
        /// What is sent with every request.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |f: &mut fmt::Formatter<'_>, what, names: &BTreeMap<String, String>| {
            if names.is_empty() {
                return Ok(());
            }
            write!(f, " ({what}: {})", names.keys().cloned().collect::<Vec<_>>().join(", "))
        };
        match self {
            Self::Program { command, args, env } => {
                write!(f, "{command}")?;
                for word in args {
                    write!(f, " {word}")?;
                }
                named(f, "sets", env)
            }
            Self::Url { url, headers } => {
                write!(f, "{url}")?;
                named(f, "sends", headers)
            }
        }
    }
}

impl fmt::Debug for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Declared({self})")
    }
}

/// Why a file declares no servers that could be understood.
#[derive(Debug, thiserror::Error)]
pub enum NotDeclared {
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
struct File {
    #[serde(default)]
    mcp: BTreeMap<String, toml::Value>,
}

/// Reads the servers that a file declares, by name. Everything else in it is for others to read.
pub fn declare(text: &str) -> Result<BTreeMap<String, Declared>, NotDeclared> {
    let file: File =
        toml::from_str(text).map_err(|error| NotDeclared::Toml(error.to_string().trim().into()))?;
    let read = |(name, table): (String, toml::Value)| {
        let bad = |why: &str| NotDeclared::Server { name: name.clone(), why: why.to_owned() };
        if !is_name(&name) {
            return Err(bad("a name has letters, digits, `-` and single `_`, none at its ends"));
        }
        let declared = Declared::deserialize(table).map_err(|_| {
            bad("expected `command` with `args` and `env`, or `url` with `headers`")
        })?;
        if let Declared::Url { url, .. } = &declared
            && !url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
        {
            return Err(bad("`url` does not start with `https://` or `http://`"));
        }
        Ok((name, declared))
    };
    file.mcp.into_iter().map(read).collect()
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
        let found = declare(
            "[permissions]\nallow = ['Read']\n[mcp.time]\ncommand = 'uvx'\nargs = ['a', 'b']\n\
             [mcp.docs]\nurl = 'https://example.org/mcp'\nheaders = { Authorization = 'Bearer x' }",
        );
        let found = found.unwrap();
        assert_eq!(found["time"].to_string(), "uvx a b");
        assert_eq!(found["docs"].to_string(), "https://example.org/mcp (sends: Authorization)");
        assert!(declare("").unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_understood_is_told_and_declares_nothing() {
        check("[mcp.a__b]\ncommand = 'x'", "`[mcp.a__b]`: a name has letters");
        check("[mcp.a]\ncommand = 'x'\nurl = 'https://y'", "`[mcp.a]`: expected `command`");
        check("[mcp.a]\ncommand = 'x'\nsandbox = false", "`[mcp.a]`: expected `command`");
        check("[mcp.a]\nurl = 'file:///etc/passwd'", "`[mcp.a]`: `url` does not start");
        check("[mcp.a", "it is not valid TOML");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let said = declare(text).unwrap_err().to_string();
        assert!(said.starts_with(expected), "{said}");
    }
}
