//! The rules that are here: files, and what the server keeps where its database is a file of ours.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use countersign_core::rule::{PatternAnchors, RuleSet};
use countersign_core::{
    CallPlan, Executor, InvalidCall, PermissionMode, Policy, ProjectId, Supervision, ToolCall,
    Verdict, VerdictAction, risk,
};
use countersign_gate::{Clock, DatabaseUrl, Project, SystemClock, load_rules, new_id};
use countersign_tools::{Environment, PlannerCatalogue, Workspace};
use serde_json::Value;

use super::{ConsentClient, ConsentRequest};
use crate::cli::ConsentServerArgs;
use crate::{data_paths, environment};

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
    pub(super) why: String,
    /// The input to run instead, where a command is allowed in another form than it was written.
    pub(super) input: Option<Value>,
}

impl LocalPolicy {
    /// Reads the rules that hold in a folder and a conversation.
    pub(super) fn load(
        root: &Path,
        session: &str,
        asking: &ConsentServerArgs,
    ) -> anyhow::Result<Self> {
        let data = asking.records.data.as_deref();
        let own = [data_paths::data_path(data), environment::config_folder()];
        let own = own.into_iter().flatten().map(|it| it.canonicalize().unwrap_or(it));
        let workspace = Workspace::new([root.to_owned()])?.keeping_out_of(own);
        let root = workspace.roots().first().context("a workspace without a root")?.clone();
        let name = root.to_str().context("the project's path is not UTF-8")?;
        let project = Project::from_root(name).id;
        let anchors = PatternAnchors { root: root.clone(), home: environment::home() };
        let files = data_paths::rulebook(data).layers_at(&root);
        let (kept, rules) = match database(asking) {
            RulesDatabase::File(file) => {
                match load_rules(&file, &project, &session.into(), &files, anchors.clone()) {
                    Ok(set) => (Some(set), ServerRulesAccess::Known),
                    Err(error) => {
                        let why = format!("the kept rules cannot be read here: {error}");
                        (None, ServerRulesAccess::Elsewhere(why))
                    }
                }
            }
            RulesDatabase::None if asking.server.is_none() => (None, ServerRulesAccess::Known),
            RulesDatabase::None => (None, ServerRulesAccess::NotHere),
            RulesDatabase::Elsewhere(why) => (None, ServerRulesAccess::Elsewhere(why.to_owned())),
        };
        let set = Arc::new(kept.unwrap_or_else(|| RuleSet::new(files, anchors)));
        let catalogue =
            PlannerCatalogue::new(workspace, Environment::from(environment::for_tools()));
        Ok(Self { project, rules, set, catalogue })
    }

    /// Returns what the rules say of a call in a mode.
    pub(super) fn judge(&self, call: &ConsentRequest, mode: PermissionMode) -> LocalVerdict {
        let call = self.call(call);
        match self.catalogue.planner_of_any(&call.tool_name).plan(&call) {
            Ok(plan) => {
                let canonical = plan.canonical.as_ref().map(|it| it.apply_to_input(&call.input));
                let input = canonical.filter(|input| **input != call.input).map(Cow::into_owned);
                LocalVerdict { input, ..summarize_verdict(&self.verdict(&call, &plan, mode)) }
            }
            Err(InvalidCall(why)) => {
                LocalVerdict { outcome: VerdictAction::Deny, why, input: None }
            }
        }
    }

    /// Returns whether a call would be allowed in a mode.
    pub(super) fn would_allow(&self, call: &ConsentRequest, mode: PermissionMode) -> bool {
        self.judge(call, mode).outcome == VerdictAction::Allow
    }

    fn verdict(&self, call: &ToolCall, plan: &CallPlan, mode: PermissionMode) -> Verdict {
        let stance = Supervision::Attended { auto_approve_read: true };
        let policy = Policy { stance, mode, rules: Arc::clone(&self.set) };
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

/// Where the server's rules are, as far as can be told from here.
enum RulesDatabase {
    File(PathBuf),
    None,
    Elsewhere(&'static str),
}

fn database(asking: &ConsentServerArgs) -> RulesDatabase {
    if asking.server.as_deref().is_some_and(|server| !ConsentClient::is_on_this_machine(server)) {
        return RulesDatabase::Elsewhere("the rules are kept on another machine");
    }
    let file = match asking.records.database.as_deref().map(str::parse) {
        Some(Ok(DatabaseUrl::Sqlite(file))) => file,
        Some(Ok(DatabaseUrl::Postgres(_))) => {
            return RulesDatabase::Elsewhere("the rules are kept in a PostgreSQL");
        }
        Some(Err(_)) => {
            return RulesDatabase::Elsewhere("the database is of no kind that is known");
        }
        None => match data_paths::data_path(asking.records.data.as_deref()) {
            Some(folder) => folder.join("countersign.db"),
            None => return RulesDatabase::None,
        },
    };
    match file.try_exists() {
        Ok(true) => RulesDatabase::File(file),
        Ok(false) => RulesDatabase::None,
        Err(_) => RulesDatabase::Elsewhere("the data folder cannot be looked into"),
    }
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
    LocalVerdict { outcome: verdict.outcome, why, input: None }
}
