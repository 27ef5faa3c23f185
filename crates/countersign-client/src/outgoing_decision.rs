//! A decision on its way to the server, and what the server makes of it.

use countersign_api::approval::{ApproveBody, ApprovedLiteral, DecisionScope, RejectBody};
use countersign_api::call_status::CallStatus;
use countersign_api::received::{ReceivedApprovalRequest, ReceivedDecision, ReceivedStatus};
use countersign_core::ApprovalId;
use serde::Deserialize;

use crate::api_client::{ANSWER_TIMEOUT, ApiClient};

/// What a person said to a request.
#[derive(Debug)]
pub struct OutgoingDecision {
    id: ApprovalId,
    said: DecisionBody,
}

#[derive(Debug)]
enum DecisionBody {
    Approve(ApproveBody),
    Reject(RejectBody),
}

/// What the server says to that.
#[derive(Debug)]
pub enum DecisionReply {
    /// So it is, by us or by somebody who was faster.
    Stands {
        /// Where the request stands; none where the server no longer knows it.
        status: Option<ReceivedStatus>,
        /// Who decided.
        by: Option<String>,
    },
    /// The request is not the one that was seen.
    Changed(Box<ReceivedApprovalRequest>),
    /// It cannot be reached.
    NotSent(String),
    /// This credential has no say.
    MayNot(String),
}

impl OutgoingDecision {
    /// Says yes to what was seen.
    pub fn approve(request: &ReceivedApprovalRequest) -> Self {
        let said = DecisionBody::Approve(ApproveBody {
            decision: Some(ApprovedLiteral::Approved),
            edited_input: None,
            scope: DecisionScope::Once,
            rule: None,
            message: None,
            digest: request.digest.clone(),
        });
        Self { id: request.approval_id, said }
    }

    /// Says no, with what should happen instead.
    pub fn reject(request: &ReceivedApprovalRequest, words: &str) -> Self {
        let reason = Some(words).filter(|words| !words.is_empty()).map(str::to_owned);
        let digest = request.digest.clone();
        let body = RejectBody { decision: None, reason, digest, interrupt: false };
        Self { id: request.approval_id, said: DecisionBody::Reject(body) }
    }

    /// Returns the request that it is about.
    pub fn id(&self) -> ApprovalId {
        self.id
    }

    /// Tells the server.
    pub async fn send(&self, server: &ApiClient) -> DecisionReply {
        let id = self.id.to_string();
        let sent: Result<ReceivedDecision, _> = match &self.said {
            DecisionBody::Approve(body) => {
                server.post(&["approvals", &id, "approve"], body, ANSWER_TIMEOUT).await
            }
            DecisionBody::Reject(body) => {
                server.post(&["approvals", &id, "reject"], body, ANSWER_TIMEOUT).await
            }
        };
        let error = match sent {
            Ok(stands) => {
                return DecisionReply::Stands { status: stands.status, by: Some("you".to_owned()) };
            }
            Err(error) => error,
        };
        let refusal = match error.into_refusal() {
            Ok(refusal) => refusal,
            Err(why) => return DecisionReply::NotSent(why),
        };
        match refusal.status {
            401 | 403 => DecisionReply::MayNot(refusal.message),
            // Somebody was faster, or it is another request by now: it is looked at.
            404 | 409 => self.check_current_state(server).await,
            _ => DecisionReply::NotSent(refusal.message),
        }
    }

    async fn check_current_state(&self, server: &ApiClient) -> DecisionReply {
        let path = ["approvals", &self.id.to_string()];
        let found: serde_json::Value = match server.get(&path, &[]).await {
            Ok(found) => found,
            Err(error) => match error.into_refusal() {
                Ok(_) => return DecisionReply::Stands { status: None, by: None },
                Err(why) => return DecisionReply::NotSent(why),
            },
        };
        if let Ok(request) = ReceivedApprovalRequest::deserialize(&found)
            && request.status.is_some_and(CallStatus::is_waiting)
        {
            return DecisionReply::Changed(Box::new(request));
        }
        match ReceivedDecision::deserialize(&found) {
            Ok(ReceivedDecision { status, decided_by: by }) => DecisionReply::Stands { status, by },
            Err(_) => DecisionReply::Stands { status: None, by: None },
        }
    }
}
