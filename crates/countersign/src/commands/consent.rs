//! Consent: from a call that another agent is about to make to the answer it gets.
//!
//! The rules answer where they can, here and at once. What they would ask about, a server asks a person.
//! Whatever goes wrong on the way never allows: then whoever asked has to ask the person itself.

mod consent_client;
mod local_policy;
mod plan_file;

use std::path::PathBuf;
use std::time::Duration;

use countersign_core::{PermissionMode, VerdictAction};
use countersign_tools::asks_by_itself;
use serde_json::Value;

pub(crate) use self::consent_client::{ConsentClient, ConsentClientError, RemoteExecution};
use self::local_policy::{LocalPolicy, LocalVerdict, ServerRulesAccess};
use self::plan_file::writes_plan;
use crate::cli::ConsentServerArgs;

/// Where a server is if nobody says otherwise.
pub(crate) const USUAL_SERVER: &str = "http://127.0.0.1:4180";

/// A call that waits for consent.
#[derive(Clone, Debug)]
pub(crate) struct ConsentRequest {
    pub(crate) tool_name: String,
    pub(crate) input: Value,
    pub(crate) tool_use_id: Option<String>,
    /// The conversation, by the agent's own name for it.
    pub(crate) session: String,
    /// The folder of the project.
    pub(crate) root: PathBuf,
    /// The folder that relative paths start from.
    pub(crate) cwd: PathBuf,
    pub(crate) mode: PermissionMode,
    /// The subagent that makes it, if one does.
    pub(crate) agent: Option<String>,
}

/// What is said to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ConsentAnswer {
    Allowed {
        why: String,
        /// The input, where a person has changed it, or where a command runs in its canonical form.
        input: Option<Value>,
        /// Where the server has it; it wants to hear what came of it.
        recorded: Option<ServerCallRef>,
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
pub(crate) struct ServerCallRef {
    pub(crate) project: String,
    pub(crate) tool_id: String,
}

/// What the rules alone make of a call.
pub(crate) enum RulesAnswer {
    Answered(ConsentAnswer),
    /// The server is to be asked.
    Open(Box<UndecidedCall>),
}

/// A call that the rules leave open.
pub(crate) struct UndecidedCall {
    local: LocalPolicy,
    project: String,
    /// Why it is not answered at once.
    why: String,
    /// What holds if there is no server at all.
    without_server: Option<ConsentAnswer>,
}

/// Returns what the rules here say of a call. Blocks, for a moment.
pub(crate) fn answer_from_rules(call: &ConsentRequest, asking: &ConsentServerArgs) -> RulesAnswer {
    let local = match LocalPolicy::load(&call.root, &call.session, asking) {
        Ok(local) => local,
        Err(error) => {
            let why = format!("{error:#}");
            return RulesAnswer::Answered(ConsentAnswer::Undecided { why });
        }
    };
    let writes_plan = writes_plan(call);
    let LocalVerdict { outcome, why, input } =
        local.judge(call, if writes_plan { PermissionMode::Default } else { call.mode });
    match (outcome, &local.rules) {
        (VerdictAction::Deny, _) => RulesAnswer::Answered(ConsentAnswer::Denied { why }),
        _ if writes_plan || asks_by_itself(&call.tool_name) => {
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
        // The server knows of no modes: what only the mode asks for, it would let pass.
        (VerdictAction::Ask, _)
            if call.mode == PermissionMode::Plan
                && local.would_allow(call, PermissionMode::Default) =>
        {
            RulesAnswer::Answered(ConsentAnswer::Undecided { why })
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
    /// Has a person asked, and waits for the answer.
    pub(crate) async fn ask(
        self,
        call: &ConsentRequest,
        asking: &ConsentServerArgs,
        wait: Duration,
    ) -> ConsentAnswer {
        let server = match ConsentClient::from_args(asking) {
            Ok(server) => server,
            Err(unanswered) => return self.undecided(&unanswered),
        };
        match server.wait_for_decision(call, &self.project, wait).await {
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
        execution: &RemoteExecution,
        server: &ConsentClient,
    ) -> ConsentAnswer {
        let RemoteExecution { tool_id, status, error, .. } = execution;
        match status.as_str() {
            "approved" => {
                let input = match execution.edited_input(&call.input) {
                    Ok(input) => input,
                    Err(unanswered) => return self.undecided(&unanswered),
                };
                if let Some(why) = self.denied(call, input.as_ref()) {
                    return ConsentAnswer::Denied { why };
                }
                let by = execution.decided_by.as_deref().map(|by| format!(" by {by}"));
                let why = format!("approved{} at {}", by.unwrap_or_default(), server.address());
                let (project, tool_id) = (self.project.clone(), tool_id.clone());
                ConsentAnswer::Allowed {
                    why,
                    input,
                    recorded: Some(ServerCallRef { project, tool_id }),
                }
            }
            "rejected" => {
                let feedback = execution.feedback.as_deref().filter(|text| !text.is_empty());
                let said = feedback.map(|text| format!("User rejected: {text}"));
                let said = said.or_else(|| error.clone());
                ConsentAnswer::Denied { why: said.unwrap_or_else(|| "User rejected".to_owned()) }
            }
            "timeout" => ConsentAnswer::Denied { why: "Approval timed out".to_owned() },
            "cancelled" => {
                let why = error.clone().unwrap_or_else(|| "The request was taken back".to_owned());
                ConsentAnswer::Denied { why }
            }
            "failed" if execution.is_refusal() => {
                let why = error.clone().unwrap_or_else(|| "Denied by the server".to_owned());
                ConsentAnswer::Denied { why }
            }
            "awaiting_approval" | "pending" => self.undecided(&ConsentClientError::StillWaiting),
            other => {
                let said = error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
                let why = format!("the server says `{}`{said}", other.escape_debug());
                self.undecided(&ConsentClientError::Surprise(why))
            }
        }
    }

    /// Returns why an input that a person has changed must not run, if the rules here deny it.
    fn denied(&self, call: &ConsentRequest, input: Option<&Value>) -> Option<String> {
        let changed = ConsentRequest { input: input?.clone(), ..call.clone() };
        let LocalVerdict { outcome, why, .. } = self.local.judge(&changed, call.mode);
        (outcome == VerdictAction::Deny).then_some(why)
    }
}
