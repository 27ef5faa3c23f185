//! A part in the making.

use super::super::canonical::CanonicalRedirection;
use super::super::command_judgement::CommandJudgement;
use super::super::{CommandPart, PartFinding};
use crate::Effect;

/// A part in the making.
pub(crate) struct PartDraft {
    pub(super) text: String,
    pub(crate) effects: Vec<Effect>,
    /// Why it cannot be proven, whatever the program is.
    pub(super) problems: Vec<String>,
    /// What it gets on its standard input, if the text says so.
    pub(crate) input: Option<String>,
    /// Where its streams lead, in the canonical form.
    pub(crate) redirections: Vec<CanonicalRedirection>,
}

impl PartDraft {
    pub(crate) fn new(text: String) -> Self {
        Self {
            text,
            effects: Vec::new(),
            problems: Vec::new(),
            input: None,
            redirections: Vec::new(),
        }
    }

    pub(crate) fn opaque(&mut self, why: impl Into<String>) {
        self.problems.push(why.into());
    }

    /// The same, on a condition.
    pub(crate) fn opaque_if(&mut self, is: bool, why: &str) {
        if is {
            self.opaque(why);
        }
    }

    pub(super) fn into_part(
        mut self,
        judged: CommandJudgement,
        tainted: Option<&str>,
    ) -> CommandPart {
        let mut finding = judged.finding;
        self.effects.extend(judged.effects);
        if finding == PartFinding::ReadOnly && !self.effects.iter().all(Effect::is_read_only) {
            finding = PartFinding::Changes;
        }
        if let (Some(what), PartFinding::ReadOnly | PartFinding::Changes) = (tainted, &finding) {
            self.problems.push(format!("{what} comes before it and may change what it means"));
        }
        self.effects.extend(self.problems.iter().map(|why| Effect::Opaque { why: why.clone() }));
        if let Some(why) = self.problems.into_iter().next() {
            finding = PartFinding::Unproven { why };
        }
        CommandPart {
            text: self.text,
            wrappers: judged.wrappers,
            argv: judged.argv,
            program: judged.program,
            effects: self.effects,
            finding,
        }
    }
}
