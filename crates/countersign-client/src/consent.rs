//! Consent: from a call that another agent is about to make to the answer it gets.
//!
//! The rules answer where they can, here and at once. What they would ask about, a server asks a person.
//! Whatever goes wrong on the way never allows: then whoever asked has to ask the person itself.

mod decision_client;
mod local_policy;
mod plan_file;

use std::path::PathBuf;
use std::time::Duration;

use countersign_api::call_status::CallStatus;
use countersign_api::received::{ReceivedExecution, ReceivedStatus};
use countersign_core::{PermissionMode, VerdictAction};
use countersign_tools::asks_by_itself;
use serde_json::Value;

pub use self::decision_client::{ConsentClient, ConsentClientError};
use self::decision_client::{edited_input, is_refusal};
use self::local_policy::{LocalPolicy, LocalVerdict, ServerRulesAccess};
pub use self::local_policy::{LocalRulesPlace, RulesDatabase};
use self::plan_file::writes_plan;

/// A call that waits for consent.
#[derive(Clone, Debug)]
pub struct ConsentRequest {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub input: Value,
    /// The agent's own id of the call.
    pub tool_use_id: Option<String>,
    /// The conversation, by the agent's own name for it.
    pub session: String,
    /// The folder of the project.
    pub root: PathBuf,
    /// The folder that relative paths start from.
    pub cwd: PathBuf,
    /// What becomes of it if it would ask.
    pub mode: PermissionMode,
    /// Whether the agent decides by itself on what is not HIGH (Claude Code's mode `auto`).
    pub agent_decides: bool,
    /// The subagent that makes it, if one does.
    pub agent: Option<String>,
}

/// What is said to it.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsentAnswer {
    /// It may run.
    Allowed {
        /// Why, in a sentence.
        why: String,
        /// The input, where a person has changed it, or where a command runs in its canonical form.
        input: Option<Value>,
        /// Where the server has it; it wants to hear what came of it.
        recorded: Option<ServerCallRef>,
    },
    /// It may not run.
    Denied {
        /// Why, in a sentence.
        why: String,
    },
    /// Nobody has decided: the agent has to ask.
    Undecided {
        /// Why, in a sentence.
        why: String,
    },
    /// The agent asks its person in any case.
    NotOurs,
}

/// A call as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerCallRef {
    /// Its project.
    pub project: String,
    /// Its id.
    pub tool_id: String,
}

/// What the rules alone make of a call.
pub enum RulesAnswer {
    /// They answer it.
    Answered(ConsentAnswer),
    /// The server is to be asked.
    Open(Box<UndecidedCall>),
}

/// A call that the rules leave open.
pub struct UndecidedCall {
    local: LocalPolicy,
    project: String,
    /// Why it is not answered at once.
    why: String,
    /// What holds if there is no server at all.
    without_server: Option<ConsentAnswer>,
}

/// Returns what the rules here say of a call. Blocks, for a moment.
pub fn answer_from_rules(call: &ConsentRequest, place: &LocalRulesPlace) -> RulesAnswer {
    let local = match LocalPolicy::load(&call.root, &call.session, place) {
        Ok(local) => local,
        Err(error) => {
            return RulesAnswer::Answered(ConsentAnswer::Undecided { why: error.to_string() });
        }
    };
    let writes_plan = writes_plan(call, place.plans.as_deref());
    let LocalVerdict { outcome, is_for_a_person, why, input } =
        local.judge(call, if writes_plan { PermissionMode::Default } else { call.mode });
    match (outcome, &local.rules) {
        (VerdictAction::Deny, _) => RulesAnswer::Answered(ConsentAnswer::Denied { why }),
        _ if writes_plan || asks_by_itself(&call.tool_name) => {
            RulesAnswer::Answered(ConsentAnswer::NotOurs)
        }
        _ if call.agent_decides && !is_for_a_person => {
            RulesAnswer::Answered(ConsentAnswer::NotOurs)
        }
        (VerdictAction::Allow, ServerRulesAccess::Known) => {
            RulesAnswer::Answered(allowed(why, input))
        }
        (VerdictAction::Allow, ServerRulesAccess::NotHere) => {
            local.open("the server keeps rules of its own".to_owned(), Some(allowed(why, input)))
        }
        (VerdictAction::Allow, ServerRulesAccess::Elsewhere(reason)) => {
            let reason = reason.clone();
            local.open(reason, None)
        }
        (VerdictAction::Ask, _) => local.open(why, None),
    }
}

