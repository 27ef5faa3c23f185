//! Judging a call: what its tool says it would do, and what the policy says of that.

use std::sync::Arc;

use countersign_core::{
    CallPlan, CommandPreview, DecisionContext, ExecutionDraft, GrantProposal, PartPreview,
    PermissionMode, Planner, Policy, Preview, Risk, Supervision, ToolCall, Verdict, VerdictAction,
    VerdictReason, mask_text, propose_grants, risk,
};
use jiff::Timestamp;

use crate::call_metrics::record_verdict;
use crate::gate::Gate;
use crate::planner_task::ask_planner;
use crate::submit_options::{CallTerms, SubmitOptions};

impl Gate {
    /// Plans a call and judges it; the error is why it cannot run as it was made.
    pub(crate) async fn plan_and_judge(
        &self,
        draft: ExecutionDraft,
        terms: &CallTerms,
    ) -> Result<ExecutionDraft, String> {
        let began = self.inner().clock.running_for();
        let judged = self.find_verdict(draft, terms).await;
        let took = self.inner().clock.running_for().saturating_sub(began);
        record_verdict(judged.as_ref().ok().map(|judged| judged.verdict().outcome), took);
        judged
    }

    async fn find_verdict(
        &self,
        draft: ExecutionDraft,
        terms: &CallTerms,
    ) -> Result<ExecutionDraft, String> {
        let now = self.inner().clock.now();
        let call = draft.call().clone();
        let plan = ask_planner(call.clone(), &terms.planner, <dyn Planner>::plan).await?;
        let risk = risk::assess(&plan.effects);
        let plan = CallPlan { summary: mask_text(&plan.summary), ..plan };
        let policy = self.policy(&call, terms.options).await;
        let verdict = policy.verdict(&call, &plan, risk, now).mask_secrets();
        let verdict = terms.question.apply_to_verdict(verdict);
        let basis = draft.basis().clone();
        let basis = match verdict.outcome {
            VerdictAction::Ask => {
                let basis =
                    self.fill_decision_context(basis, &policy, &call, &plan, &verdict).await;
                terms.question.add_suggestions(basis)
            }
            VerdictAction::Allow | VerdictAction::Deny => basis,
        };
        Ok(draft.with_plan(plan, risk).with_verdict(verdict).with_context(basis))
    }

    /// Adds the preview to a judged call: what a person needs to see, bound to what it was computed
    /// from. The error is why there is none.
    pub(crate) async fn attach_preview(
        &self,
        judged: ExecutionDraft,
        planner: &Arc<dyn Planner>,
    ) -> Result<ExecutionDraft, (ExecutionDraft, String)> {
        let call = judged.call().clone();
        let preview = match ask_planner(call, planner, <dyn Planner>::preview).await {
            Ok(Preview::Command(command)) => {
                let parts = PartPreview::for_commands(judged.commands(), judged.verdict());
                let canonical = judged.canonical().map(|it| it.text.clone());
                Preview::Command(CommandPreview { parts, canonical, ..command })
            }
            Ok(preview) => preview,
            Err(why) => return Err((judged, why)),
        };
        Ok(judged.with_preview(preview.mask_secrets()))
    }

    /// Returns the policy that applies to a call.
    async fn policy(&self, call: &ToolCall, options: SubmitOptions) -> Policy {
        if options.heeds_rules() {
            options.into_policy(self.rules_or_ask(&call.project, &call.session).await)
        } else {
            options.into_policy(Policy::without_rules(options.stance).rules)
        }
    }

    /// Returns what a request depends on, with the rules it was judged by and what "always" could mean.
    async fn fill_decision_context(
        &self,
        before: DecisionContext,
        policy: &Policy,
        call: &ToolCall,
        plan: &CallPlan,
        verdict: &Verdict,
    ) -> DecisionContext {
        if !SubmitOptions::from(policy.stance).heeds_rules() {
            return before;
        }
        let proposals = offer_proposals(policy, call, plan, verdict, self.inner().clock.now());
        let counted = self.count_proposal_matches(&call.project, proposals.clone()).await;
        let proposals = counted.unwrap_or_else(|error| {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "how often proposals would have matched could not be counted");
            proposals
        });
        DecisionContext { rules: Some(policy.rules.version().clone()), proposals, ..before }
    }
}

/// Returns what "always" could mean for a call that asks: only what would make a difference.
///
/// Where a rule asks, or one cannot be read, or the mode heeds no rules, no further rule helps.
pub(crate) fn offer_proposals(
    policy: &Policy,
    call: &ToolCall,
    plan: &CallPlan,
    verdict: &Verdict,
    now: Timestamp,
) -> Vec<GrantProposal> {
    let risk = risk::assess(&plan.effects);
    let Policy { stance, mode, rules } = policy;
    let reads_ask =
        *stance == Supervision::Attended { auto_approve_read: false } && risk == Risk::Low;
    let by_rule =
        |reason: &VerdictReason| reason.outcome == VerdictAction::Ask && reason.rule.is_some();
    let firm = rules.unreadable_layers().next().is_some() || verdict.reasons.iter().any(by_rule);
    if reads_ask || firm || *mode == PermissionMode::Plan {
        return Vec::new();
    }
    propose_grants(call, plan, risk, rules.anchors(), now)
}
