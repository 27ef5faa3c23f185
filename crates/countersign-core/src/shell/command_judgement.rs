//! What was found out about one simple command.

use std::path::PathBuf;

use super::canonical::CanonicalScript;
use super::{CommandWord, PartFinding};
use crate::Effect;

/// What was found out about a command.
#[derive(Debug)]
pub(super) struct CommandJudgement {
    pub(super) wrappers: Vec<String>,
    pub(super) argv: Vec<CommandWord>,
    pub(super) program: Option<PathBuf>,
    pub(super) effects: Vec<Effect>,
    pub(super) finding: PartFinding,
    /// What is executed in its place: the text of a shell, read.
    pub(super) script: Option<CanonicalScript>,
}

impl CommandJudgement {
    pub(super) fn read_only(argv: Vec<CommandWord>) -> Self {
        let (wrappers, effects, finding) = (Vec::new(), Vec::new(), PartFinding::ReadOnly);
        Self { wrappers, argv, program: None, effects, finding, script: None }
    }

    pub(super) fn unproven(argv: Vec<CommandWord>, why: String) -> Self {
        Self { finding: PartFinding::Unproven { why }, ..Self::read_only(argv) }
    }

    /// Something that has to be asked for beside what was proven.
    pub(super) fn and_asks(mut self, why: &str) -> Self {
        if self.is_proven() {
            self.effects.push(Effect::Opaque { why: why.to_owned() });
            self.finding = PartFinding::Unproven { why: why.to_owned() };
        }
        self
    }

    /// A name that came out of a variable proves nothing, whatever it turned out to be.
    pub(super) fn with_head(self, head: &CommandWord) -> Self {
        if head.expanded { self.and_asks("which program runs depends on a variable") } else { self }
    }
}