fn allowed(why: String, input: Option<Value>) -> ConsentAnswer {
    ConsentAnswer::Allowed { why, input, recorded: None }
}

impl LocalPolicy {
    fn open(self, why: String, without_server: Option<ConsentAnswer>) -> RulesAnswer {
        let project = self.project.to_string();
        RulesAnswer::Open(Box::new(UndecidedCall { local: self, project, why, without_server }))
    }
}

impl UndecidedCall {
    /// Has a person asked, and waits for the answer; `still_waiting` is called once if that takes a while.
    pub async fn ask(
        self,
        call: &ConsentRequest,
        server: Result<ConsentClient, ConsentClientError>,
        wait: Duration,
        still_waiting: impl FnOnce(),
    ) -> ConsentAnswer {
        let server = match server {
            Ok(server) => server,
            Err(unanswered) => return self.undecided(&unanswered),
        };
        match server.wait_for_decision(call, &self.project, wait, still_waiting).await {
            Ok(execution) => self.consent(call, &execution, &server),
            Err(ConsentClientError::NotThere(_)) if self.without_server.is_some() => {
                self.without_server.unwrap_or(ConsentAnswer::NotOurs)
            }
            Err(unanswered) => self.undecided(&unanswered),
        }
    }

    fn undecided(&self, unanswered: &ConsentClientError) -> ConsentAnswer {
        ConsentAnswer::Undecided { why: format!("{}; {unanswered}, so decide here", self.why) }
    }

    /// Returns what the server's answer means.
    fn consent(
        &self,
        call: &ConsentRequest,
        execution: &ReceivedExecution,
        server: &ConsentClient,
    ) -> ConsentAnswer {
        let error = &execution.error;
        let said = |otherwise: &str| error.clone().unwrap_or_else(|| otherwise.to_owned());
        match &execution.status {
            ReceivedStatus::Known(CallStatus::Approved) => self.approved(call, execution, server),
            ReceivedStatus::Known(CallStatus::Rejected) => {
                let feedback = execution.feedback.as_deref().filter(|text| !text.is_empty());
                let feedback = feedback.map(|text| format!("User rejected: {text}"));
                ConsentAnswer::Denied { why: feedback.unwrap_or_else(|| said("User rejected")) }
            }
            ReceivedStatus::Known(CallStatus::Timeout) => {
                ConsentAnswer::Denied { why: "Approval timed out".to_owned() }
            }
            ReceivedStatus::Known(CallStatus::Cancelled) => {
                ConsentAnswer::Denied { why: said("The request was taken back") }
            }
            ReceivedStatus::Known(CallStatus::Failed) if is_refusal(execution) => {
                ConsentAnswer::Denied { why: said("Denied by the server") }
            }
            status if status.is_waiting() => self.undecided(&ConsentClientError::StillWaiting),
            other => {
                let error = error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
                let word = other.as_str().escape_debug();
                let why = format!("the server says `{word}`{error}");
                self.undecided(&ConsentClientError::Surprise(why))
            }
        }
    }

    fn approved(
        &self,
        call: &ConsentRequest,
        execution: &ReceivedExecution,
        server: &ConsentClient,
    ) -> ConsentAnswer {
        // In plan mode somebody is asked about every change. A server that asks nobody knows of no modes.
        if call.mode == PermissionMode::Plan && execution.requires_approval == Some(false) {
            let why = "the server asked nobody, though the agent only plans".to_owned();
            return self.undecided(&ConsentClientError::Surprise(why));
        }
        let input = match edited_input(execution, &call.input) {
            Ok(input) => input,
            Err(unanswered) => return self.undecided(&unanswered),
        };
        if let Some(why) = self.denied(call, input.as_ref()) {
            return ConsentAnswer::Denied { why };
        }
        let by = execution.decided_by.as_deref().map(|by| format!(" by {by}"));
        let why = format!("approved{} at {}", by.unwrap_or_default(), server.address());
        let (project, tool_id) = (self.project.clone(), execution.tool_id.clone());
        ConsentAnswer::Allowed { why, input, recorded: Some(ServerCallRef { project, tool_id }) }
    }

    /// Returns why an input that a person has changed must not run, if the rules here deny it.
    fn denied(&self, call: &ConsentRequest, input: Option<&Value>) -> Option<String> {
        let changed = ConsentRequest { input: input?.clone(), ..call.clone() };
        let LocalVerdict { outcome, why, .. } = self.local.judge(&changed, call.mode);
        (outcome == VerdictAction::Deny).then_some(why)
    }
}
