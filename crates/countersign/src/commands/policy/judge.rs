//! The judge: a workspace, its rules, and the verdict on a call in it.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use countersign_core::rule::{Anchors, Layer, RuleSet};
use countersign_core::{
    Invalid, Mode, Outcome, Plan, Policy, Proposal, Reason, Risk, Stance, ToolCall, Verdict,
    proposals, risk,
};
use countersign_gate::{Clock, SystemClock, new_id};
use countersign_tools::{Catalogue, Environment, Workspace};
use serde_json::Value;

use super::layers;
use crate::cli::Rulings;
use crate::hint::Hint;
use crate::{environment, record};

/// Judges calls of one workspace, as its server would.
pub(crate) struct Judge {
    catalogue: Catalogue,
    root: PathBuf,
    anchors: Anchors,
    terms: Terms,
}

/// What a call is judged by.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) rules: Arc<RuleSet>,
    /// None: as the rules say.
    pub(crate) mode: Option<Mode>,
    /// Variables the call brings along.
    pub(crate) env: Vec<(String, String)>,
}

/// A call and everything that was said of it.
pub(crate) struct Judged {
    pub(crate) call: ToolCall,
    pub(crate) plan: Plan,
    pub(crate) risk: Risk,
    pub(crate) verdict: Verdict,
}

impl Judge {
    pub(crate) fn new(rulings: &Rulings, mode: Option<Mode>) -> anyhow::Result<Self> {
        let own = [environment::data_folder(), environment::config_folder()];
        let own = own.into_iter().flatten().map(|it| it.canonicalize().unwrap_or(it));
        let workspace = Workspace::new([rulings.root.clone()])
            .hint("give --root a folder that exists")?
            .keeping_out_of(own);
        let root = workspace.roots().first().context("a workspace without a root")?.clone();
        let anchors = Anchors { root: root.clone(), home: environment::home() };
        let layers = match &rulings.rules {
            Some(file) => vec![layers::of_file(file, &anchors)?],
            None => record::rulebook(None).layers_at(&root),
        };
        let rules = Arc::new(RuleSet::new(layers, anchors.clone()));
        let catalogue = Catalogue::new(workspace, Environment::from(environment::for_tools()));
        Ok(Self { catalogue, root, anchors, terms: Terms { rules, mode, env: Vec::new() } })
    }

    /// Returns the workspace's folder, links resolved.
    pub(crate) fn root(&self) -> &std::path::Path {
        &self.root
    }

    pub(crate) fn anchors(&self) -> &Anchors {
        &self.anchors
    }

    /// Returns what calls are judged by unless they say otherwise.
    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns the verdict on a call: what was read of its input, or why that could not be read.
    pub(crate) fn judge(&self, tool: &str, input: Result<Value, Invalid>, terms: &Terms) -> Judged {
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
                    stance: Stance::Attended { auto_approve_read: true },
                    mode: terms.mode.unwrap_or_else(|| terms.rules.mode()),
                    rules: Arc::clone(&terms.rules),
                };
                let verdict = policy.verdict(&call, &plan, risk, SystemClock.now());
                Judged { call, plan, risk, verdict }
            }
            Err(why) => Judged::refused(call, why),
        }
    }

    /// Returns what "always" could mean for a call, narrowest first.
    pub(crate) fn proposals(&self, judged: &Judged) -> Vec<Proposal> {
        let Judged { call, plan, risk, .. } = judged;
        proposals(call, plan, *risk, &self.anchors, SystemClock.now())
    }

    /// Returns terms by which these layers hold, and no others.
    pub(crate) fn rules_of(&self, layers: Vec<Layer>) -> Arc<RuleSet> {
        Arc::new(RuleSet::new(layers, self.anchors.clone()))
    }

    fn plan(&self, call: &ToolCall, terms: &Terms) -> Result<Plan, Invalid> {
        let planner = if terms.env.is_empty() {
            self.catalogue.planner(&call.tool_name)
        } else {
            self.catalogue.clone().with_call_env(terms.env.clone()).planner(&call.tool_name)
        };
        let tool = call.tool_name.escape_debug();
        planner.ok_or_else(|| Invalid(format!("no tool is called `{tool}`")))?.plan(call)
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

impl Judged {
    /// A call that cannot be made as it is: no rule and no mode lets it run.
    pub(crate) fn refused(call: ToolCall, Invalid(why): Invalid) -> Self {
        let reason = Reason::new(Outcome::Deny, why.clone()).unless("another call");
        let verdict = Verdict::from_reasons(vec![reason]);
        Self { call, plan: Plan::new(Vec::new(), why), risk: Risk::High, verdict }
    }

    /// Adds a call that this one leads to: what is said of the worse one holds for both.
    #[must_use]
    pub(crate) fn and(self, next: Self) -> Self {
        let Self { call, mut plan, risk, verdict } = self;
        plan.effects.extend(next.plan.effects);
        let reasons = verdict.reasons.into_iter().chain(next.verdict.reasons).collect();
        Self { call, plan, risk: risk.max(next.risk), verdict: Verdict::from_reasons(reasons) }
    }
}
