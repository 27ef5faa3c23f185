//! What would be said of a call: a workspace, its rules, and the verdict. Nothing runs, nothing is kept.

mod call_row;
mod row_overrides;
mod rule_file;

use std::path::PathBuf;
use std::sync::Arc;

use countersign_core::rule::{PatternAnchors, RuleLayer, RuleSet};
use countersign_core::{
    CallPlan, GrantProposal, InvalidCall, PermissionMode, Risk, ToolCall, Verdict, VerdictAction,
    VerdictReason, propose_grants, risk,
};
use countersign_gate::{Clock, Rulebook, SubmitOptions, SystemClock, new_id};
use countersign_tools::{Environment, NotAFolder, PlannerCatalogue, Workspace};
use serde_json::Value;

pub use self::call_row::CallRow;
pub use self::rule_file::{RuleFileError, load_rule_file};

/// Where calls are judged, and by what.
pub struct EvaluationPlace {
    /// The workspace.
    pub root: PathBuf,
    /// A file of rules to go by instead of the workspace's.
    pub rules: Option<PathBuf>,
    /// The files of rules of this machine.
    pub rulebook: Rulebook,
    /// Our own folders: no call may touch them.
    pub own_folders: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// What a tool's process would know.
    pub environment: Environment,
}

/// Why calls cannot be judged there.
#[derive(Debug, thiserror::Error)]
pub enum EvaluatorError {
    /// The workspace is no folder.
    #[error(transparent)]
    Root(#[from] NotAFolder),
    /// The file of rules cannot be read.
    #[error(transparent)]
    Rules(#[from] RuleFileError),
}

/// Judges calls of one workspace, as its server would.
pub struct PolicyEvaluator {
    catalogue: PlannerCatalogue,
    root: PathBuf,
    anchors: PatternAnchors,
    terms: EvaluationTerms,
}

/// What a call is judged by.
#[derive(Clone)]
pub struct EvaluationTerms {
    /// The rules.
    pub rules: Arc<RuleSet>,
    /// None: as the rules say.
    pub mode: Option<PermissionMode>,
    /// Variables the call brings along.
    pub env: Vec<(String, String)>,
    /// The folder the call is made in; none for the root.
    pub cwd: Option<PathBuf>,
}

/// A call and everything that was said of it.
pub struct CallEvaluation {
    /// The call.
    pub call: ToolCall,
    /// What it would do.
    pub plan: CallPlan,
    /// How risky that is.
    pub risk: Risk,
    /// What is said of it.
    pub verdict: Verdict,
}

impl PolicyEvaluator {
    /// Returns who judges calls in a workspace, by its rules or by those of one file.
    pub fn new(
        place: EvaluationPlace,
        mode: Option<PermissionMode>,
    ) -> Result<Self, EvaluatorError> {
        let EvaluationPlace { root, rules, rulebook, own_folders, home, environment } = place;
        let own = own_folders.into_iter().map(|it| it.canonicalize().unwrap_or(it));
        let workspace = Workspace::new([root.clone()])?.keeping_out_of(own);
        let root = workspace.roots().first().cloned().unwrap_or(root);
        let anchors = PatternAnchors { root: root.clone(), home };
        let layers = match &rules {
            Some(file) => vec![load_rule_file(file, &anchors)?],
            None => rulebook.layers_at(&root),
        };
        let rules = Arc::new(RuleSet::new(layers, anchors.clone()));
        let catalogue = PlannerCatalogue::new(workspace, environment);
        let terms = EvaluationTerms { rules, mode, env: Vec::new(), cwd: None };
        Ok(Self { catalogue, root, anchors, terms })
    }

    /// Returns the workspace's folder, links resolved.
    pub fn root(&self) -> &std::path::Path {
        &self.root
    }

    /// Returns where patterns of rules start from.
    pub fn anchors(&self) -> &PatternAnchors {
        &self.anchors
    }

    /// Returns what calls are judged by unless they say otherwise.
    pub fn terms(&self) -> &EvaluationTerms {
        &self.terms
    }

    /// Returns the verdict on a call: what was read of its input, or why that could not be read.
    pub fn judge(
        &self,
        tool: &str,
        input: Result<Value, InvalidCall>,
        terms: &EvaluationTerms,
    ) -> CallEvaluation {
        let (input, unread) = match input {
            Ok(input) => (input, None),
            Err(why) => (Value::Null, Some(why)),
        };
        let call = self.call(tool, input, terms);
        let planned = match unread {
            Some(why) => Err(why),
            None => self.plan(&call, terms),
        };
        match planned {
            Ok(plan) => {
                let risk = risk::assess(&plan.effects);
                let options = SubmitOptions::attended().in_mode(terms.mode);
                let policy = options.into_policy(Arc::clone(&terms.rules));
                let verdict = policy.verdict(&call, &plan, risk, SystemClock.now());
                CallEvaluation { call, plan, risk, verdict }
            }
            Err(why) => CallEvaluation::from_invalid(call, why),
        }
    }

    /// Returns what "always" could mean for a call, narrowest first.
    pub fn proposals(&self, judged: &CallEvaluation) -> Vec<GrantProposal> {
        let CallEvaluation { call, plan, risk, .. } = judged;
        propose_grants(call, plan, *risk, &self.anchors, SystemClock.now())
    }

    /// Returns terms by which these layers hold, and no others.
    pub fn rule_set(&self, layers: Vec<RuleLayer>) -> Arc<RuleSet> {
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

    fn call(&self, tool: &str, input: Value, terms: &EvaluationTerms) -> ToolCall {
        ToolCall {
            id: new_id(),
            project: "policy".into(),
            session: "policy".into(),
            run: None,
            tool_use_id: "policy".into(),
            tool_name: tool.to_owned(),
            input,
            cwd: terms.cwd.clone().unwrap_or_else(|| self.root.clone()),
            executor: countersign_core::Executor::Local,
            agent: None,
        }
    }
}

impl CallEvaluation {
    /// A call that cannot be made as it is: no rule and no mode lets it run.
    pub fn from_invalid(call: ToolCall, InvalidCall(why): InvalidCall) -> Self {
        let reason =
            VerdictReason::new(VerdictAction::Deny, why.clone()).with_remedy("another call");
        let verdict = Verdict::from_reasons(vec![reason]);
        Self { call, plan: CallPlan::new(Vec::new(), why), risk: Risk::High, verdict }
    }

    /// Adds a call that this one leads to: what is said of the worse one holds for both.
    #[must_use]
    pub fn merge(self, next: Self) -> Self {
        let Self { call, mut plan, risk, verdict } = self;
        plan.effects.extend(next.plan.effects);
        let reasons = verdict.reasons.into_iter().chain(next.verdict.reasons).collect();
        Self { call, plan, risk: risk.max(next.risk), verdict: Verdict::from_reasons(reasons) }
    }
}
