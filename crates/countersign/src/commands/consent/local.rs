//! The rules that are here: files, and what the server keeps where its database is a file of ours.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use countersign_core::rule::{Anchors, RuleSet};
use countersign_core::{
    Executor, Invalid, Mode, Outcome, Plan, Policy, ProjectId, Stance, ToolCall, Verdict, risk,
};
use countersign_gate::{Clock, DatabaseUrl, Project, SystemClock, new_id, rules_at};
use countersign_tools::{Catalogue, Environment, Workspace};
use serde_json::Value;

use super::{Call, Server};
use crate::cli::Asking;
use crate::{environment, record};

/// How many reasons are given.
const SAID: usize = 3;

/// What is known here of the rules that the server keeps.
#[derive(Debug)]
pub(super) enum Rules {
    /// All of them.
    Known,
    /// There is no database here, but a server was named: it may have one.
    NotHere,
    /// They cannot be read here, for this reason: only the server knows.
    Elsewhere(String),
}

/// A project and the rules that hold in it.
pub(super) struct Local {
    pub(super) project: ProjectId,
    pub(super) rules: Rules,
    set: Arc<RuleSet>,
    catalogue: Catalogue,
}

/// What the rules say, in a sentence.
pub(super) struct Judged {
    pub(super) outcome: Outcome,
    pub(super) why: String,
    /// The input to run instead, where a command is allowed in another form than it was written.
    pub(super) input: Option<Value>,
}

impl Local {
    /// Reads the rules that hold in a folder and a conversation.
    pub(super) fn at(root: &Path, session: &str, asking: &Asking) -> anyhow::Result<Self> {
        let data = asking.records.data.as_deref();
        let own = [record::data_path(data), environment::config_folder()];
        let own = own.into_iter().flatten().map(|it| it.canonicalize().unwrap_or(it));
        let workspace = Workspace::new([root.to_owned()])?.keeping_out_of(own);
        let root = workspace.roots().first().context("a workspace without a root")?.clone();
        let name = root.to_str().context("the project's path is not UTF-8")?;
        let project = Project::of_root(name).id;
        let anchors = Anchors { root: root.clone(), home: environment::home() };
        let files = record::rulebook(data).layers_at(&root);
        let (kept, rules) = match database(asking) {
            Database::File(file) => {
                match rules_at(&file, &project, &session.into(), &files, anchors.clone()) {
                    Ok(set) => (Some(set), Rules::Known),
                    Err(error) => {
                        let why = format!("the kept rules cannot be read here: {error}");
                        (None, Rules::Elsewhere(why))
                    }
                }
            }
            Database::None if asking.server.is_none() => (None, Rules::Known),
            Database::None => (None, Rules::NotHere),
            Database::Elsewhere(why) => (None, Rules::Elsewhere(why.to_owned())),
        };
        let set = Arc::new(kept.unwrap_or_else(|| RuleSet::new(files, anchors)));
        let catalogue = Catalogue::new(workspace, Environment::from(environment::for_tools()));
        Ok(Self { project, rules, set, catalogue })
    }

    /// Returns what the rules say of a call in a mode.
    pub(super) fn judge(&self, call: &Call, mode: Mode) -> Judged {
        let call = self.call(call);
        match self.catalogue.planner_of_any(&call.tool_name).plan(&call) {
            Ok(plan) => {
                let canonical = plan.canonical.as_ref().map(|it| it.put_into(&call.input));
                let input = canonical.filter(|input| **input != call.input).map(Cow::into_owned);
                Judged { input, ..told(&self.verdict(&call, &plan, mode)) }
            }
            Err(Invalid(why)) => Judged { outcome: Outcome::Deny, why, input: None },
        }
    }

    /// Returns whether a call would be allowed in a mode.
    pub(super) fn would_allow(&self, call: &Call, mode: Mode) -> bool {
        self.judge(call, mode).outcome == Outcome::Allow
    }

    fn verdict(&self, call: &ToolCall, plan: &Plan, mode: Mode) -> Verdict {
        let stance = Stance::Attended { auto_approve_read: true };
        let policy = Policy { stance, mode, rules: Arc::clone(&self.set) };
        policy.verdict(call, plan, risk::assess(&plan.effects), SystemClock.now())
    }

    fn call(&self, call: &Call) -> ToolCall {
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
enum Database {
    File(PathBuf),
    None,
    Elsewhere(&'static str),
}

fn database(asking: &Asking) -> Database {
    if asking.server.as_deref().is_some_and(|server| !Server::is_here(server)) {
        return Database::Elsewhere("the rules are kept on another machine");
    }
    let file = match asking.records.database.as_deref().map(str::parse) {
        Some(Ok(DatabaseUrl::Sqlite(file))) => file,
        Some(Ok(DatabaseUrl::Postgres(_))) => {
            return Database::Elsewhere("the rules are kept in a PostgreSQL");
        }
        Some(Err(_)) => return Database::Elsewhere("the database is of no kind that is known"),
        None => match record::data_path(asking.records.data.as_deref()) {
            Some(folder) => folder.join("countersign.db"),
            None => return Database::None,
        },
    };
    match file.try_exists() {
        Ok(true) => Database::File(file),
        Ok(false) => Database::None,
        Err(_) => Database::Elsewhere("the data folder cannot be looked into"),
    }
}

/// Returns a verdict in a sentence. It goes to whoever made the call, so nothing in it is a secret.
fn told(verdict: &Verdict) -> Judged {
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
    let why = if verdict.outcome == Outcome::Deny { format!("Denied: {why}") } else { why };
    Judged { outcome: verdict.outcome, why, input: None }
}
