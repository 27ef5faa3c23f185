//! One command of a command line, as a person sees it before they decide.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::shell::{CommandPart, PartFinding};
use crate::{Verdict, VerdictAction, mask_text, risk};

/// A command, what it would do, and what was said of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPreview {
    /// As it was written.
    pub text: String,
    /// The file that would run, where it was found and is trusted.
    pub program: Option<PathBuf>,
    /// What it is wrapped in, outermost first.
    pub wrappers: Vec<String>,
    /// What was said of it.
    pub verdict: VerdictAction,
    /// What it would do, in words.
    pub effects: Vec<String>,
    /// Why that was said.
    pub reasons: Vec<String>,
}

impl PartPreview {
    /// Returns the commands of a call with what a verdict says of each.
    pub fn for_commands(commands: &[CommandPart], verdict: &Verdict) -> Vec<Self> {
        let parts = commands.iter().enumerate();
        parts.map(|(at, part)| Self::for_part(part, at, verdict)).collect()
    }

    fn for_part(part: &CommandPart, at: usize, verdict: &Verdict) -> Self {
        let mut effects: Vec<String> =
            risk::factors(&part.effects).into_iter().map(|(_, what)| mask_text(&what)).collect();
        if part.effects.is_empty() {
            effects = vec!["only reads".to_owned()];
        }
        let unsaid = match part.finding {
            PartFinding::ReadOnly => VerdictAction::Allow,
            PartFinding::Changes | PartFinding::Unproven { .. } => VerdictAction::Ask,
        };
        Self {
            text: mask_text(&part.text),
            program: part.program.clone(),
            wrappers: part.wrappers.clone(),
            verdict: verdict.action_for_part(at).unwrap_or(unsaid),
            effects,
            reasons: verdict.reasons_for_part(at).map(|reason| mask_text(&reason.text)).collect(),
        }
    }
}
