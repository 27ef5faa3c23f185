//! Files outside the workspace: which of them a call may write, because somebody said yes to just that.

use std::path::PathBuf;

use super::{ApprovedBy, Execution};
use crate::shell::CommandPart;
use crate::{Effect, EffectTarget, SensitiveKind, VerdictAction, WorkspaceSide, mask_text, risk};

/// A file outside the workspace that a call may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideFile {
    /// The file, links resolved.
    pub path: PathBuf,
    /// Whether it is a plain file that is written, also where it is not there yet.
    pub is_plain: bool,
}

/// Programs whose target is something else than a plain file, or is not simply written.
const NO_FILES: &[&str] = &["chmod", "ln", "mkdir", "mv"];

impl Execution {
    /// Returns what the call may write outside the workspace: never what is protected or secret, and
    /// nothing that only a mode let pass.
    pub(super) fn permitted_outside_files(&self, by: &ApprovedBy) -> Vec<OutsideFile> {
        let is_taken_away = |target: &EffectTarget| {
            self.effects.iter().any(|effect| match effect {
                Effect::Delete(gone) | Effect::DeleteAll(gone) => gone == target,
                Effect::Rename { from, to } => from == target || to == target,
                _ => false,
            })
        };
        let mut found: Vec<OutsideFile> = Vec::new();
        for effect in &self.effects {
            let Effect::Write(target) = effect else { continue };
            let is_new = found.iter().all(|it| it.path != target.path);
            if is_new && is_meant(target) && !is_taken_away(target) && self.has_consent(effect, by)
            {
                let is_plain = self.is_plain(effect);
                found.push(OutsideFile { path: target.path.clone(), is_plain });
            }
        }
        found
    }

    /// Whether a person said yes to the call as it was shown, or a rule to this very effect.
    fn has_consent(&self, effect: &Effect, by: &ApprovedBy) -> bool {
        match by {
            ApprovedBy::Person(_) | ApprovedBy::PersonSaying { .. } | ApprovedBy::Callback => true,
            ApprovedBy::AgentPrompt => false,
            ApprovedBy::Policy => {
                let what = mask_text(&format!("{}; ", risk::factor(effect).1));
                self.verdict.reasons.iter().any(|reason| {
                    reason.outcome == VerdictAction::Allow
                        && reason.rule.is_some()
                        && reason.text.starts_with(&what)
                })
            }
        }
    }

    fn is_plain(&self, effect: &Effect) -> bool {
        let mut writers =
            self.commands.iter().filter(|part| part.effects.contains(effect)).peekable();
        writers.peek().is_some() && writers.all(makes_files)
    }
}

fn is_meant(target: &EffectTarget) -> bool {
    target.place.side == WorkspaceSide::Outside
        && !matches!(target.place.special, Some(SensitiveKind::Protected | SensitiveKind::Secret))
}

fn makes_files(part: &CommandPart) -> bool {
    let mut words = part.argv.iter().map(crate::shell::CommandWord::effective_text);
    let name = words.next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    let is_flag = |word: &str| word.starts_with('-');
    // A folder is copied with flags, and a link or the mode may be what is copied: all but none is left.
    !NO_FILES.contains(&name) && (name != "cp" || !words.any(is_flag))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::ExecutionDraft;
    use super::super::tests::{commit, new};
    use super::*;
    use crate::rule::{RuleCitation, RuleSource};
    use crate::shell::{CommandWord, PartFinding, WordValue};
    use crate::{Decision, PathClass, Verdict, VerdictReason};

    const OUTSIDE: PathClass = PathClass { side: WorkspaceSide::Outside, special: None };

    #[test]
    fn a_person_says_yes_to_what_was_shown_but_not_to_keys_or_what_runs_later() {
        let special = |special| PathClass { special: Some(special), ..OUTSIDE };
        let effects = [
            write("/o/a", OUTSIDE),
            write("/o/a", OUTSIDE),
            write("/ws/a", PathClass { side: WorkspaceSide::Inside, special: None }),
            write("/o/.env", special(SensitiveKind::Secret)),
            write("/o/.git/config", special(SensitiveKind::Protected)),
            write("/o/gone", OUTSIDE),
            Effect::Delete(EffectTarget::new("/o/gone", OUTSIDE)),
        ];
        let found = outside_files_of(&effects, "tee", &ApprovedBy::person("p", None));
        assert_eq!(found, [OutsideFile { path: "/o/a".into(), is_plain: true }]);
    }

    #[test]
    fn what_only_a_mode_let_pass_is_nothing_anybody_said_yes_to() {
        let effects = [write("/o/a", OUTSIDE), write("/o/b", OUTSIDE)];
        assert_eq!(outside_files_of(&effects, "tee", &ApprovedBy::Policy), []);
        let mut judged = with(&effects, "tee");
        let spoken = RuleCitation {
            rule: "Edit(//o/b)".to_owned(),
            source: RuleSource::User,
            id: None,
            why: None,
        };
        let passed =
            VerdictReason::new(VerdictAction::Allow, "writes `/o/a`, outside the workspace");
        let ruled = "writes `/o/b`, outside the workspace; your rules allow `Edit(//o/b)`";
        let ruled = VerdictReason::new(VerdictAction::Allow, ruled).with_rule(spoken);
        judged.verdict = Verdict::from_reasons(vec![passed, ruled]);
        let found: Vec<_> = judged
            .permitted_outside_files(&ApprovedBy::Policy)
            .into_iter()
            .map(|it| it.path)
            .collect();
        assert_eq!(found, [PathBuf::from("/o/b")]);
    }

    #[test]
    fn a_folder_or_a_link_is_no_plain_file() {
        let is_plain = |line: &str| {
            let effects = [write("/o/a", OUTSIDE)];
            outside_files_of(&effects, line, &ApprovedBy::person("p", None))[0].is_plain
        };
        for line in ["tee /o/a", "cp x /o/a", "echo x"] {
            assert!(is_plain(line), "{line}");
        }
        for line in ["mkdir /o/a", "/bin/ln -s x /o/a", "cp -r x /o/a", "mv x /o/a"] {
            assert!(!is_plain(line), "{line}");
        }
    }

    #[test]
    fn the_permit_carries_it() {
        let now = Timestamp::UNIX_EPOCH;
        let draft = || ExecutionDraft(with(&[write("/o/a", OUTSIDE)], "tee"));
        let asked = draft().ask(Timestamp::MAX);
        let yes = Decision::Approve { by: ApprovedBy::person("p", None) };
        let (_, permit) = commit(asked.settle(yes, now).unwrap().start(now).unwrap());
        assert_eq!(permit.outside_files().len(), 1);
        let (_, permit) = commit(draft().allow_and_start(now).unwrap());
        assert_eq!(permit.outside_files(), []);
    }

    fn write(path: &str, place: PathClass) -> Effect {
        Effect::Write(EffectTarget::new(path, place))
    }

    fn outside_files_of(effects: &[Effect], line: &str, by: &ApprovedBy) -> Vec<OutsideFile> {
        with(effects, line).permitted_outside_files(by)
    }

    fn with(effects: &[Effect], line: &str) -> Execution {
        let word = |text: &str| CommandWord {
            text: text.to_owned(),
            value: WordValue::Literal(text.to_owned()),
            expanded: false,
        };
        let part = CommandPart {
            text: line.to_owned(),
            wrappers: Vec::new(),
            argv: line.split(' ').map(word).collect(),
            program: None,
            effects: effects.to_vec(),
            finding: PartFinding::Changes,
        };
        Execution { effects: effects.to_vec(), commands: vec![part], ..new() }
    }
}
