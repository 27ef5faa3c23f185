//! What a shell holds while a script runs, and how the script's parts follow each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use countersign_core::normalize_lexically;
use countersign_core::shell::{CanonicalCommand, CanonicalScript};

use super::streams::CommandStreams;
use super::{builtin, program};

/// The exit code of who wrote into a pipe that nobody reads.
pub(super) const BROKEN_PIPE: i32 = 141;

/// Whether a script goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptFlow {
    Next,
    /// The shell ends here.
    Exit,
}

/// A shell without a language of its own.
#[derive(Clone)]
pub(super) struct CanonicalShell {
    /// Where it is, as it was gone to: links are not resolved.
    pub(super) cwd: PathBuf,
    pub(super) variables: BTreeMap<String, String>,
    /// The variables that programs see.
    pub(super) exported: BTreeSet<String>,
    /// The exit code of the last command.
    pub(super) status: i32,
    pub(super) options: ShellOptions,
    /// Whether a failure is what is asked about here, and ends nothing.
    asking: bool,
}

/// What `set` has switched on.
#[derive(Clone, Copy, Default)]
pub(super) struct ShellOptions {
    /// `-e`: a failure ends the shell.
    pub(super) ends_on_failure: bool,
    /// `-u`: a variable that is not set is a failure.
    pub(super) needs_variables: bool,
    /// `-o pipefail`: a pipeline fails if any of its commands does.
    pub(super) fails_as_a_whole: bool,
}

impl CanonicalShell {
    pub(super) fn new(
        cwd: PathBuf,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let variables: BTreeMap<_, _> = environment.into_iter().collect();
        let exported = variables.keys().cloned().collect();
        let mut shell = Self {
            cwd,
            variables,
            exported,
            status: 0,
            options: ShellOptions::default(),
            asking: false,
        };
        shell.set("PWD", shell.cwd.to_string_lossy().into_owned());
        shell.exported.insert("PWD".to_owned());
        shell
    }

    pub(super) fn set(&mut self, name: &str, value: String) {
        self.variables.insert(name.to_owned(), value);
    }

