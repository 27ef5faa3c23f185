//! The examination of allowed commands: each is run on both sides of a world, and what shows is judged.

use std::path::{Component, Path, PathBuf};

use countersign_core::{PathClass, SensitiveKind};
use serde_json::json;

use super::jail::{CommandOutput, JailedCommand, program_path, run_in_jail};
use super::manifest::Manifest;
use super::trace::{TraceLeave, find_unpredicted};
use super::verdict::{AllowedCommand, OracleMode};
use super::world::{MARKS, World, WorldSide};

/// How often a difference between the sides has to show again.
const STEADY: usize = 12;

const SIDES: [WorldSide; 2] = [WorldSide::First, WorldSide::Second];

/// What a command did that nobody was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// A program of the workspace was started; how.
    StartedProgram(String),
    /// Files changed; which, below the folder above the workspace.
    ChangedFiles(Vec<PathBuf>),
    /// A link was made that leads out of the workspace.
    MadeLinkOut(PathBuf),
    /// A mark of a file that must not be read was printed.
    PrintedMark(&'static str),
    /// The output tells the contents of files apart that must not be read.
    ToldSidesApart,
    /// strace saw something that no effect predicts.
    SeenByTrace(String),
}

/// What came of examining one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Examination {
    Harmless,
    Harmful(Harm),
    /// It was stopped, so nothing can be said of it.
    Stopped,
    /// Its program is not on this machine.
    WithoutProgram,
    /// It prints something else each time, so that only marks and changes can tell.
    Unsteady,
}

/// Who runs what was allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExecutedBy<'a> {
    /// bash, from the canonical text or, where there is none, from the text as it was written.
    Bash,
    /// The binary's own executor.
    Executor(&'a Path),
}

/// A world in which commands are examined.
pub(super) struct Examiner<'a> {
    world: &'a World,
    mode: OracleMode,
    before: [Manifest; 2],
    compares_sides: bool,
}

impl<'a> Examiner<'a> {
    pub(super) fn new(world: &'a World, mode: OracleMode) -> Self {
        let before = SIDES.map(|side| Manifest::read(&world.live(side)));
        Self { world, mode, before, compares_sides: true }
    }

    /// Says whether the outputs of the two sides must be the same. Where a secret is tracked, one side
    /// is what was committed and the other is not, which git may tell.
    pub(super) fn comparing_sides(self, compares_sides: bool) -> Self {
        Self { compares_sides, ..self }
    }

    /// Examines commands together; whatever is suspicious is examined once more on its own.
    pub(super) fn examine_batch(
        &self,
        commands: &[AllowedCommand],
        by: ExecutedBy<'_>,
        is_traced: bool,
    ) -> Vec<Examination> {
        if self.mode == OracleMode::AcceptEdits || commands.len() == 1 {
            return commands.iter().map(|it| self.examine(it, by, is_traced)).collect();
        }
        let jailed: Vec<_> = commands.iter().map(|it| self.to_jailed(it, by)).collect();
        let [first, second] = SIDES.map(|side| {
            let is_traced = is_traced && side == WorldSide::First;
            run_in_jail(self.world, side, &jailed, is_traced, program_of(by))
        });
        let changed: Vec<_> =
            SIDES.into_iter().filter(|side| self.find_change(*side, None).is_some()).collect();
        if !changed.is_empty() {
            for side in changed {
                self.world.restore(side);
            }
            let (front, back) = commands.split_at(commands.len() / 2);
            let mut examined = self.examine_batch(front, by, is_traced);
            examined.extend(self.examine_batch(back, by, is_traced));
            return examined;
        }
        let outputs = first.iter().zip(&second);
        let examined = commands.iter().zip(outputs).map(|(command, (first, second))| {
            if self.find_harm(command, first, second).is_some() || !self.same_output(first, second)
            {
                return self.examine(command, by, is_traced);
            }
            conclude(first)
        });
        examined.collect()
    }

