//! What was asked before: how much a proposal would have spared people.
//!
//! Kept in memory because it is wanted on every request: the record is read once, and what this gate
//! is handed afterwards is noted as it comes. Only ever shown to people; nothing is decided by it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::rule::{PatternAnchors, RuleLayer, RuleSource};
use countersign_core::{
    CallPlan, Execution, PermissionMode, Policy, ProjectId, Risk, Rule, RuleSet, ToolCall,
    VerdictAction,
};
use jiff::Timestamp;
use serde_json::Value;

use crate::submit_options::SubmitOptions;

/// How many calls back a proposal is tried on.
pub(crate) const WINDOW: usize = 500;

/// How many projects, and proposals of each, are remembered; beyond that all are counted anew.
const MOST: usize = 64;

/// A call that asked, as far as allowing rules look at it.
struct AskedCall {
    call: ToolCall,
    plan: CallPlan,
    risk: Risk,
}

/// The latest calls of one project.
#[derive(Default)]
struct RecentCalls {
    /// Each with its number; none for those that did not ask.
    calls: VecDeque<(u64, Option<Arc<AskedCall>>)>,
    /// Which of them the rules of a proposal would have allowed, up to a number.
    counted: HashMap<Vec<String>, ProposalMatches>,
    /// Whether somebody is counting: the same calls are not tried by many at once.
    being_counted: bool,
}

#[derive(Clone)]
struct ProposalMatches {
    /// The rules, ready to be asked: making them takes longer than asking.
    policy: Arc<Policy>,
    up_to: u64,
    matched: Vec<u64>,
}

/// The latest calls of all projects.
#[derive(Default)]
pub(crate) struct CallHistory(Mutex<HashMap<ProjectId, RecentCalls>>);

impl RecentCalls {
    fn last(&self) -> u64 {
        self.calls.back().map_or(0, |(at, _)| *at)
    }

    fn first(&self) -> u64 {
        self.calls.front().map_or(0, |(at, _)| *at)
    }

    fn push(&mut self, call: &Execution) {
        self.calls.push_back((self.last() + 1, to_asked_call(call)));
        if self.calls.len() > WINDOW {
            self.calls.pop_front();
        }
    }
}

/// The turn to count in a project; others get theirs when it is dropped.
struct CountingGuard<'a> {
    history: &'a CallHistory,
    project: ProjectId,
}

impl Drop for CountingGuard<'_> {
    fn drop(&mut self) {
        if let Some(recent) = self.history.lock().get_mut(&self.project) {
            recent.being_counted = false;
        }
    }
}

