//! `execute_command`: a program with its words, run on the client without a shell.
//!
//! The words are judged as a command line that says exactly them, so that the same floors and rules
//! hold as for a shell. Nothing is known of the machine, hence nothing is proven harmless.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use countersign_core::shell::{self, Analysis, Finding, Machine};
use countersign_core::{CommandPreview, Effect, Invalid, Plan, Planner, Preview, Target, ToolCall};
use serde::Deserialize;

use super::ClientRoot;
use crate::input;
use crate::shown::shown;

/// Above this many bytes a command is refused, its words counted together.
const COMMAND_LIMIT: usize = 32 * 1024;

/// How many words a command may have behind its name.
const ARGUMENTS: usize = 1024;

/// In seconds, as the clients count.
const DEFAULT_TIMEOUT: u64 = 60;
const LONGEST_TIMEOUT: u64 = 3600;

/// The client's tool that runs a program.
#[derive(Clone, Debug)]
pub struct ExecuteCommand {
    root: ClientRoot,
    call_env: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    timeout: Option<NonZeroU64>,
    #[serde(default)]
    cwd: Option<String>,
}

impl ExecuteCommand {
    /// Returns the tool for a project's folder.
    pub fn new(root: ClientRoot) -> Self {
        Self { root, call_env: Vec::new() }
    }

    /// Sets variables that the call brings along.
    #[must_use]
    pub fn with_call_env(self, call_env: Vec<(String, String)>) -> Self {
        Self { call_env, ..self }
    }

    fn read(&self, call: &ToolCall) -> Result<(Input, PathBuf), Invalid> {
        let input: Input = input::parse(call)?;
        input.check()?;
        let cwd = match &input.cwd {
            Some(cwd) => self.root.find(cwd)?.path,
            None => self.root.path().to_owned(),
        };
        Ok((input, cwd))
    }

    fn understood(&self, line: &str, cwd: &Path) -> Analysis {
        let machine = Elsewhere { root: &self.root };
        let env = &self.call_env;
        let context = shell::Context { cwd, home: None, env, own: &[], machine: &machine };
        let mut analysis = shell::analyse(line, &context);
        // Without a shell even `echo` is a program, and which one it is only the client knows.
        for part in &mut analysis.parts {
            if !matches!(part.finding, Finding::Unproven { .. }) {
                let name = part.argv.first().map_or("it", |word| word.shown());
                let why = format!("which program `{name}` is on the client is not known");
                part.finding = Finding::Unproven { why };
            }
        }
        analysis
    }
}

impl Input {
    fn check(&self) -> Result<(), Invalid> {
        if self.command.trim().is_empty() {
            return Err(Invalid("`command` is empty: name a program".to_owned()));
        }
        // What is shown and what runs would differ: a name ends at its last letter.
        if self.command.trim() != self.command || self.command.chars().any(char::is_control) {
            return Err(Invalid(
                "`command` holds a control character, or blanks at an end: name the program alone, \
                 its words go to `args`"
                    .to_owned(),
            ));
        }
        if self.args.len() > ARGUMENTS {
            let count = self.args.len();
            return Err(Invalid(format!("`args` has {count} words, the limit is {ARGUMENTS}")));
        }
        if let Some(at) = self.args.iter().position(|word| word.contains('\0')) {
            return Err(Invalid(format!("`args[{at}]` holds a NUL character: no program gets it")));
        }
        let bytes = self.command.len() + self.args.iter().map(|word| word.len() + 1).sum::<usize>();
        if bytes > COMMAND_LIMIT {
            return Err(Invalid(format!(
                "the command has {bytes} bytes, the limit is {COMMAND_LIMIT}: put long texts into a file"
            )));
        }
        if self.time_limit() > LONGEST_TIMEOUT {
            return Err(Invalid(format!("`timeout`: at most {LONGEST_TIMEOUT} seconds")));
        }
        Ok(())
    }

    fn time_limit(&self) -> u64 {
        self.timeout.map_or(DEFAULT_TIMEOUT, NonZeroU64::get)
    }

    fn words(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.command).chain(&self.args)
    }

    /// Returns the command line that says exactly these words.
    fn line(&self) -> String {
        self.words().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// Writes a word so that no shell finds anything in it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Another machine: paths by their components, and nothing else.
struct Elsewhere<'a> {
    root: &'a ClientRoot,
}

impl Machine for Elsewhere<'_> {
    fn target(&self, cwd: &Path, path: &str) -> Option<Target> {
        Some(self.root.locate(cwd, path))
    }

    fn trusted_program(&self, _name: &str) -> Option<PathBuf> {
        None
    }

    fn git_hazards(&self, _cwd: &Path) -> Option<Vec<String>> {
        None
    }
}

impl Planner for ExecuteCommand {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let (input, cwd) = self.read(call)?;
        let understood = self.understood(&input.line(), &cwd);
        let argv: Vec<String> = input.words().cloned().collect();
        let summary = format!("Run `{}` on the client", shown(&argv.join(" ")));
        let mut effects = vec![Effect::Exec { argv, program: None }];
        effects.extend(understood.effects);
        effects.extend(
            understood.floors.into_iter().map(|floor| Effect::Forbidden { why: floor.reason }),
        );
        Ok(Plan { effects, summary, commands: understood.parts })
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        let (input, cwd) = self.read(call)?;
        let command = input.line();
        Ok(Preview::Command(CommandPreview {
            parts: Vec::new(),
            warnings: self.understood(&command, &cwd).warnings,
            cwd: cwd.display().to_string(),
            description: None,
            timeout_ms: input.time_limit() * 1000,
            command,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_gets_out_of_its_quotes() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's; rm -rf $HOME"), r"'it'\''s; rm -rf $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