    /// Examines one command on its own, in a world that nothing has changed.
    pub(super) fn examine(
        &self,
        command: &AllowedCommand,
        by: ExecutedBy<'_>,
        is_traced: bool,
    ) -> Examination {
        let (first, change) = self.run_fresh(command, by, WorldSide::First, is_traced);
        if let Some(harm) = change {
            return Examination::Harmful(harm);
        }
        let (second, change) = self.run_fresh(command, by, WorldSide::Second, false);
        if let Some(harm) = change.or_else(|| self.find_harm(command, &first, &second)) {
            return Examination::Harmful(harm);
        }
        if first.is_stopped() || self.same_output(&first, &second) {
            return conclude(&first);
        }
        // What differs by itself says nothing; what differs only between the sides has read them. How
        // much `grep -r` complains of before `head` has closed its pipe is chance, and may be the same
        // chance a few times.
        let is_steady = (0..STEADY).all(|_| {
            [(WorldSide::First, &first), (WorldSide::Second, &second)].iter().all(|(side, seen)| {
                self.world.restore(*side);
                self.same_output(&self.run_fresh(command, by, *side, false).0, seen)
            })
        });
        if is_steady { Examination::Harmful(Harm::ToldSidesApart) } else { Examination::Unsteady }
    }

    fn run_fresh(
        &self,
        command: &AllowedCommand,
        by: ExecutedBy<'_>,
        side: WorldSide,
        is_traced: bool,
    ) -> (CommandOutput, Option<Harm>) {
        let jailed = [self.to_jailed(command, by)];
        let mut outputs = run_in_jail(self.world, side, &jailed, is_traced, program_of(by));
        let change = self.find_change(side, Some(command));
        if self.find_change(side, None).is_some() {
            self.world.restore(side);
        }
        (outputs.pop().unwrap(), change)
    }

    /// Returns the harm in what changed on a side; for no command in particular, any change is harm.
    fn find_change(&self, side: WorldSide, command: Option<&AllowedCommand>) -> Option<Harm> {
        let before = &self.before[usize::from(side == WorldSide::Second)];
        let after = Manifest::read(&self.world.live(side));
        let changed = before.changed_paths(&after);
        if changed.is_empty() {
            return None;
        }
        if changed.iter().any(|path| path.starts_with("marks")) {
            let ran = std::fs::read_to_string(self.world.live(side).join("marks/ran"));
            let ran = ran.unwrap_or_default().trim().to_owned();
            return Some(Harm::StartedProgram(self.hide_world(&ran)));
        }
        let Some(command) = command.filter(|_| self.mode == OracleMode::AcceptEdits) else {
            return Some(Harm::ChangedFiles(changed));
        };
        let link_out = changed.iter().find(|path| self.leads_out(path, &after));
        if let Some(path) = link_out {
            return Some(Harm::MadeLinkOut(path.clone()));
        }
        let harmed = changed.into_iter().filter(|path| !self.may_change(path, command));
        let harmed: Vec<_> = harmed.collect();
        (!harmed.is_empty()).then_some(Harm::ChangedFiles(harmed))
    }

    /// Returns whether an edit may have changed a path: predicted, inside, and nothing special.
    fn may_change(&self, path: &Path, command: &AllowedCommand) -> bool {
        let full = self.world.mount().join(path);
        let special = PathClass::from_path(&full, &[self.world.workspace()]).special;
        let is_plain = !matches!(special, Some(SensitiveKind::Protected | SensitiveKind::Secret));
        let is_predicted = command
            .predicted_changes
            .iter()
            .any(|it| full.starts_with(it) || Path::new(it).starts_with(&full));
        path.starts_with("ws") && is_plain && is_predicted
    }

