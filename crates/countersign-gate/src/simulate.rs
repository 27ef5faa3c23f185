//! Simulation: what other rules would have made of the calls that were recorded.
//!
//! Pure but for reading the record: nothing is planned anew, and no file is looked at.

use std::sync::Arc;

use countersign_core::{
    Approval, By, ExecutionId, Mode, Outcome, Plan, Policy, ProjectId, Rule, RuleSet, Stance,
    State, Verdict,
};
use jiff::Timestamp;

use crate::gate::Gate;
use crate::store::StoreError;

/// How many calls had which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Those that ran.
    pub allow: usize,
    /// Those that a person was to decide.
    pub ask: usize,
    /// Those that did not run.
    pub deny: usize,
}

/// What a person made of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
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
pub struct Change {
    /// The call.
    pub execution: ExecutionId,
    /// Its tool.
    pub tool_name: String,
    /// What it would do.
    pub summary: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// What the rules that hold say.
    pub before: Outcome,
    /// What the others would.
    pub after: Outcome,
    /// What a person said then.
    pub decided: Option<Decided>,
    /// Whether it would run although a person rejected it, or be denied although one approved it.
    pub contradicts: bool,
    /// The rules that make the difference.
    pub rules: Vec<String>,
}

/// What other rules would have made of the recorded calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simulation {
    /// How many calls were looked at.
    pub replayed: usize,
    /// What the rules that hold say of them.
    pub before: Tally,
    /// What the others would.
    pub after: Tally,
    /// The differences, newest first.
    pub changed: Vec<Change>,
}

impl Tally {
    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Allow => self.allow += 1,
            Outcome::Ask => self.ask += 1,
            Outcome::Deny => self.deny += 1,
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
    ) -> Result<Simulation, StoreError> {
        let before = self.rules(project, None).await?;
        let after = self.rules_with(project, rules).await;
        let calls = self.inner().store.recent(project, limit).await?;
        let now = self.inner().clock.now();
        let replaying = tokio::task::spawn_blocking(move || replay(calls, before, after, now));
        replaying.await.map_err(|error| StoreError::corrupt("call", error))
    }
}

fn replay(
    calls: Vec<Approval>,
    before: Arc<RuleSet>,
    after: Arc<RuleSet>,
    now: Timestamp,
) -> Simulation {
    let stance = Stance::Attended { auto_approve_read: true };
    let [before, after] =
        [before, after].map(|rules| Policy { stance, mode: Mode::Default, rules });
    let mut simulation = Simulation::default();
    for call in calls {
        // A call that could not be planned was refused whatever the rules.
        if call.effects.is_empty() {
            continue;
        }
        let decided = decided(&call);
        let Approval { call, effects, summary, commands, risk, created_at, .. } = call;
        let plan = Plan { commands, ..Plan::new(effects, summary) };
        let [was, is] = [&before, &after].map(|policy| policy.verdict(&call, &plan, risk, now));
        simulation.replayed += 1;
        simulation.before.count(was.outcome);
        simulation.after.count(is.outcome);
        if was.outcome != is.outcome {
            let contradicts = matches!(
                (is.outcome, decided),
                (Outcome::Allow, Some(Decided::Rejected))
                    | (Outcome::Deny, Some(Decided::Approved))
            );
            simulation.changed.push(Change {
                execution: call.id,
                tool_name: call.tool_name,
                summary: plan.summary,
                created_at,
                before: was.outcome,
                after: is.outcome,
                decided,
                contradicts,
                rules: speaking(&was, &is),
            });
        }
    }
    simulation
}

/// The rules that spoke for what is new, or else, where one went, for what was.
fn speaking(was: &Verdict, is: &Verdict) -> Vec<String> {
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
fn decided(call: &Approval) -> Option<Decided> {
    let by_person = |by: &By| match by {
        By::Person(_) | By::PersonSaying { .. } | By::Callback => Some(Decided::Approved),
        By::Policy | By::AgentPrompt => None,
    };
    match &call.state {
        State::Pending | State::AwaitingApproval { .. } => None,
        State::Approved { by, .. } | State::Executing { by, .. } | State::Completed { by, .. } => {
            by_person(by)
        }
        State::Failed { by, .. } => by.as_ref().and_then(by_person),
        State::Rejected { .. } => Some(Decided::Rejected),
        State::Timeout { .. } => Some(Decided::Timeout),
        State::Cancelled { .. } => {
            (call.verdict.outcome == Outcome::Ask).then_some(Decided::Cancelled)
        }
    }
}
