//! Policy: from call, effects and risk to a verdict.

use serde::{Deserialize, Serialize};

use crate::{Effect, Outcome, Reason, Risk, ToolCall, Verdict, risk};

/// Who is there to be asked, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// A person watches: what is not LOW asks.
    Attended {
        /// Whether LOW calls run without asking (S1's `auto_approve_read`).
        auto_approve_read: bool,
    },
    /// The tool itself says whether to ask (S5's `needs_approval`), as it did for this call.
    ToolDecides {
        /// What it said.
        needs_approval: bool,
    },
    /// Nobody is there and everything may run (S5's `auto_approve`).
    Unattended,
}

/// The rules that apply to one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What holds where no rule speaks.
    pub stance: Stance,
}

impl Policy {
    /// Returns the verdict on a call: pure, and with every reason kept.
    pub fn verdict(&self, call: &ToolCall, effects: &[Effect], risk: Risk) -> Verdict {
        let mut reasons = match self.stance {
            Stance::Attended { auto_approve_read } => attended(auto_approve_read, effects, risk),
            Stance::ToolDecides { needs_approval } => vec![tool_said(call, needs_approval)],
            Stance::Unattended => vec![Reason {
                outcome: Outcome::Allow,
                text: "runs unattended: nothing is asked".to_owned(),
            }],
        };
        // The floor: holds in every stance.
        reasons.extend(effects.iter().filter_map(forbidden));
        Verdict::from_reasons(reasons)
    }
}

fn forbidden(effect: &Effect) -> Option<Reason> {
    match effect {
        Effect::Forbidden { why } => Some(Reason { outcome: Outcome::Deny, text: why.clone() }),
        _ => None,
    }
}

fn attended(auto_approve_read: bool, effects: &[Effect], risk: Risk) -> Vec<Reason> {
    let mut reasons: Vec<_> = risk::factors(effects)
        .into_iter()
        .map(|(risk, text)| Reason {
            outcome: if risk == Risk::Low { Outcome::Allow } else { Outcome::Ask },
            text,
        })
        .collect();
    if risk == Risk::Low && !auto_approve_read {
        reasons.push(Reason {
            outcome: Outcome::Ask,
            text: "reading asks too: automatic approval of reads is off".to_owned(),
        });
    }
    reasons
}

fn tool_said(call: &ToolCall, needs_approval: bool) -> Reason {
    let tool = &call.tool_name;
    if needs_approval {
        Reason { outcome: Outcome::Ask, text: format!("`{tool}` asks before it runs") }
    } else {
        Reason { outcome: Outcome::Allow, text: format!("`{tool}` does not ask") }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::{Place, Side, Target};

    #[test]
    fn attended_low_runs_the_rest_asks() {
        let stance = Stance::Attended { auto_approve_read: true };
        check(stance, &[read(Side::Inside)], Outcome::Allow);
        check(stance, &[read(Side::Outside)], Outcome::Ask);
        check(stance, &[read(Side::Inside), write()], Outcome::Ask);
        check(stance, &[], Outcome::Ask);
    }

    #[test]
    fn with_automatic_reads_off_everything_asks() {
        let stance = Stance::Attended { auto_approve_read: false };
        check(stance, &[read(Side::Inside)], Outcome::Ask);
    }

    #[test]
    fn what_is_forbidden_is_denied_in_every_stance() {
        let forbidden = || Effect::Forbidden { why: "destroys the system".into() };
        for stance in [
            Stance::Attended { auto_approve_read: true },
            Stance::ToolDecides { needs_approval: false },
            Stance::Unattended,
        ] {
            check(stance, &[read(Side::Inside), forbidden()], Outcome::Deny);
        }
    }

    #[test]
    fn the_library_asks_where_the_tool_says_so() {
        check(Stance::ToolDecides { needs_approval: true }, &[read(Side::Inside)], Outcome::Ask);
        check(Stance::ToolDecides { needs_approval: false }, &[write()], Outcome::Allow);
        check(Stance::Unattended, &[write()], Outcome::Allow);
    }

    #[track_caller]
    fn check(stance: Stance, effects: &[Effect], outcome: Outcome) {
        let verdict = Policy { stance }.verdict(&call(), effects, risk::assess(effects));
        assert_eq!(verdict.outcome, outcome, "{stance:?} {effects:?}");
        assert!(verdict.reasons.iter().any(|reason| reason.outcome == outcome));
    }

    fn read(side: Side) -> Effect {
        Effect::Read(Target { path: "/p".into(), place: Place { side, special: None } })
    }

    fn write() -> Effect {
        Effect::Write(Target {
            path: "/p".into(),
            place: Place { side: Side::Inside, special: None },
        })
    }

    fn call() -> ToolCall {
        ToolCall {
            id: Uuid::nil().into(),
            project: "p".into(),
            session: "s".into(),
            run: None,
            tool_use_id: "t".into(),
            tool_name: "Write".to_owned(),
            input: json!({}),
            cwd: "/".into(),
        }
    }
}