    /// Returns whether a path is a link that leads out of the workspace from where it lies now.
    fn leads_out(&self, path: &Path, after: &Manifest) -> bool {
        let Some(target) = after.link_target(path) else { return false };
        let (workspace, mount) = (self.world.workspace(), self.world.mount());
        let leads_to = resolve_lexically(&mount.join(path).parent().unwrap().join(target));
        // One that was moved or copied and led out before is judged by what is done through it.
        let led_out = |side: &Manifest| side.has_link_to(target);
        !leads_to.starts_with(&workspace) && !self.before.iter().any(led_out)
    }

    /// Returns what the outputs alone show.
    fn find_harm(
        &self,
        command: &AllowedCommand,
        first: &CommandOutput,
        second: &CommandOutput,
    ) -> Option<Harm> {
        let printed = |mark: &str| {
            [first, second].iter().any(|it| it.stdout.contains(mark) || it.stderr.contains(mark))
        };
        if let Some(mark) = MARKS.into_iter().find(|mark| printed(mark)) {
            return Some(Harm::PrintedMark(mark));
        }
        let leave = TraceLeave {
            writes: self.mode == OracleMode::AcceptEdits,
            compares_secrets: !self.compares_sides && runs_git(&command.command),
        };
        let trace = first.trace.as_ref()?;
        let seen = find_unpredicted(trace, self.world, &command.predicted_paths, leave)?;
        Some(Harm::SeenByTrace(self.hide_world(&seen)))
    }

    fn same_output(&self, first: &CommandOutput, second: &CommandOutput) -> bool {
        // The commands of a pipeline complain at once: who comes first is chance.
        let complaints = |it: &CommandOutput| {
            let mut lines: Vec<_> = it.stderr.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        let parts = |it: &CommandOutput| (it.code, it.stdout.clone(), complaints(it));
        !self.compares_sides || parts(first) == parts(second)
    }

    fn to_jailed(&self, command: &AllowedCommand, by: ExecutedBy<'_>) -> JailedCommand {
        match by {
            ExecutedBy::Bash => JailedCommand::from_text(command.executed_text()),
            ExecutedBy::Executor(_) => run_by_executor(self.world, self.mode, command),
        }
    }

    /// Returns a text without the name of the temporary folder.
    fn hide_world(&self, text: &str) -> String {
        text.replace(self.world.mount().to_str().unwrap(), "{{WORLD}}")
    }
}

/// Returns how the binary runs an allowed command itself.
///
/// It reads the command, its canonical text, the mode and the root as JSON from its input, and runs
/// what it would run as the tool Bash. [`offers_executor`] says whether it can.
pub(super) fn run_by_executor(
    world: &World,
    mode: OracleMode,
    command: &AllowedCommand,
) -> JailedCommand {
    let input = json!({
        "root": world.workspace(),
        "mode": mode.wire_name(),
        "command": command.command,
        "canonical": command.canonical,
    });
    let text = format!("exec '{}' run-canonical", program_path(world).display());
    JailedCommand { text, input: Some(input.to_string()) }
}

/// Returns whether a binary has the hidden command that runs a canonical form.
pub(super) fn offers_executor(binary: &Path) -> bool {
    let mut command = super::process::clean_command(binary);
    command.args(["run-canonical", "--help"]);
    super::process::run_to_end(&mut command, "").0 == Some(0)
}

fn program_of(by: ExecutedBy<'_>) -> Option<&Path> {
    match by {
        ExecutedBy::Bash => None,
        ExecutedBy::Executor(program) => Some(program),
    }
}

fn conclude(output: &CommandOutput) -> Examination {
    if output.is_stopped() {
        Examination::Stopped
    } else if output.misses_program() {
        Examination::WithoutProgram
    } else {
        Examination::Harmless
    }
}

fn resolve_lexically(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut resolved, component| {
        match component {
            Component::ParentDir => drop(resolved.pop()),
            Component::CurDir => {}
            other => resolved.push(other),
        }
        resolved
    })
}

/// Whether a command runs git, be it behind a wrapper.
fn runs_git(command: &str) -> bool {
    command.split_whitespace().any(|word| word == "git" || word.ends_with("/git"))
}
