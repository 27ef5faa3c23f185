//! Options as the CLI's environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

use super::Options;

/// The variables a session's process is started with.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct EnvironmentVariables(BTreeMap<OsString, OsString>);

impl EnvironmentVariables {
    /// Returns the value of a variable.
    pub fn get(&self, name: &str) -> Option<&std::ffi::OsStr> {
        self.0.get(std::ffi::OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Returns all of them.
    pub fn iter(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter()
    }

    fn has_any_case(&self, name: &str) -> bool {
        self.0.keys().any(|known| known.eq_ignore_ascii_case(name))
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for EnvironmentVariables {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Names only: values may be private.
impl fmt::Debug for EnvironmentVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// What is not handed on: it speaks of the session this program itself runs in, if any, or would
/// change how the CLI's own runtime starts.
const NOT_INHERITED: [&str; 5] =
    ["CLAUDECODE", "NODE_OPTIONS", "DEBUG", "TRACEPARENT", "TRACESTATE"];

impl Options {
    /// Returns the environment, given the one of this program.
    pub(crate) fn variables(&self, inherited: EnvironmentVariables) -> EnvironmentVariables {
        let mut variables =
            if self.clean_env { EnvironmentVariables::default() } else { inherited };
        for name in NOT_INHERITED {
            variables.0.remove(std::ffi::OsStr::new(name));
        }
        variables.0.insert("CLAUDE_CODE_ENTRYPOINT".into(), "sdk-rs".into());
        variables.0.extend(self.env.iter().map(|(name, value)| (name.into(), value.into())));
        variables.0.insert("CLAUDE_AGENT_SDK_VERSION".into(), env!("CARGO_PKG_VERSION").into());
        for read in ["CLAUDE_CODE_SDK_READS_SESSION_STATE", "CLAUDE_CODE_SDK_READS_STARTUP_MARKS"] {
            if !variables.has_any_case(read) {
                variables.0.insert(read.into(), "1".into());
            }
        }
        let on = |wanted: bool| wanted.then(|| OsString::from("true"));
        let own = [
            ("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", on(self.file_checkpointing)),
            ("CLAUDE_AGENT_SDK_CLIENT_APP", self.client_app.as_ref().map(OsString::from)),
            (
                "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT",
                self.question_preview.as_ref().map(OsString::from),
            ),
            ("PWD", self.cwd.as_ref().map(OsString::from)),
        ];
        for (name, value) in own {
            variables.0.extend(value.map(|value| (name.into(), value)));
        }
        variables
    }
}
