//! A decision on its way to the server, and what the server makes of it.

use countersign_core::ApprovalId;
use serde_json::{Map, Value};

use super::server_event::ClientApprovalRequest;
use crate::commands::server_link::{ANSWER, LinkError, ServerLink};

/// What a person said to a request.
#[derive(Debug)]
pub(super) struct OutgoingDecision {
    pub(super) id: ApprovalId,
    verb: &'static str,
    body: Value,
}

/// What the server says to that.
#[derive(Debug)]
pub(super) enum DecisionReply {
    /// So it is, by us or by somebody who was faster.
    Stands { status: String, by: Option<String> },
    /// The request is not the one that was seen.
    Changed(Box<ClientApprovalRequest>),
    /// It cannot be reached.
    NotSent(String),
    /// This credential has no say.
    MayNot(String),
}

impl OutgoingDecision {
    /// Says yes to what was seen.
    pub(super) fn approve(request: &ClientApprovalRequest) -> Self {
        Self::new(request, "approve", [("decision", Some("approved"))])
    }

    /// Says no, with what should happen instead.
    pub(super) fn reject(request: &ClientApprovalRequest, words: &str) -> Self {
        let words = Some(words).filter(|words| !words.is_empty());
        Self::new(request, "reject", [("reason", words)])
    }

    fn new(
        request: &ClientApprovalRequest,
        verb: &'static str,
        said: [(&'static str, Option<&str>); 1],
    ) -> Self {
        let seen = ("digest", request.digest.as_deref());
        let fields = said.into_iter().chain([seen]);
        let fields = fields.filter_map(|(name, text)| Some((name.to_owned(), text?.into())));
        let body = Value::Object(fields.collect::<Map<_, _>>());
        Self { id: request.approval_id, verb, body }
    }

    /// Tells the server.
    pub(super) async fn send(&self, link: &ServerLink) -> DecisionReply {
        let id = self.id.to_string();
        let error = match link.post(&["approvals", &id, self.verb], &self.body, ANSWER).await {
            Ok(answer) => return stands(&answer, Some("you")),
            Err(error) => error,
        };
        let refusal = match error {
            LinkError::Away(why) => return DecisionReply::NotSent(why),
            LinkError::Refused(refusal) => refusal,
        };
        match refusal.status {
            401 | 403 => DecisionReply::MayNot(refusal.message),
            // Somebody was faster, or it is another request by now: it is looked at.
            404 | 409 => self.check_current_state(link, &refusal.message).await,
            _ => DecisionReply::NotSent(refusal.message),
        }
    }

    async fn check_current_state(&self, link: &ServerLink, why: &str) -> DecisionReply {
        let found = match link.get(&["approvals", &self.id.to_string()], &[]).await {
            Ok(found) => found,
            Err(LinkError::Away(why)) => return DecisionReply::NotSent(why),
            Err(LinkError::Refused(_)) => {
                return DecisionReply::Stands { status: why.to_owned(), by: None };
            }
        };
        // By itself, or in an envelope.
        let view = found.get("approval").unwrap_or(&found);
        match serde_json::from_value::<ClientApprovalRequest>(view.clone()) {
            Ok(request) if request.waits() && request.status.is_some() => {
                DecisionReply::Changed(Box::new(request))
            }
            _ => stands(view, None),
        }
    }
}

fn stands(view: &Value, by: Option<&str>) -> DecisionReply {
    let text = |name: &str| view.get(name).and_then(Value::as_str).map(str::to_owned);
    let status = text("status").unwrap_or_else(|| "settled".to_owned());
    DecisionReply::Stands { status, by: by.map(str::to_owned).or_else(|| text("decided_by")) }
}
