//! Files outside the workspace: which of them a call may write, because somebody said yes to just that.

use std::path::PathBuf;

use super::{Approval, By};
use crate::shell::Part;
use crate::{Effect, Outcome, Side, Special, Target, masked_text, risk};

/// A file outside the workspace that a call may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The file, links resolved.
    pub path: PathBuf,
    /// Whether it is a plain file that is written, also where it is not there yet.
    pub is_plain: bool,
}

/// Programs whose target is something else than a plain file, or is not simply written.
const NO_FILES: &[&str] = &["chmod", "ln", "mkdir", "mv"];

impl Approval {
    /// Returns what the call may write outside the workspace: never what is protected or secret, and
    /// nothing that only a mode let pass.
    pub(super) fn outside(&self, by: &By) -> Vec<Outside> {
        let is_taken_away = |target: &Target| {
            self.effects.iter().any(|effect| match effect {
                Effect::Delete(gone) | Effect::DeleteAll(gone) => gone == target,
                Effect::Rename { from, to } => from == target || to == target,
                _ => false,
            })
        };
        let mut found: Vec<Outside> = Vec::new();
        for effect in &self.effects {
            let Effect::Write(target) = effect else { continue };
            let is_new = found.iter().all(|it| it.path != target.path);
            if is_new && is_meant(target) && !is_taken_away(target) && self.said_yes(effect, by) {
                let is_plain = self.is_plain(effect);
                found.push(Outside { path: target.path.clone(), is_plain });
            }
        }
        found
    }

    /// Whether a person said yes to the call as it was shown, or a rule to this very effect.
    fn said_yes(&self, effect: &Effect, by: &By) -> bool {
        match by {
            By::Person(_) | By::PersonSaying { .. } | By::Callback => true,
            By::AgentPrompt => false,
            By::Policy => {
                let what = masked_text(&format!("{}; ", risk::factor(effect).1));
                self.verdict.reasons.iter().any(|reason| {
                    reason.outcome == Outcome::Allow
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

fn is_meant(target: &Target) -> bool {
    target.place.side == Side::Outside
        && !matches!(target.place.special, Some(Special::Protected | Special::Secret))
}

fn makes_files(part: &Part) -> bool {
    let mut words = part.argv.iter().map(crate::shell::Word::shown);
    let name = words.next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    let is_flag = |word: &str| word.starts_with('-');
    // A folder is copied with flags, and a link or the mode may be what is copied: all but none is left.
    !NO_FILES.contains(&name) && (name != "cp" || !words.any(is_flag))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::tests::new;
    use super::*;
    use crate::rule::{Source, Spoken};
    use crate::shell::{Finding, Value, Word};
    use crate::{Decision, Place, Reason, Verdict};

    const OUTSIDE: Place = Place { side: Side::Outside, special: None };

    #[test]
    fn a_person_says_yes_to_what_was_shown_but_not_to_keys_or_what_runs_later() {
        let special = |special| Place { special: Some(special), ..OUTSIDE };
        let effects = [
            write("/o/a", OUTSIDE),
            write("/o/a", OUTSIDE),
            write("/ws/a", Place { side: Side::Inside, special: None }),
            write("/o/.env", special(Special::Secret)),
            write("/o/.git/config", special(Special::Protected)),
            write("/o/gone", OUTSIDE),
            Effect::Delete(Target::new("/o/gone", OUTSIDE)),
        ];
        let found = of(&effects, "tee", &By::person("p", None));
        assert_eq!(found, [Outside { path: "/o/a".into(), is_plain: true }]);
    }

    #[test]
    fn what_only_a_mode_let_pass_is_nothing_anybody_said_yes_to() {
        let effects = [write("/o/a", OUTSIDE), write("/o/b", OUTSIDE)];
        assert_eq!(of(&effects, "tee", &By::Policy), []);
        let mut judged = with(&effects, "tee");
        let spoken =
            Spoken { rule: "Edit(//o/b)".to_owned(), source: Source::User, id: None, why: None };
        let passed = Reason::new(Outcome::Allow, "writes `/o/a`, outside the workspace");
        let ruled = "writes `/o/b`, outside the workspace; your rules allow `Edit(//o/b)`";
        let ruled = Reason::new(Outcome::Allow, ruled).by(spoken);
        judged.verdict = Verdict::from_reasons(vec![passed, ruled]);
        let found: Vec<_> = judged.outside(&By::Policy).into_iter().map(|it| it.path).collect();
        assert_eq!(found, [PathBuf::from("/o/b")]);
    }

    #[test]
    fn a_folder_or_a_link_is_no_plain_file() {
        let is_plain = |line: &str| {
            let effects = [write("/o/a", OUTSIDE)];
            of(&effects, line, &By::person("p", None))[0].is_plain
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
        let asked = with(&[write("/o/a", OUTSIDE)], "tee").ask(Timestamp::MAX).unwrap();
        let yes = Decision::Approve { by: By::person("p", None) };
        let (_, permit) = asked.settle(yes, now).unwrap().start(now).unwrap();
        assert_eq!(permit.outside().len(), 1);
        let (_, permit) =
            with(&[write("/o/a", OUTSIDE)], "tee").allow(now).unwrap().start(now).unwrap();
        assert_eq!(permit.outside(), []);
    }

    fn write(path: &str, place: Place) -> Effect {
        Effect::Write(Target::new(path, place))
    }

    fn of(effects: &[Effect], line: &str, by: &By) -> Vec<Outside> {
        with(effects, line).outside(by)
    }

    fn with(effects: &[Effect], line: &str) -> Approval {
        let word = |text: &str| Word {
            text: text.to_owned(),
            value: Value::Literal(text.to_owned()),
            expanded: false,
        };
        let part = Part {
            text: line.to_owned(),
            wrappers: Vec::new(),
            argv: line.split(' ').map(word).collect(),
            program: None,
            effects: effects.to_vec(),
            finding: Finding::Changes,
        };
        Approval { effects: effects.to_vec(), commands: vec![part], ..new() }
    }
}
