//! The judge: a workspace, its rules, and the verdict on a call in it.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use countersign_core::rule::{PatternAnchors, RuleLayer, RuleSet};
use countersign_core::{
    CallPlan, GrantProposal, InvalidCall, PermissionMode, Policy, Risk, Supervision, ToolCall,
    Verdict, VerdictAction, VerdictReason, propose_grants, risk,
};
use countersign_gate::{Clock, SystemClock, new_id};
use countersign_tools::{Environment, PlannerCatalogue, Workspace};
use serde_json::Value;

use super::layers;
use crate::cli::PolicySourceArgs;
use crate::hint::HintExt;
use crate::{data_paths, environment};

/// Judges calls of one workspace, as its server would.
pub(crate) struct PolicyEvaluator {
    catalogue: PlannerCatalogue,
    root: PathBuf,
    anchors: PatternAnchors,
    terms: EvaluationTerms,
}

/// What a call is judged by.
#[derive(Clone)]
pub(crate) struct EvaluationTerms {
    pub(crate) rules: Arc<RuleSet>,
    /// None: as the rules say.
    pub(crate) mode: Option<PermissionMode>,
    /// Variables the call brings along.
    pub(crate) env: Vec<(String, String)>,
}

/// A call and everything that was said of it.
pub(crate) struct CallEvaluation {
    pub(crate) call: ToolCall,
    pub(crate) plan: CallPlan,
    pub(crate) risk: Risk,
    pub(crate) verdict: Verdict,
}

impl PolicyEvaluator {
    pub(crate) fn new(
        rulings: &PolicySourceArgs,
        mode: Option<PermissionMode>,
    ) -> anyhow::Result<Self> {
        let own = [environment::data_folder(), environment::config_folder()];
        let own = own.into_iter().flatten().map(|it| it.canonicalize().unwrap_or(it));
        let workspace = Workspace::new([rulings.root.clone()])
            .hint("give --root a folder that exists")?
            .keeping_out_of(own);
        let root = workspace.roots().first().context("a workspace without a root")?.clone();
        let anchors = PatternAnchors { root: root.clone(), home: environment::home() };
        let layers = match &rulings.rules {
            Some(file) => vec![layers::load_rule_file(file, &anchors)?],
            None => data_paths::rulebook(None).layers_at(&root),
        };
        let rules = Arc::new(RuleSet::new(layers, anchors.clone()));
        let catalogue =
            PlannerCatalogue::new(workspace, Environment::from(environment::for_tools()));
        Ok(Self {
            catalogue,
            root,
            anchors,
            terms: EvaluationTerms { rules, mode, env: Vec::new() },
        })
    }

    /// Returns the workspace's folder, links resolved.
    pub(crate) fn root(&self) -> &std::path::Path {
        &self.root
    }

    pub(crate) fn anchors(&self) -> &PatternAnchors {
        &self.anchors
    }

    /// Returns what calls are judged by unless they say otherwise.
    pub(crate) fn terms(&self) -> &EvaluationTerms {
        &self.terms
    }

    /// Returns the verdict on a call: what was read of its input, or why that could not be read.
    pub(crate) fn judge(
        &self,
        tool: &str,
        input: Result<Value, InvalidCall>,
        terms: &EvaluationTerms,
    ) -> CallEvaluation {
        let (input, unread) = match input {
            Ok(input) => (input, None),
            Err(why) => (Value::Null, Some(why)),
        };
        let call = self.call(tool, input);
        let planned = match unread {
            Some(why) => Err(why),
            None => self.plan(&call, terms),
        };
        match planned {
            Ok(plan) => {
                let risk = risk::assess(&plan.effects);
                let policy = Policy {
                    stance: Supervision::Attended { auto_approve_read: true },
                    mode: terms.mode.unwrap_or_else(|| terms.rules.mode()),
                    rules: Arc::clone(&terms.rules),
                };
                let verdict = policy.verdict(&call, &plan, risk, SystemClock.now());
                CallEvaluation { call, plan, risk, verdict }
            }
            Err(why) => CallEvaluation::from_invalid(call, why),
        }
    }

    /// Returns what "always" could mean for a call, narrowest first.
    pub(crate) fn proposals(&self, judged: &CallEvaluation) -> Vec<GrantProposal> {
        let CallEvaluation { call, plan, risk, .. } = judged;
        propose_grants(call, plan, *risk, &self.anchors, SystemClock.now())
    }

    /// Returns terms by which these layers hold, and no others.
    pub(crate) fn rule_set(&self, layers: Vec<RuleLayer>) -> Arc<RuleSet> {
        Arc::new(RuleSet::new(layers, self.anchors.clone()))
    }

    fn plan(&self, call: &ToolCall, terms: &EvaluationTerms) -> Result<CallPlan, InvalidCall> {
        let planner = if terms.env.is_empty() {
            self.catalogue.planner(&call.tool_name)
        } else {
            self.catalogue.clone().with_call_env(terms.env.clone()).planner(&call.tool_name)
        };
        let tool = call.tool_name.escape_debug();
        planner.ok_or_else(|| InvalidCall(format!("no tool is called `{tool}`")))?.plan(call)
    }

    fn call(&self, tool: &str, input: Value) -> ToolCall {
        ToolCall {
            id: new_id(),
            project: "policy".into(),
            session: "policy".into(),
            run: None,
            tool_use_id: "policy".into(),
            tool_name: tool.to_owned(),
            input,
            cwd: self.root.clone(),
            executor: countersign_core::Executor::Local,
            agent: None,
        }
    }
}

impl CallEvaluation {
    /// A call that cannot be made as it is: no rule and no mode lets it run.
    pub(crate) fn from_invalid(call: ToolCall, InvalidCall(why): InvalidCall) -> Self {
        let reason =
            VerdictReason::new(VerdictAction::Deny, why.clone()).with_remedy("another call");
        let verdict = Verdict::from_reasons(vec![reason]);
        Self { call, plan: CallPlan::new(Vec::new(), why), risk: Risk::High, verdict }
    }

    /// Adds a call that this one leads to: what is said of the worse one holds for both.
    #[must_use]
    pub(crate) fn merge(self, next: Self) -> Self {
        let Self { call, mut plan, risk, verdict } = self;
        plan.effects.extend(next.plan.effects);
        let reasons = verdict.reasons.into_iter().chain(next.verdict.reasons).collect();
        Self { call, plan, risk: risk.max(next.risk), verdict: Verdict::from_reasons(reasons) }
    }
}