    /// Returns a path from where the shell is.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.cwd.join(path)
    }

    /// Moves to another folder.
    pub(super) fn enter(&mut self, folder: &Path) {
        let old = std::mem::replace(&mut self.cwd, normalize_lexically(folder));
        self.set("OLDPWD", old.to_string_lossy().into_owned());
        self.set("PWD", self.cwd.to_string_lossy().into_owned());
        self.exported.insert("OLDPWD".to_owned());
    }

    /// Runs a script. Its exit code is the shell's status afterwards.
    pub(super) fn run(&mut self, script: &CanonicalScript, streams: &CommandStreams) -> ScriptFlow {
        match script {
            CanonicalScript::Command(command) => {
                let flow = self.command(command, streams);
                self.or_end(flow)
            }
            CanonicalScript::Pipeline(stages) => {
                self.pipeline(stages, streams);
                self.or_end(ScriptFlow::Next)
            }
            CanonicalScript::Sequence(scripts) => {
                if scripts.is_empty() {
                    self.status = 0;
                }
                for script in scripts {
                    if self.run(script, streams) == ScriptFlow::Exit {
                        return ScriptFlow::Exit;
                    }
                }
                ScriptFlow::Next
            }
            CanonicalScript::And(first, second) => self.run_and_or(first, second, true, streams),
            CanonicalScript::Or(first, second) => self.run_and_or(first, second, false, streams),
            CanonicalScript::Not(inner) => {
                let flow = self.run_condition(inner, streams);
                self.status = i32::from(self.status == 0);
                flow
            }
            CanonicalScript::Timed(inner) => self.run_timed(inner, streams),
            CanonicalScript::Subshell(inner) => {
                self.apart(inner, streams);
                self.or_end(ScriptFlow::Next)
            }
            CanonicalScript::Redirected(inner, redirections) => {
                match streams.redirect(redirections, self) {
                    Ok(streams) => self.run(inner, &streams),
                    Err(why) => {
                        streams.complain(&why);
                        self.status = 1;
                        self.or_end(ScriptFlow::Next)
                    }
                }
            }
            CanonicalScript::If { condition, then, otherwise } => {
                if self.run_condition(condition, streams) == ScriptFlow::Exit {
                    return ScriptFlow::Exit;
                }
                let chosen = if self.status == 0 { then } else { otherwise };
                self.run(chosen, streams)
            }
            CanonicalScript::While { condition, until, body } => {
                self.run_loop(condition, *until, body, streams)
            }
        }
    }

    fn command(&mut self, command: &CanonicalCommand, streams: &CommandStreams) -> ScriptFlow {
        match self.prepare_command(command, streams) {
            Ok((words, streams)) => match words.split_first() {
                Some((name, arguments)) => {
                    let splits = !command.assignments.iter().any(|it| it.name == "IFS");
                    match builtin::run(self, name, arguments, splits, &streams) {
                        Some(flow) => flow,
                        None => program::run(self, command, &words, &streams),
                    }
                }
                None => ScriptFlow::Next,
            },
            Err(why) => {
                streams.complain(&why);
                self.status = 1;
                if self.options.needs_variables && why.ends_with("unbound variable") {
                    return ScriptFlow::Exit;
                }
                ScriptFlow::Next
            }
        }
    }

    /// Expands the words of a command and sets up its streams; sets variables where that is all it does.
    fn prepare_command(
        &mut self,
        command: &CanonicalCommand,
        streams: &CommandStreams,
    ) -> Result<(Vec<String>, CommandStreams), String> {
        let streams = streams.redirect(&command.redirections, self)?;
        let before = self.status;
        let words: Result<Vec<_>, _> =
            command.words.iter().map(|word| self.expand(word, &streams)).collect();
        let words = words?;
        if words.is_empty() {
            self.status = 0;
            for assignment in &command.assignments {
                let value = self.expand(&assignment.value, &streams)?;
                self.set(&assignment.name, value);
            }
        } else {
            self.status = before;
        }
        Ok((words, streams))
    }

    fn run_and_or(
        &mut self,
        first: &CanonicalScript,
        second: &CanonicalScript,
        on_success: bool,
        streams: &CommandStreams,
    ) -> ScriptFlow {
        if self.run_condition(first, streams) == ScriptFlow::Exit {
            return ScriptFlow::Exit;
        }
        if (self.status == 0) == on_success { self.run(second, streams) } else { ScriptFlow::Next }
    }

    /// Runs what is only asked whether it succeeds.
    fn run_condition(&mut self, script: &CanonicalScript, streams: &CommandStreams) -> ScriptFlow {
        let before = std::mem::replace(&mut self.asking, true);
        let flow = self.run(script, streams);
        self.asking = before;
        flow
    }

    /// Ends the shell after a failure, if that was asked for.
    fn or_end(&self, flow: ScriptFlow) -> ScriptFlow {
        let ends = self.options.ends_on_failure && !self.asking && self.status != 0;
        if ends { ScriptFlow::Exit } else { flow }
    }

    fn run_loop(
        &mut self,
        condition: &CanonicalScript,
        until: bool,
        body: &CanonicalScript,
        streams: &CommandStreams,
    ) -> ScriptFlow {
        let mut status = 0;
        loop {
            if self.run_condition(condition, streams) == ScriptFlow::Exit {
                return ScriptFlow::Exit;
            }
            if (self.status == 0) == until {
                self.status = status;
                return ScriptFlow::Next;
            }
            if self.run(body, streams) == ScriptFlow::Exit {
                return ScriptFlow::Exit;
            }
            status = self.status;
        }
    }

    /// Runs a script in a shell of its own.
    pub(super) fn apart(&mut self, script: &CanonicalScript, streams: &CommandStreams) {
        let mut inner = self.clone();
        inner.run(script, streams);
        self.status = inner.status;
    }

    /// Runs the stages of a pipeline at once, each in a shell of its own.
    fn pipeline(&mut self, stages: &[CanonicalScript], streams: &CommandStreams) {
        let mut statuses = Vec::new();
        std::thread::scope(|scope| {
            let mut running = Vec::new();
            let mut next = streams.clone();
            for (number, stage) in stages.iter().enumerate() {
                let mut here = next.clone();
                if number + 1 < stages.len() {
                    let Ok((reader, writer)) = std::io::pipe() else {
                        streams.complain("cannot make a pipe");
                        statuses.push(1);
                        return;
                    };
                    here = here.writing(writer);
                    next = streams.clone().reading(reader);
                } else {
                    next = streams.clone();
                }
                let mut shell = self.clone();
                running.push(scope.spawn(move || {
                    shell.run(stage, &here);
                    shell.status
                }));
            }
            drop(next);
            statuses.extend(running.into_iter().map(|stage| stage.join().unwrap_or(1)));
        });
        let last = statuses.last().copied().unwrap_or_default();
        let failed = statuses.iter().rev().copied().find(|status| *status != 0);
        self.status = if self.options.fails_as_a_whole { failed.unwrap_or_default() } else { last };
    }

    fn run_timed(&mut self, script: &CanonicalScript, streams: &CommandStreams) -> ScriptFlow {
        let (since, before) = (Instant::now(), program::times_of_children());
        let flow = self.run(script, streams);
        let after = program::times_of_children();
        let shown = |seconds: f64| {
            let minutes = (seconds / 60.0).floor();
            format!("{minutes:.0}m{:.3}s", seconds - minutes * 60.0)
        };
        streams.write_error(&format!(
            "\nreal\t{}\nuser\t{}\nsys\t{}\n",
            shown(since.elapsed().as_secs_f64()),
            shown(after.0 - before.0),
            shown(after.1 - before.1)
        ));
        flow
    }
}
