//! "What would this do?": a call planned and judged, and nothing else.

use std::sync::Arc;

use countersign_core::{
    CallPlan, GrantProposal, Planner, Risk, Rule, ToolCall, Verdict, VerdictAction, VerdictReason,
    risk,
};

use crate::gate::Gate;
use crate::gate_error::GateError;
use crate::judging::offer_proposals;
use crate::planner_task::ask_planner;
use crate::submit_options::SubmitOptions;

/// What the gate would say of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallCheck {
    /// The call.
    pub call: ToolCall,
    /// What it would do; nothing is known of one that cannot run as it was made.
    pub plan: CallPlan,
    /// How risky that is.
    pub risk: Risk,
    /// The word on it.
    pub verdict: Verdict,
    /// What "always" could mean.
    pub proposals: Vec<GrantProposal>,
}

impl Gate {
    /// Judges a call without recording, showing or running anything.
    ///
    /// `own` stands in for the project's own rules. A call that no tool can plan is denied.
    pub async fn check(
        &self,
        call: ToolCall,
        planner: Arc<dyn Planner>,
        terms: SubmitOptions,
        own: Option<Vec<Rule>>,
    ) -> Result<CallCheck, GateError> {
        let now = self.inner().clock.now();
        let rules = match own {
            Some(own) => self.rules_with(&call.project, own).await,
            None => self.rules(&call.project, Some(&call.session)).await?,
        };
        let plan = match ask_planner(call.clone(), &planner, <dyn Planner>::plan).await {
            Ok(plan) => plan,
            Err(why) => return Ok(CallCheck::for_invalid_call(call, why)),
        };
        let risk = risk::assess(&plan.effects);
        let policy = terms.into_policy(rules);
        let verdict = policy.verdict(&call, &plan, risk, now);
        let proposals = match verdict.outcome {
            VerdictAction::Ask => offer_proposals(&policy, &call, &plan, &verdict, now),
            VerdictAction::Allow | VerdictAction::Deny => Vec::new(),
        };
        let proposals = self.count_proposal_matches(&call.project, proposals).await?;
        Ok(CallCheck { call, plan, risk, verdict, proposals })
    }
}

impl CallCheck {
    /// Returns what is said of a call that cannot run as it was made.
    pub fn for_invalid_call(call: ToolCall, why: impl Into<String>) -> Self {
        let plan = CallPlan::new(Vec::new(), format!("Use `{}`", call.tool_name));
        let verdict = Verdict::from_reasons(vec![VerdictReason::new(VerdictAction::Deny, why)]);
        Self { call, plan, risk: Risk::High, verdict, proposals: Vec::new() }
    }
}
