//! Commands one after another: lists, `&&` and `||`, pipelines.

use brush_parser::ast::{
    AndOr, AndOrList, Command, CompoundList, Pipeline, PipelineTimed, SeparatorOperator,
};

use super::super::canonical::CanonicalScript;
use super::super::shell_state::ShellState;
use super::super::syntax::ParsedSource;
use super::super::{CommandPart, HardDenial, PartFinding, hard_denial, raw_tokens};
use super::CommandLowerer;
use super::xargs_names::PipelineStage;
use crate::Effect;

/// What is known after a command, by how it ended.
pub(crate) struct ExitStates {
    pub(crate) ok: ShellState,
    pub(crate) failed: ShellState,
}

impl ExitStates {
    fn either(self) -> ShellState {
        self.ok.merge(self.failed)
    }
}

impl From<ShellState> for ExitStates {
    fn from(state: ShellState) -> Self {
        Self { ok: state.clone(), failed: state }
    }
}

impl CommandLowerer<'_> {
    pub(super) fn list(
        &mut self,
        list: &CompoundList,
        source: &ParsedSource<'_>,
        mut state: ShellState,
    ) -> (ShellState, CanonicalScript) {
        let mut scripts = Vec::new();
        for item in &list.0 {
            let first = self.parts.len();
            let (after, script) = self.and_or(&item.0, source, state.clone());
            if matches!(item.1, SeparatorOperator::Async) {
                self.cannot_express("it keeps running in the background");
                self.in_background(first);
            } else {
                state = after.either();
            }
            scripts.push(script);
        }
        (state, CanonicalScript::in_sequence(scripts))
    }

    fn in_background(&mut self, first: usize) {
        for part in self.parts.iter_mut().skip(first) {
            part.effects.push(Effect::RunsLater { what: part.text.clone() });
            if part.finding == PartFinding::ReadOnly {
                let why = "it keeps running in the background".to_owned();
                part.finding = PartFinding::Unproven { why };
            }
        }
    }

    fn and_or(
        &mut self,
        list: &AndOrList,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> (ExitStates, CanonicalScript) {
        let (mut after, mut script) = self.pipeline(&list.first, source, state);
        for next in &list.additional {
            match next {
                AndOr::And(next) => {
                    let (then, second) = self.pipeline(next, source, after.ok);
                    after = ExitStates { ok: then.ok, failed: after.failed.merge(then.failed) };
                    script = CanonicalScript::And(Box::new(script), Box::new(second));
                }
                AndOr::Or(next) => {
                    let (then, second) = self.pipeline(next, source, after.failed);
                    after = ExitStates { ok: after.ok.merge(then.ok), failed: then.failed };
                    script = CanonicalScript::Or(Box::new(script), Box::new(second));
                }
            }
        }
        (after, script)
    }

    /// The commands of a pipeline run in shells of their own, unless there is but one.
    fn pipeline(
        &mut self,
        pipeline: &Pipeline,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> (ExitStates, CanonicalScript) {
        let outer = std::mem::replace(&mut self.runs_text, false);
        let (first, before) = (self.parts.len(), state.clone());
        let (after, script) = match pipeline.seq.as_slice() {
            [only] => {
                let (ExitStates { ok, failed }, script) = self.command(only, source, state);
                if pipeline.bang {
                    (ExitStates { ok: failed, failed: ok }, script)
                } else {
                    (ExitStates { ok, failed }, script)
                }
            }
            several => {
                let script = self.stages(several, source, &state);
                // What a stage changed on disk is changed for those that follow.
                let mut state = state;
                state.changed = self.find_changing_part(first).or(state.changed);
                (state.into(), script)
            }
        };
        let script = if pipeline.bang { CanonicalScript::Not(Box::new(script)) } else { script };
        let script = match &pipeline.timed {
            None => script,
            Some(PipelineTimed::Timed(_)) => CanonicalScript::Timed(Box::new(script)),
            Some(_) => {
                self.cannot_express("this form of `time` is not run without asking");
                script
            }
        };
        self.denials.extend(self.fed_by_pipe(first, &before));
        if self.runs_text {
            let written: Vec<_> =
                pipeline.seq.iter().map(|command| source.node_text(command)).collect();
            self.denials.extend(raw_tokens::find_denials(&written.join(" | "), self.context));
        }
        self.runs_text = outer;
        (after, script)
    }

    /// Each of several commands that run at once has the output of the one before as its input.
    fn stages(
        &mut self,
        commands: &[Command],
        source: &ParsedSource<'_>,
        state: &ShellState,
    ) -> CanonicalScript {
        let mut stages = Vec::new();
        for command in commands {
            let first = self.parts.len();
            let (_, script) = self.command(command, source, state.clone());
            stages.push(PipelineStage { script, parts: first..self.parts.len() });
        }
        self.hand_over_names(&mut stages, state);
        CanonicalScript::Pipeline(stages.into_iter().map(|stage| stage.script).collect())
    }

    /// Returns which of the parts from this one on changes files, if one does.
    pub(crate) fn find_changing_part(&self, first: usize) -> Option<String> {
        let changes = |part: &&CommandPart| {
            let writes = |effect: &Effect| !effect.changed_targets().is_empty();
            part.finding != PartFinding::ReadOnly || part.effects.iter().any(writes)
        };
        let found = self.parts.get(first..).unwrap_or_default().iter().find(changes);
        found.map(|part| format!("`{}`", part.text))
    }

    /// `echo / | xargs rm -rf`: what is written on one side is removed on the other.
    fn fed_by_pipe(&self, first: usize, state: &ShellState) -> Option<HardDenial> {
        let parts = self.parts.get(first..).unwrap_or_default();
        let written_words = parts.iter().flat_map(|part| match part.argv.split_first() {
            Some((head, args)) if matches!(head.effective_text(), "echo" | "printf" | "ls") => args,
            Some((head, args))
                if head.effective_text() == "find" && !hard_denial::narrows(args) =>
            {
                args
            }
            _ => &[],
        });
        let written_words: Vec<_> = written_words.cloned().collect();
        let takes = |part: &&CommandPart| part.wrappers.iter().any(|wrapper| wrapper == "xargs");
        parts
            .iter()
            .filter(takes)
            .find_map(|part| self.check_fed_command(&part.argv, &written_words, state))
    }
}