impl CallHistory {
    fn lock(&self) -> MutexGuard<'_, HashMap<ProjectId, RecentCalls>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn knows(&self, project: &ProjectId) -> bool {
        self.lock().contains_key(project)
    }

    /// Takes in what the record holds of a project, newest first.
    pub(crate) fn load(&self, project: &ProjectId, calls: &[Execution]) {
        let mut projects = self.lock();
        if projects.len() >= MOST {
            projects.clear();
        }
        let recent = projects.entry(project.clone()).or_default();
        if recent.calls.is_empty() {
            calls.iter().rev().for_each(|call| recent.push(call));
        }
    }

    /// Notes a call that was judged. Before the record was read there is nothing to add to.
    pub(crate) fn record_call(&self, call: &Execution) {
        if let Some(recent) = self.lock().get_mut(&call.call().project) {
            recent.push(call);
        }
    }

    /// Returns what is counted already of a proposal's rules.
    fn cached_matches(&self, project: &ProjectId, rules: &[String]) -> Option<ProposalMatches> {
        self.lock().get(project)?.counted.get(rules).cloned()
    }

    /// Returns the first and the last number there is, and the calls after one.
    fn calls_after(
        &self,
        project: &ProjectId,
        number: u64,
    ) -> (u64, u64, Vec<(u64, Arc<AskedCall>)>) {
        let projects = self.lock();
        let Some(recent) = projects.get(project) else { return Default::default() };
        let new = recent.calls.iter().rev().take_while(|(at, _)| *at > number);
        let new = new.filter_map(|(at, call)| Some((*at, call.clone()?))).collect();
        (recent.first(), recent.last(), new)
    }

    /// Returns how many calls are left to try on some rules.
    pub(crate) fn count_untried(&self, project: &ProjectId, rules: &[String]) -> usize {
        let up_to = self.cached_matches(project, rules).map_or(0, |counted| counted.up_to);
        self.calls_after(project, up_to).2.len()
    }

    fn store_matches(&self, project: &ProjectId, rules: &[String], counted: ProposalMatches) {
        if let Some(recent) = self.lock().get_mut(project) {
            if recent.counted.len() >= MOST {
                recent.counted.clear();
            }
            recent.counted.insert(rules.to_vec(), counted);
        }
    }

    /// Takes the turn to count; none if somebody else has it.
    fn begin_counting(&self, project: &ProjectId) -> Option<CountingGuard<'_>> {
        let mut projects = self.lock();
        let recent = projects.get_mut(project).filter(|recent| !recent.being_counted)?;
        recent.being_counted = true;
        Some(CountingGuard { history: self, project: project.clone() })
    }

    /// Counts the calls that a proposal's rules would have allowed where they asked.
    ///
    /// While somebody else counts, what is known already has to do: it is a moment old.
    pub(crate) fn count(
        &self,
        project: &ProjectId,
        rules: &[String],
        anchors: &PatternAnchors,
        now: Timestamp,
    ) -> u64 {
        let known = self.cached_matches(project, rules);
        let turn = self.begin_counting(project);
        if let (None, Some(counted)) = (&turn, &known) {
            return counted.matched.len() as u64;
        }
        let Some(mut counted) = known.or_else(|| new_matches(rules, anchors)) else { return 0 };
        let (first, last, new) = self.calls_after(project, counted.up_to);
        let allowed = new.iter().filter(|(_, asked)| {
            let AskedCall { call, plan, risk } = &**asked;
            counted.policy.verdict(call, plan, *risk, now).outcome == VerdictAction::Allow
        });
        counted.matched.extend(allowed.map(|(at, _)| *at));
        counted.matched.retain(|at| *at >= first);
        counted.up_to = last;
        let count = counted.matched.len() as u64;
        self.store_matches(project, rules, counted);
        count
    }
}

fn new_matches(rules: &[String], anchors: &PatternAnchors) -> Option<ProposalMatches> {
    let rules = rules.iter().map(|text| Rule::parse(VerdictAction::Allow, text));
    let rules = rules.collect::<Result<Vec<_>, _>>().ok()?;
    let set =
        RuleSet::new(vec![RuleLayer::from_rules(RuleSource::Session, rules)], anchors.clone());
    let policy =
        SubmitOptions::attended().in_mode(PermissionMode::Default).into_policy(Arc::new(set));
    Some(ProposalMatches { policy: Arc::new(policy), up_to: 0, matched: Vec::new() })
}

/// Keeps of a call what allowing rules look at, which is not its input: that may be long.
fn to_asked_call(approval: &Execution) -> Option<Arc<AskedCall>> {
    if approval.verdict().outcome != VerdictAction::Ask || approval.effects().is_empty() {
        return None;
    }
    let call = approval.call();
    let call = ToolCall {
        input: Value::Null,
        id: call.id,
        project: call.project.clone(),
        session: call.session.clone(),
        run: call.run,
        tool_use_id: call.tool_use_id.clone(),
        tool_name: call.tool_name.clone(),
        cwd: call.cwd.clone(),
        executor: countersign_core::Executor::Local,
        agent: None,
    };
    let commands = approval.commands().to_vec();
    let plan = CallPlan { commands, ..CallPlan::new(approval.effects().to_vec(), "") };
    Some(Arc::new(AskedCall { call, plan, risk: approval.risk() }))
}
