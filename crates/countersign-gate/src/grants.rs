//! "Always": a yes that also keeps rules, in one step, so that a yes that comes too late leaves none.

use std::time::Duration;

use countersign_core::{
    ApprovalId, ApprovedBy, Decision, Digest, Execution, ExecutionStatus, GrantProposal,
    LockedExecution, StateConflict, VerdictAction,
};

use crate::call_metrics::count_decision;
use crate::clock::time_after;
use crate::decide::{DecideError, check_seen_digest};
use crate::gate::Gate;
use crate::prior_state::PriorStateProbe;
use crate::rule_draft::{RuleDraft, RulesError};
use crate::store::{StoreError, StoredRuleOrigin, Transition};

/// How far a yes reaches beyond its own call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantScope {
    /// This conversation.
    Session,
    /// The whole project.
    Project,
}

impl GrantScope {
    /// How long what was granted holds: nobody remembers for ever what they once allowed.
    fn duration(self) -> Duration {
        match self {
            Self::Session => Duration::from_hours(24),
            Self::Project => Duration::from_hours(24 * 90),
        }
    }
}

/// A person's yes that is to hold for calls like this one, too.
#[derive(Clone, Debug)]
pub struct ApprovalWithGrant {
    /// How far it reaches.
    pub scope: GrantScope,
    /// The rules of the proposal that was picked, to the letter; the narrowest if none are named.
    pub rules: Option<Vec<String>>,
    /// Who says so.
    pub by: ApprovedBy,
    /// The digest of what they saw.
    pub seen: Option<Digest>,
}

impl Gate {
    /// Approves a request and keeps the rules of one of its proposals, both or neither.
    pub async fn approve_with_grant(
        &self,
        id: ApprovalId,
        always: ApprovalWithGrant,
    ) -> Result<Execution, DecideError> {
        let Some(asked) = self.store().approval(id).await? else {
            return Err(DecideError::Unknown(id));
        };
        let now = self.inner().clock.now();
        let picked = pick_proposal(&asked, always.rules.as_deref())?;
        let until = Some(time_after(now, always.scope.duration()));
        let drafts = picked.rules.iter().map(|rule| RuleDraft {
            id: None,
            effect: VerdictAction::Allow,
            rule: rule.clone(),
            why: Some(format!("always: {}", picked.label)),
            expires_at: until,
        });
        let session = (always.scope == GrantScope::Session).then_some(&asked.call().session);
        let (origin, by) = (StoredRuleOrigin::Approval(id), always.by.to_string());
        let granted =
            self.build_grants(&asked.call().project, session, origin, drafts.collect(), &by);
        let granted = granted.map_err(|error| match error {
            RulesError::Store(error) => DecideError::Store(error),
            other => DecideError::NotAlways(other.to_string()),
        })?;
        let (seen, by) = (always.seen, always.by);
        let step = move |stands: LockedExecution| {
            let stands = check_seen_digest(stands, seen.as_ref())?;
            Ok(stands.settle(Decision::Approve { by: by.clone() }, now)?)
        };
        let probe = PriorStateProbe::default();
        let step = probe.watch(step);
        match self.inner().store.transition_granting(id, now, granted, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(id)),
            Transition::Refused(refused) => Err(refused),
            Transition::Made(settled) => {
                self.notify_changed(probe.prior_state(), &settled);
                if settled.status() == ExecutionStatus::Approved {
                    count_decision(&settled);
                    Ok(*settled)
                } else {
                    Err(StateConflict(settled).into())
                }
            }
        }
    }
}

impl Gate {
    /// Returns the rules that a yes to a request has kept beside it, as they read.
    pub async fn rules_granted_by(&self, approval: &Execution) -> Result<Vec<String>, StoreError> {
        let call = &approval.call();
        let rules = self.inner().store.rules_in(&call.project, Some(&call.session)).await?;
        let own = rules
            .into_iter()
            .filter(|rule| rule.origin == StoredRuleOrigin::Approval(approval.id()));
        Ok(own.map(|rule| rule.rule).collect())
    }
}

/// Only what was shown can be granted: one of the request's own proposals, to the letter.
fn pick_proposal<'a>(
    asked: &'a Execution,
    rules: Option<&[String]>,
) -> Result<&'a GrantProposal, DecideError> {
    let proposals = &asked.basis().proposals;
    let Some(narrowest) = proposals.first() else {
        let why = "this cannot be allowed for good: it is HIGH, or not understood well enough";
        return Err(DecideError::NotAlways(why.to_owned()));
    };
    let Some(rules) = rules else { return Ok(narrowest) };
    proposals.iter().find(|proposal| proposal.rules == rules).ok_or_else(|| {
        let offered: Vec<_> = proposals.iter().map(|it| it.rules.join(", ")).collect();
        let offered = offered.join(" | ");
        DecideError::NotAlways(format!("that rule was not proposed; there are: {offered}"))
    })
}
