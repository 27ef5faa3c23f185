//! Simulation: what other rules would have made of the calls that were recorded.
//!
//! Pure but for reading the record: nothing is planned anew, and no file is looked at.

use std::sync::Arc;

use countersign_core::{
    ApprovedBy, CallPlan, Execution, ExecutionId, ExecutionParts, ExecutionState, PermissionMode,
    ProjectId, Rule, RuleSet, Verdict, VerdictAction,
};
use jiff::Timestamp;

use crate::gate::Gate;
use crate::gate_error::GateError;
use crate::submit_options::SubmitOptions;

/// How many calls had which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictTally {
    /// Those that ran.
    pub allow: usize,
    /// Those that a person was to decide.
    pub ask: usize,
    /// Those that did not run.
    pub deny: usize,
}

/// What a person made of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastDecision {
    /// They said yes.
    Approved,
    /// They said no.
    Rejected,
    /// They said nothing in time.
    Timeout,
    /// It was taken back before they said anything.
    Cancelled,
}

/// A call that other rules would have treated otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedChange {
    /// The call.
    pub execution: ExecutionId,
    /// Its tool.
    pub tool_name: String,
    /// What it would do.
    pub summary: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// What the rules that hold say.
    pub before: VerdictAction,
    /// What the others would.
    pub after: VerdictAction,
    /// What a person said then.
    pub decided: Option<PastDecision>,
    /// Whether it would run although a person rejected it, or be denied although one approved it.
    pub contradicts: bool,
    /// The rules that make the difference.
    pub rules: Vec<String>,
}

/// What other rules would have made of the recorded calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicySimulation {
    /// How many calls were looked at.
    pub replayed: usize,
    /// What the rules that hold say of them.
    pub before: VerdictTally,
    /// What the others would.
    pub after: VerdictTally,
    /// The differences, newest first.
    pub changed: Vec<SimulatedChange>,
}

impl VerdictTally {
    fn count(&mut self, outcome: VerdictAction) {
        match outcome {
            VerdictAction::Allow => self.allow += 1,
            VerdictAction::Ask => self.ask += 1,
            VerdictAction::Deny => self.deny += 1,
        }
    }
}

impl Gate {
    /// Replays a project's latest calls under other rules of its own.
    pub async fn simulate(
        &self,
        project: &ProjectId,
        rules: Vec<Rule>,
        limit: usize,
    ) -> Result<PolicySimulation, GateError> {
        let before = self.rules(project, None).await?;
        let after = self.rules_with(project, rules).await;
        let calls = self.inner().store.recent_executions(project, limit).await?;
        let now = self.inner().clock.now();
        let replaying = tokio::task::spawn_blocking(move || replay(calls, before, after, now));
        replaying.await.map_err(|source| GateError::TaskFailed { doing: "replayed calls", source })
    }
}

fn replay(
    calls: Vec<Execution>,
    before: Arc<RuleSet>,
    after: Arc<RuleSet>,
    now: Timestamp,
) -> PolicySimulation {
    let options = SubmitOptions::attended().in_mode(PermissionMode::Default);
    let [before, after] = [before, after].map(|rules| options.into_policy(rules));
    let mut simulation = PolicySimulation::default();
    for call in calls {
        // A call that could not be planned was refused whatever the rules.
        if call.effects().is_empty() {
            continue;
        }
        let decided = past_decision(&call);
        let ExecutionParts { call, effects, summary, commands, risk, created_at, .. } =
            call.into_parts();
        let plan = CallPlan { commands, ..CallPlan::new(effects, summary) };
        let [was, is] = [&before, &after].map(|policy| policy.verdict(&call, &plan, risk, now));
        simulation.replayed += 1;
        simulation.before.count(was.outcome);
        simulation.after.count(is.outcome);
        if was.outcome != is.outcome {
            let contradicts = matches!(
                (is.outcome, decided),
                (VerdictAction::Allow, Some(PastDecision::Rejected))
                    | (VerdictAction::Deny, Some(PastDecision::Approved))
            );
            simulation.changed.push(SimulatedChange {
                execution: call.id,
                tool_name: call.tool_name,
                summary: plan.summary,
                created_at,
                before: was.outcome,
                after: is.outcome,
                decided,
                contradicts,
                rules: deciding_rules(&was, &is),
            });
        }
    }
    simulation
}

/// The rules that spoke for what is new, or else, where one went, for what was.
fn deciding_rules(was: &Verdict, is: &Verdict) -> Vec<String> {
    let texts = |verdict: &Verdict| {
        let outcome = verdict.outcome;
        let for_it = verdict.reasons.iter().filter(move |reason| reason.outcome == outcome);
        let mut texts: Vec<_> =
            for_it.filter_map(|it| it.rule.as_ref()).map(|rule| rule.rule.clone()).collect();
        texts.dedup();
        texts
    };
    let new = texts(is);
    if new.is_empty() { texts(was) } else { new }
}

/// Returns what a person said; none where nobody was asked.
fn past_decision(call: &Execution) -> Option<PastDecision> {
    let by_person = |by: &ApprovedBy| match by {
        ApprovedBy::Person(_) | ApprovedBy::PersonSaying { .. } | ApprovedBy::Callback => {
            Some(PastDecision::Approved)
        }
        ApprovedBy::Policy | ApprovedBy::AgentPrompt => None,
    };
    match &call.state() {
        ExecutionState::Pending | ExecutionState::AwaitingApproval { .. } => None,
        ExecutionState::Approved { by, .. }
        | ExecutionState::Executing { by, .. }
        | ExecutionState::Completed { by, .. } => by_person(by),
        ExecutionState::Failed { by, .. } => by.as_ref().and_then(by_person),
        ExecutionState::Rejected { .. } => Some(PastDecision::Rejected),
        ExecutionState::Timeout { .. } => Some(PastDecision::Timeout),
        ExecutionState::Cancelled { .. } => {
            (call.verdict().outcome == VerdictAction::Ask).then_some(PastDecision::Cancelled)
        }
    }
}
