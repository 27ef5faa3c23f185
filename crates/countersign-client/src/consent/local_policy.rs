//! The rules that are here: files, and what the server keeps where its database is a file of ours.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::rule::{PatternAnchors, RuleSet};
use countersign_core::{
    CallPlan, Executor, InvalidCall, PermissionMode, ProjectId, Risk, ToolCall, Verdict,
    VerdictAction, VerdictReason, risk,
};
use countersign_gate::{Clock, Project, Rulebook, SubmitOptions, SystemClock, load_rules, new_id};
use countersign_tools::{Environment, NotAFolder, PlannerCatalogue, Workspace};
use serde_json::Value;

use super::ConsentRequest;

/// How many reasons are given.
const SAID: usize = 3;

/// What is known here of the rules that the server keeps.
#[derive(Debug)]
pub(super) enum ServerRulesAccess {
    /// All of them.
    Known,
    /// There is no database here, but a server was named: it may have one.
    NotHere,
    /// They cannot be read here, for this reason: only the server knows.
    Elsewhere(String),
}

/// Where the rules of this machine are, and what its tools may know.
pub struct LocalRulesPlace {
    /// Our own folders: no call may touch them.
    pub own_folders: Vec<PathBuf>,
    /// The files of rules.
    pub rulebook: Rulebook,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// What a tool's process would know.
    pub environment: Environment,
    /// Where the server's rules are.
    pub database: RulesDatabase,
    /// Whether a server was named: it may keep rules that are not here.
    pub is_server_named: bool,
    /// Where Claude Code keeps its plans.
    pub plans: Option<PathBuf>,
}

/// Where the server's rules are, as far as can be told from here.
pub enum RulesDatabase {
    /// In a file that can be read.
    File(PathBuf),
    /// Nowhere: there is none yet.
    None,
    /// Where they cannot be read, for this reason.
    Elsewhere(String),
}

/// Why a folder's rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum LocalPolicyError {
    #[error(transparent)]
    Workspace(#[from] NotAFolder),
    #[error("the project's path is not UTF-8")]
    NotUtf8,
}

/// A project and the rules that hold in it.
pub(super) struct LocalPolicy {
    pub(super) project: ProjectId,
    pub(super) rules: ServerRulesAccess,
    set: Arc<RuleSet>,
    catalogue: PlannerCatalogue,
}

/// What the rules say, in a sentence.
pub(super) struct LocalVerdict {
    pub(super) outcome: VerdictAction,
    /// Whether a person should see the call even if the agent decides on others: a rule says so, or it is
    /// HIGH and nothing allows it.
    pub(super) is_for_a_person: bool,
    pub(super) why: String,
    /// The input to run instead, where a command is allowed in another form than it was written.
    pub(super) input: Option<Value>,
}

impl LocalPolicy {
    /// Reads the rules that hold in a folder and a conversation.
    pub(super) fn load(
        root: &Path,
        session: &str,
        place: &LocalRulesPlace,
    ) -> Result<Self, LocalPolicyError> {
        let own = place.own_folders.iter().map(|it| it.canonicalize().unwrap_or(it.clone()));
        let workspace = Workspace::new([root.to_owned()])?.keeping_out_of(own);
        let root = workspace.roots().first().ok_or(LocalPolicyError::NotUtf8)?.clone();
        let name = root.to_str().ok_or(LocalPolicyError::NotUtf8)?;
        let project = Project::from_root(name).id;
        let anchors = PatternAnchors { root: root.clone(), home: place.home.clone() };
        let files = place.rulebook.layers_at(&root);
        let (kept, rules) = match &place.database {
            RulesDatabase::File(file) => {
                match load_rules(file, &project, &session.into(), &files, anchors.clone()) {
                    Ok(set) => (Some(set), ServerRulesAccess::Known),
                    Err(error) => {
                        let why = format!("the kept rules cannot be read here: {error}");
                        (None, ServerRulesAccess::Elsewhere(why))
                    }
                }
            }
            RulesDatabase::None if place.is_server_named => (None, ServerRulesAccess::NotHere),
            RulesDatabase::None => (None, ServerRulesAccess::Known),
            RulesDatabase::Elsewhere(why) => (None, ServerRulesAccess::Elsewhere(why.clone())),
        };
        let set = Arc::new(kept.unwrap_or_else(|| RuleSet::new(files, anchors)));
        let catalogue = PlannerCatalogue::new(workspace, place.environment.clone());
        Ok(Self { project, rules, set, catalogue })
    }

    /// Returns what the rules say of a call in a mode.
    pub(super) fn judge(&self, call: &ConsentRequest, mode: PermissionMode) -> LocalVerdict {
        let call = self.call(call);
        match self.catalogue.planner_of_any(&call.tool_name).plan(&call) {
            Ok(plan) => {
                let canonical = plan.canonical.as_ref().map(|it| it.apply_to_input(&call.input));
                let input = canonical.filter(|input| **input != call.input).map(Cow::into_owned);
                let verdict = self.verdict(&call, &plan, mode);
                let is_high = risk::assess(&plan.effects) == Risk::High;
                let is_for_a_person = verdict.outcome == VerdictAction::Ask
                    && (is_high || verdict.reasons.iter().any(is_ask_rule));
                LocalVerdict { is_for_a_person, input, ..summarize_verdict(&verdict) }
            }
            Err(InvalidCall(why)) => {
                let outcome = VerdictAction::Deny;
                LocalVerdict { outcome, is_for_a_person: false, why, input: None }
            }
        }
    }

    fn verdict(&self, call: &ToolCall, plan: &CallPlan, mode: PermissionMode) -> Verdict {
        let policy = SubmitOptions::attended().in_mode(mode).into_policy(Arc::clone(&self.set));
        policy.verdict(call, plan, risk::assess(&plan.effects), SystemClock.now())
    }

    fn call(&self, call: &ConsentRequest) -> ToolCall {
        ToolCall {
            id: new_id(),
            project: self.project.clone(),
            session: call.session.as_str().into(),
            run: None,
            tool_use_id: call.tool_use_id.as_deref().unwrap_or_default().into(),
            tool_name: call.tool_name.clone(),
            input: call.input.clone(),
            cwd: call.cwd.clone(),
            executor: Executor::Caller,
            agent: None,
        }
    }
}

fn is_ask_rule(reason: &VerdictReason) -> bool {
    reason.outcome == VerdictAction::Ask && reason.rule.is_some()
}

/// Returns a verdict in a sentence. It goes to whoever made the call, so nothing in it is a secret.
fn summarize_verdict(verdict: &Verdict) -> LocalVerdict {
    let mut once = Vec::new();
    for reason in verdict.reasons.iter().filter(|it| it.outcome == verdict.outcome) {
        if !once.contains(&reason.text.as_str()) {
            once.push(reason.text.as_str());
        }
    }
    let more = once.len().saturating_sub(SAID);
    let mut why = once.into_iter().take(SAID).collect::<Vec<_>>().join("; ");
    if more > 0 {
        why = format!("{why}; and {more} more");
    }
    // A person's words and the policy's are told apart.
    let why = if verdict.outcome == VerdictAction::Deny { format!("Denied: {why}") } else { why };
    LocalVerdict { outcome: verdict.outcome, is_for_a_person: false, why, input: None }
}
