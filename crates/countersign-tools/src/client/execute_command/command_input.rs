//! The words of a command, and the bounds they have to keep.

use std::num::NonZeroU64;

use countersign_core::InvalidCall;
use schemars::JsonSchema;
use serde::Deserialize;

/// Above this many bytes a command is refused, its words counted together.
const COMMAND_LIMIT: usize = 32 * 1024;

/// How many words a command may have behind its name.
const ARGUMENTS: usize = 1024;

/// In seconds, as the clients count.
const DEFAULT_TIMEOUT: u64 = 60;
const LONGEST_TIMEOUT: u64 = 3600;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExecuteCommandInput {
    /// The program: a name, or a path relative to the folder it runs in.
    pub(super) command: String,
    /// Its words, each as it is: no shell reads them.
    #[serde(default)]
    pub(super) args: Vec<String>,
    /// After how many seconds to end it (default 60, at most 3600).
    #[serde(default)]
    timeout: Option<NonZeroU64>,
    /// The folder to run it in, relative to the project's folder.
    #[serde(default)]
    pub(super) cwd: Option<String>,
}

impl ExecuteCommandInput {
    pub(super) fn check(&self) -> Result<(), InvalidCall> {
        if self.command.trim().is_empty() {
            return Err(InvalidCall("`command` is empty: name a program".to_owned()));
        }
        // What is shown and what runs would differ: a name ends at its last letter.
        if self.command.trim() != self.command || self.command.chars().any(char::is_control) {
            return Err(InvalidCall(
                "`command` holds a control character, or blanks at an end: name the program alone, \
                 its words go to `args`"
                    .to_owned(),
            ));
        }
        if self.args.len() > ARGUMENTS {
            let count = self.args.len();
            return Err(InvalidCall(format!("`args` has {count} words, the limit is {ARGUMENTS}")));
        }
        if let Some(at) = self.args.iter().position(|word| word.contains('\0')) {
            return Err(InvalidCall(format!(
                "`args[{at}]` holds a NUL character: no program gets it"
            )));
        }
        let bytes = self.command.len() + self.args.iter().map(|word| word.len() + 1).sum::<usize>();
        if bytes > COMMAND_LIMIT {
            return Err(InvalidCall(format!(
                "the command has {bytes} bytes, the limit is {COMMAND_LIMIT}: put long texts into a file"
            )));
        }
        if self.time_limit() > LONGEST_TIMEOUT {
            return Err(InvalidCall(format!("`timeout`: at most {LONGEST_TIMEOUT} seconds")));
        }
        Ok(())
    }

    pub(super) fn time_limit(&self) -> u64 {
        self.timeout.map_or(DEFAULT_TIMEOUT, NonZeroU64::get)
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.command).chain(&self.args)
    }

    /// Returns the command line that says exactly these words.
    pub(super) fn line(&self) -> String {
        self.words().map(|word| quote_word(word)).collect::<Vec<_>>().join(" ")
    }
}

/// Writes a word so that no shell finds anything in it.
fn quote_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_gets_out_of_its_quotes() {
        assert_eq!(quote_word("a b"), "'a b'");
        assert_eq!(quote_word("it's; rm -rf $HOME"), r"'it'\''s; rm -rf $HOME'");
        assert_eq!(quote_word(""), "''");
    }
}
