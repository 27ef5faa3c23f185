//! "What would this do?": a call planned and judged, and nothing else.

use std::sync::Arc;

use countersign_core::{
    Outcome, Plan, Planner, Proposal, Reason, Risk, Rule, ToolCall, Verdict, risk,
};

use crate::gate::Gate;
use crate::rules::{Terms, offered};
use crate::store::StoreError;
use crate::submit::off_runtime;

/// What the gate would say of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The call.
    pub call: ToolCall,
    /// What it would do; nothing is known of one that cannot run as it was made.
    pub plan: Plan,
    /// How risky that is.
    pub risk: Risk,
    /// The word on it.
    pub verdict: Verdict,
    /// What "always" could mean.
    pub proposals: Vec<Proposal>,
}

impl Gate {
    /// Judges a call without recording, showing or running anything.
    ///
    /// `own` stands in for the project's own rules. A call that no tool can plan is denied.
    pub async fn check(
        &self,
        call: ToolCall,
        planner: Arc<dyn Planner>,
        terms: Terms,
        own: Option<Vec<Rule>>,
    ) -> Result<Checked, StoreError> {
        let now = self.inner().clock.now();
        let rules = match own {
            Some(own) => self.rules_with(&call.project, own).await,
            None => self.rules(&call.project, Some(&call.session)).await?,
        };
        let plan = match off_runtime(call.clone(), &planner, <dyn Planner>::plan).await {
            Ok(plan) => plan,
            Err(why) => return Ok(Checked::refused(call, why)),
        };
        let risk = risk::assess(&plan.effects);
        let policy = terms.under(rules);
        let verdict = policy.verdict(&call, &plan, risk, now);
        let proposals = match verdict.outcome {
            Outcome::Ask => offered(&policy, &call, &plan, &verdict, now),
            Outcome::Allow | Outcome::Deny => Vec::new(),
        };
        let proposals = self.counted(&call.project, proposals).await?;
        Ok(Checked { call, plan, risk, verdict, proposals })
    }
}

impl Checked {
    /// Returns what is said of a call that cannot run as it was made.
    pub fn refused(call: ToolCall, why: impl Into<String>) -> Self {
        let plan = Plan::new(Vec::new(), format!("Use `{}`", call.tool_name));
        let verdict = Verdict::from_reasons(vec![Reason::new(Outcome::Deny, why)]);
        Self { call, plan, risk: Risk::High, verdict, proposals: Vec::new() }
    }
}
