//! Policy: from a call and its plan to a verdict.
//!
//! Everything that speaks against a call is collected first: floors, rules that deny or ask, rules
//! that cannot be read. Then every single effect needs something that allows it, a rule or the proof
//! that it only reads here; what nothing allows asks. The mode says what becomes of that asking. No
//! step can take back what another one said.

mod cover;
mod restrict;

#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::cover::Cover;
use self::restrict::Restrict;
use crate::rule::{Anchors, RuleSet};
use crate::{Effect, Mode, Outcome, Plan, Reason, Risk, ToolCall, Verdict};

/// Who is there to be asked, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// A person watches: what nothing allows asks.
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

/// What applies to one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What holds where no rule speaks.
    pub stance: Stance,
    /// What becomes of calls that would ask.
    pub mode: Mode,
    /// What people have said beforehand.
    pub rules: Arc<RuleSet>,
}

/// A call as the policy looks at it.
pub(crate) struct Case<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) plan: &'a Plan,
    pub(crate) rules: &'a RuleSet,
    pub(crate) mode: Mode,
    pub(crate) now: Timestamp,
}

impl Policy {
    /// Returns the policy without rules.
    pub fn without_rules(stance: Stance) -> Self {
        let anchors = Anchors { root: "/".into(), home: None };
        Self { stance, mode: Mode::Default, rules: Arc::new(RuleSet::empty(anchors)) }
    }

    /// Returns the verdict on a call: pure, and with every reason kept.
    pub fn verdict(&self, call: &ToolCall, plan: &Plan, risk: Risk, now: Timestamp) -> Verdict {
        let case = Case { call, plan, rules: &self.rules, mode: self.mode, now };
        // What was said outright, and what only follows from nothing having been said.
        let mut firm: Vec<_> = plan.effects.iter().filter_map(forbidden).collect();
        firm.extend(Restrict::new(&case).reasons());
        firm.extend(self.leaving(plan));
        let soft = match self.stance {
            Stance::Attended { auto_approve_read } => {
                let mut reasons = Cover::new(&case).reasons();
                if risk == Risk::Low && !auto_approve_read {
                    reasons.push(Reason::new(
                        Outcome::Ask,
                        "reading asks too: automatic approval of reads is off",
                    ));
                }
                reasons
            }
            Stance::ToolDecides { needs_approval } => vec![tool_said(call, needs_approval)],
            Stance::Unattended => {
                vec![Reason::new(Outcome::Allow, "runs unattended: nothing is asked")]
            }
        };
        firm.extend(soft.into_iter().map(|reason| self.in_mode(reason)));
        if self.mode == Mode::DontAsk {
            firm = firm.into_iter().map(not_asked).collect();
        }
        Verdict::from_reasons(firm)
    }

    /// To leave the sandbox is a question of its own: no rule and no mode answers it, only a person.
    fn leaving(&self, plan: &Plan) -> Option<Reason> {
        let leaves = plan.effects.contains(&Effect::LeavesSandbox);
        let text = "leaves the sandbox: it could do anything its user can";
        (leaves && self.stance != Stance::Unattended)
            .then(|| Reason::new(Outcome::Ask, text).unless("run it inside the sandbox"))
    }

    fn in_mode(&self, reason: Reason) -> Reason {
        match (self.mode, reason.outcome) {
            (Mode::BypassPermissions, Outcome::Ask) => Reason { outcome: Outcome::Allow, ..reason },
            _ => reason,
        }
    }
}

/// With nobody to ask, what would ask is denied.
fn not_asked(reason: Reason) -> Reason {
    match reason.outcome {
        Outcome::Ask => Reason {
            outcome: Outcome::Deny,
            text: format!("{} (and this mode asks nobody)", reason.text),
            ..reason
        },
        Outcome::Allow | Outcome::Deny => reason,
    }
}

/// The floor: holds in every stance and mode.
fn forbidden(effect: &Effect) -> Option<Reason> {
    match effect {
        Effect::Forbidden { why } => Some(
            Reason::new(Outcome::Deny, why.clone())
                .unless("nothing: no rule and no mode allows it"),
        ),
        _ => None,
    }
}

fn tool_said(call: &ToolCall, needs_approval: bool) -> Reason {
    let tool = &call.tool_name;
    if needs_approval {
        Reason::new(Outcome::Ask, format!("`{tool}` asks before it runs"))
    } else {
        Reason::new(Outcome::Allow, format!("`{tool}` does not ask"))
    }
}

impl Case<'_> {
    /// Returns the command of the call that has an effect, if there is one.
    pub(crate) fn part_of(&self, effect: &Effect) -> Option<usize> {
        self.plan.commands.iter().position(|part| part.effects.contains(effect))
    }

    /// Returns whether anything about the call could not be determined.
    pub(crate) fn is_opaque(&self) -> bool {
        self.plan.effects.iter().any(|effect| matches!(effect, Effect::Opaque { .. }))
    }
}
