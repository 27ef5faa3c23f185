//! Consent: who is asked before a call runs, in each of the ways a conversation can be held.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use countersign_core::{Approval, By, Decision, Policy, Stance};
use countersign_tools::Tool;
use serde_json::Value;

/// What a program is asked that decides by itself (S5.1).
#[derive(Clone, Debug, PartialEq)]
pub struct ToolApprovalRequest {
    /// The tool.
    pub tool_name: String,
    /// What the model wants to give it.
    pub params: Value,
}

type Answer = Pin<Box<dyn Future<Output = bool> + Send>>;

/// A program's own way to decide: true runs the tool, false stops it.
#[derive(Clone)]
pub struct Callback(Arc<dyn Fn(ToolApprovalRequest) -> Answer + Send + Sync>);

impl Callback {
    /// Returns the callback that asks `decide`.
    pub fn new<F, A>(decide: F) -> Self
    where
        F: Fn(ToolApprovalRequest) -> A + Send + Sync + 'static,
        A: Future<Output = bool> + Send + 'static,
    {
        Self(Arc::new(move |request| Box::pin(decide(request))))
    }

    pub(crate) async fn decide(&self, asked: &Approval) -> Decision {
        let request = ToolApprovalRequest {
            tool_name: asked.call.tool_name.clone(),
            params: asked.call.input.clone(),
        };
        if (self.0)(request).await {
            Decision::Approve { by: By::Callback }
        } else {
            Decision::Reject { by: By::Callback, feedback: None }
        }
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}

/// How consent is found for the calls of a conversation.
#[derive(Clone, Debug)]
pub enum Consent {
    /// People decide, through the gate: what is not LOW waits for them.
    People {
        /// Whether LOW calls run without asking.
        auto_approve_read: bool,
    },
    /// Nobody is there; everything runs (S5.2's heartbeat).
    Nobody,
    /// The tool says whether to ask, the program answers (S5.2's conversation).
    Program(Callback),
}

impl Consent {
    /// Returns the policy for one call.
    pub(crate) async fn policy(&self, tool: Option<&Arc<dyn Tool>>, input: &Value) -> Policy {
        let stance = match self {
            Self::People { auto_approve_read } => {
                Stance::Attended { auto_approve_read: *auto_approve_read }
            }
            Self::Nobody => Stance::Unattended,
            Self::Program(_) => Stance::ToolDecides {
                // A tool that is not there cannot say it needs nobody.
                needs_approval: match tool {
                    Some(tool) => tool.needs_approval(input).await,
                    None => true,
                },
            },
        };
        Policy { stance }
    }

    pub(crate) fn callback(&self) -> Option<&Callback> {
        match self {
            Self::Program(callback) => Some(callback),
            Self::People { .. } | Self::Nobody => None,
        }
    }
}
