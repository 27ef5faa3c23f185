//! Policy: from a call and its plan to a verdict.
//!
//! Everything that speaks against a call is collected first: hard denials, rules that deny or ask, rules
//! that cannot be read. Then every single effect needs something that allows it, a rule or the proof
//! that it only reads here; what nothing allows asks. The mode says what becomes of that asking. No
//! step can take back what another one said.

mod coverage;
mod restrictions;

#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::coverage::CoverageCheck;
use self::restrictions::RestrictionCheck;
use crate::rule::{PatternAnchors, RuleSet};
use crate::{
    CallPlan, Effect, PermissionMode, Risk, ToolCall, Verdict, VerdictAction, VerdictReason,
};

/// Who is there to be asked, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Supervision {
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
    pub stance: Supervision,
    /// What becomes of calls that would ask.
    pub mode: PermissionMode,
    /// What people have said beforehand.
    pub rules: Arc<RuleSet>,
}

/// A call as the policy looks at it.
pub(crate) struct PolicyCase<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) plan: &'a CallPlan,
    pub(crate) rules: &'a RuleSet,
    pub(crate) mode: PermissionMode,
    pub(crate) now: Timestamp,
}

impl Policy {
    /// Returns the policy without rules.
    pub fn without_rules(stance: Supervision) -> Self {
        let anchors = PatternAnchors { root: "/".into(), home: None };
        Self { stance, mode: PermissionMode::Default, rules: Arc::new(RuleSet::empty(anchors)) }
    }

    /// Returns the policy of rules where people are asked, and reads are not asked about.
    pub(crate) fn attended_by(rules: RuleSet) -> Self {
        let stance = Supervision::Attended { auto_approve_read: true };
        Self { stance, mode: PermissionMode::Default, rules: Arc::new(rules) }
    }

    /// Returns the verdict on a call: pure, and with every reason kept.
    pub fn verdict(&self, call: &ToolCall, plan: &CallPlan, risk: Risk, now: Timestamp) -> Verdict {
        let case = PolicyCase { call, plan, rules: &self.rules, mode: self.mode, now };
        // What was said outright, and what only follows from nothing having been said.
        let mut firm: Vec<_> = plan.effects.iter().filter_map(hard_denial_reason).collect();
        firm.extend(RestrictionCheck::new(&case).reasons());
        firm.extend(self.sandbox_exit_reason(plan));
        let soft = match self.stance {
            Supervision::Attended { auto_approve_read } => {
                let mut reasons = CoverageCheck::new(&case).reasons();
                if risk == Risk::Low && !auto_approve_read {
                    reasons.push(VerdictReason::new(
                        VerdictAction::Ask,
                        "reading asks too: automatic approval of reads is off",
                    ));
                }
                reasons
            }
            Supervision::ToolDecides { needs_approval } => vec![tool_reason(call, needs_approval)],
            Supervision::Unattended => {
                vec![VerdictReason::new(VerdictAction::Allow, "runs unattended: nothing is asked")]
            }
        };
        firm.extend(soft.into_iter().map(|reason| self.apply_mode(reason)));
        if self.mode == PermissionMode::DontAsk {
            firm = firm.into_iter().map(deny_instead_of_ask).collect();
        }
        Verdict::from_reasons(firm)
    }

    /// To leave the sandbox is a question of its own: no rule and no mode answers it, only a person.
    fn sandbox_exit_reason(&self, plan: &CallPlan) -> Option<VerdictReason> {
        let leaves = plan.effects.contains(&Effect::LeavesSandbox);
        let text = "leaves the sandbox: it could do anything its user can";
        (leaves && self.stance != Supervision::Unattended).then(|| {
            VerdictReason::new(VerdictAction::Ask, text).with_remedy("run it inside the sandbox")
        })
    }

    fn apply_mode(&self, reason: VerdictReason) -> VerdictReason {
        match (self.mode, reason.outcome) {
            (PermissionMode::BypassPermissions, VerdictAction::Ask) => {
                VerdictReason { outcome: VerdictAction::Allow, ..reason }
            }
            _ => reason,
        }
    }
}

/// With nobody to ask, what would ask is denied.
fn deny_instead_of_ask(reason: VerdictReason) -> VerdictReason {
    match reason.outcome {
        VerdictAction::Ask => VerdictReason {
            outcome: VerdictAction::Deny,
            text: format!("{} (and this mode asks nobody)", reason.text),
            ..reason
        },
        VerdictAction::Allow | VerdictAction::Deny => reason,
    }
}

/// The hard denial: holds in every stance and mode.
fn hard_denial_reason(effect: &Effect) -> Option<VerdictReason> {
    match effect {
        Effect::Forbidden { why } => Some(
            VerdictReason::new(VerdictAction::Deny, why.clone())
                .with_remedy("nothing: no rule and no mode allows it"),
        ),
        _ => None,
    }
}

fn tool_reason(call: &ToolCall, needs_approval: bool) -> VerdictReason {
    let tool = &call.tool_name;
    if needs_approval {
        VerdictReason::new(VerdictAction::Ask, format!("`{tool}` asks before it runs"))
    } else {
        VerdictReason::new(VerdictAction::Allow, format!("`{tool}` does not ask"))
    }
}

impl PolicyCase<'_> {
    /// Returns the command of the call that has an effect, if there is one.
    pub(crate) fn part_of(&self, effect: &Effect) -> Option<usize> {
        self.plan.commands.iter().position(|part| part.effects.contains(effect))
    }

    /// Returns whether anything about the call could not be determined.
    pub(crate) fn is_opaque(&self) -> bool {
        self.plan.effects.iter().any(|effect| matches!(effect, Effect::Opaque { .. }))
    }
}
