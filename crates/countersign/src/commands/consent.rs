//! Consent: from a call that another agent is about to make to the answer it gets.
//!
//! The rules answer where they can, here and at once. What they would ask about, a server asks a person.
//! Whatever goes wrong on the way never allows: then whoever asked has to ask the person itself.

mod local;
mod plan;
mod server;

use std::path::PathBuf;
use std::time::Duration;

use countersign_core::{Mode, Outcome};
use countersign_tools::asks_by_itself;
use serde_json::Value;

use self::local::{Judged, Local, Rules};
use self::plan::writes_plan;
pub(crate) use self::server::{Execution, Server, Unanswered};
use crate::cli::Asking;

/// Where a server is if nobody says otherwise.
pub(crate) const USUAL_SERVER: &str = "http://127.0.0.1:4180";

/// A call that waits for consent.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) tool_name: String,
    pub(crate) input: Value,
    pub(crate) tool_use_id: Option<String>,
    /// The conversation, by the agent's own name for it.
    pub(crate) session: String,
    /// The folder of the project.
    pub(crate) root: PathBuf,
    /// The folder that relative paths start from.
    pub(crate) cwd: PathBuf,
    pub(crate) mode: Mode,
    /// The subagent that makes it, if one does.
    pub(crate) agent: Option<String>,
}

/// What is said to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Consent {
    Allowed {
        why: String,
        /// The input, where a person has changed it, or where a command runs in its canonical form.
        input: Option<Value>,
        /// Where the server has it; it wants to hear what came of it.
        recorded: Option<Recorded>,
    },
    Denied {
        why: String,
    },
    /// Nobody has decided: the agent has to ask.
    Undecided {
        why: String,
    },
    /// The agent asks its person in any case.
    NotOurs,
}

/// A call as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) project: String,
    pub(crate) tool_id: String,
}

/// What the rules alone make of a call.
pub(crate) enum AtOnce {
    Answered(Consent),
    /// The server is to be asked.
    Open(Box<Open>),
}

/// A call that the rules leave open.
pub(crate) struct Open {
    local: Local,
    project: String,
    /// Why it is not answered at once.
    why: String,
    /// What holds if there is no server at all.
    without_server: Option<Consent>,
}

/// Returns what the rules here say of a call. Blocks, for a moment.
pub(crate) fn at_once(call: &Call, asking: &Asking) -> AtOnce {
    let local = match Local::at(&call.root, &call.session, asking) {
        Ok(local) => local,
        Err(error) => {
            let why = format!("{error:#}");
            return AtOnce::Answered(Consent::Undecided { why });
        }
    };
    let writes_plan = writes_plan(call);
    let Judged { outcome, why, input } =
        local.judge(call, if writes_plan { Mode::Default } else { call.mode });
    match (outcome, &local.rules) {
        (Outcome::Deny, _) => AtOnce::Answered(Consent::Denied { why }),
        _ if writes_plan || asks_by_itself(&call.tool_name) => AtOnce::Answered(Consent::NotOurs),
        (Outcome::Allow, Rules::Known) => AtOnce::Answered(allowed(why, input)),
        (Outcome::Allow, Rules::NotHere) => {
            local.open("the server keeps rules of its own".to_owned(), Some(allowed(why, input)))
        }
        (Outcome::Allow, Rules::Elsewhere(reason)) => {
            let reason = reason.clone();
            local.open(reason, None)
        }
        // The server knows of no modes: what only the mode asks for, it would let pass.
        (Outcome::Ask, _) if call.mode == Mode::Plan && local.would_allow(call, Mode::Default) => {
            AtOnce::Answered(Consent::Undecided { why })
        }
        (Outcome::Ask, _) => local.open(why, None),
    }
}

fn allowed(why: String, input: Option<Value>) -> Consent {
    Consent::Allowed { why, input, recorded: None }
}

impl Local {
    fn open(self, why: String, without_server: Option<Consent>) -> AtOnce {
        let project = self.project.to_string();
        AtOnce::Open(Box::new(Open { local: self, project, why, without_server }))
    }
}

impl Open {
    /// Has a person asked, and waits for the answer.
    pub(crate) async fn ask(self, call: &Call, asking: &Asking, wait: Duration) -> Consent {
        let server = match Server::of(asking) {
            Ok(server) => server,
            Err(unanswered) => return self.undecided(&unanswered),
        };
        match server.decided(call, &self.project, wait).await {
            Ok(execution) => self.consent(call, &execution, &server),
            Err(Unanswered::NotThere(_)) if self.without_server.is_some() => {
                self.without_server.unwrap_or(Consent::NotOurs)
            }
            Err(unanswered) => self.undecided(&unanswered),
        }
    }

    fn undecided(&self, unanswered: &Unanswered) -> Consent {
        Consent::Undecided { why: format!("{}; {unanswered}, so decide here", self.why) }
    }

    /// Returns what the server's answer means.
    fn consent(&self, call: &Call, execution: &Execution, server: &Server) -> Consent {
        let Execution { tool_id, status, error, .. } = execution;
        match status.as_str() {
            "approved" => {
                let input = match execution.edited(&call.input) {
                    Ok(input) => input,
                    Err(unanswered) => return self.undecided(&unanswered),
                };
                if let Some(why) = self.denied(call, input.as_ref()) {
                    return Consent::Denied { why };
                }
                let by = execution.decided_by.as_deref().map(|by| format!(" by {by}"));
                let why = format!("approved{} at {}", by.unwrap_or_default(), server.address());
                let (project, tool_id) = (self.project.clone(), tool_id.clone());
                Consent::Allowed { why, input, recorded: Some(Recorded { project, tool_id }) }
            }
            "rejected" => {
                let feedback = execution.feedback.as_deref().filter(|text| !text.is_empty());
                let said = feedback.map(|text| format!("User rejected: {text}"));
                let said = said.or_else(|| error.clone());
                Consent::Denied { why: said.unwrap_or_else(|| "User rejected".to_owned()) }
            }
            "timeout" => Consent::Denied { why: "Approval timed out".to_owned() },
            "cancelled" => {
                let why = error.clone().unwrap_or_else(|| "The request was taken back".to_owned());
                Consent::Denied { why }
            }
            "failed" if execution.is_refusal() => {
                let why = error.clone().unwrap_or_else(|| "Denied by the server".to_owned());
                Consent::Denied { why }
            }
            "awaiting_approval" | "pending" => self.undecided(&Unanswered::StillWaiting),
            other => {
                let said = error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
                let why = format!("the server says `{}`{said}", other.escape_debug());
                self.undecided(&Unanswered::Surprise(why))
            }
        }
    }

    /// Returns why an input that a person has changed must not run, if the rules here deny it.
    fn denied(&self, call: &Call, input: Option<&Value>) -> Option<String> {
        let changed = Call { input: input?.clone(), ..call.clone() };
        let Judged { outcome, why, .. } = self.local.judge(&changed, call.mode);
        (outcome == Outcome::Deny).then_some(why)
    }
}
