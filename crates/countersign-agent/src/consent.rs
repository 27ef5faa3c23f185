//! Consent: who is asked before a call runs, in each of the ways a conversation can be held.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use countersign_core::{ApprovalId, ApprovedBy, Decision, Execution, PermissionMode, Supervision};
use countersign_gate::SubmitOptions;
use countersign_tools::Tool;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// What a program is asked that decides by itself (S5.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolApprovalRequest {
    /// The model's id of the call: which of several it is.
    pub id: String,
    /// The tool.
    pub tool_name: String,
    /// What the model wants to give it.
    pub params: Value,
}

type CallbackFuture = Pin<Box<dyn Future<Output = bool> + Send>>;

/// A program's own way to decide: true runs the tool, false stops it.
///
/// Only a true that comes in time runs anything: a callback that panics, or is still waiting when
/// [`approval_timeout`](crate::AgentOptions::approval_timeout) is over, has said no. It is then
/// dropped, and so it is when the run is interrupted.
///
/// The calls of one answer are asked for side by side. A callback with one terminal to ask on takes
/// them in turn by holding a lock while it asks.
#[derive(Clone)]
pub struct ApprovalCallback(Arc<dyn Fn(ToolApprovalRequest) -> CallbackFuture + Send + Sync>);

impl ApprovalCallback {
    /// Returns the callback that asks `decide`.
    ///
    /// ```
    /// use countersign_agent::ApprovalCallback;
    ///
    /// // Runs Bash and nothing else that asks.
    /// let callback = ApprovalCallback::new(async |request| request.tool_name == "Bash");
    /// ```
    pub fn new<F, A>(decide: F) -> Self
    where
        F: Fn(ToolApprovalRequest) -> A + Send + Sync + 'static,
        A: Future<Output = bool> + Send + 'static,
    {
        Self(Arc::new(move |request| Box::pin(decide(request))))
    }

    /// Asks, on a task of its own: a callback that panics or blocks takes nobody along.
    pub(crate) async fn decide(&self, asked: &Execution) -> Decision {
        let request = ToolApprovalRequest {
            id: asked.call().tool_use_id.to_string(),
            tool_name: asked.call().tool_name.clone(),
            params: asked.call().input.clone(),
        };
        let Self(callback) = self.clone();
        let answering = tokio::spawn(async move { callback(request).await });
        match AbortOnDropHandle::new(answering).await {
            Ok(true) => Decision::Approve { by: ApprovedBy::Callback },
            Ok(false) => Decision::Reject { by: ApprovedBy::Callback, feedback: None },
            Err(error) => {
                tracing::error!(%error, tool = asked.call().tool_name, "the approval callback broke");
                let feedback = "the program that decides broke, so nobody said yes".to_owned();
                Decision::Reject { by: ApprovedBy::Callback, feedback: Some(feedback) }
            }
        }
    }
}

impl fmt::Debug for ApprovalCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}

/// How far the reader of the events has come: a program is asked in the order it is told.
#[derive(Debug, Default)]
pub(crate) struct ReaderProgress(watch::Sender<HashSet<ApprovalId>>);

impl ReaderProgress {
    /// Notes that the reader has been told all that came before a request.
    pub(crate) fn mark_reached(&self, request: ApprovalId) {
        self.0.send_if_modified(|reached| reached.insert(request));
    }

    /// Returns when the reader has been told all that came before a request.
    pub(crate) async fn wait_until_reached(&self, request: ApprovalId) {
        // The sender is ours, so the waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|reached| reached.contains(&request)).await;
        self.0.send_if_modified(|reached| {
            reached.remove(&request);
            // Nobody else waits for this one.
            false
        });
    }
}

/// How consent is found for the calls of a conversation.
#[derive(Clone, Debug)]
pub enum ConsentSource {
    /// People decide, through the gate: what is not LOW waits for them.
    People {
        /// Whether LOW calls run without asking.
        auto_approve_read: bool,
        /// What becomes of calls that would ask; as the rules say where it is not given.
        mode: Option<PermissionMode>,
    },
    /// Nobody is there; everything runs (S5.2's heartbeat).
    Nobody,
    /// The tool says whether to ask, the program answers (S5.2's conversation).
    Program(ApprovalCallback),
}

impl ConsentSource {
    /// Returns who watches one call, and in which mode.
    pub(crate) async fn submit_options(
        &self,
        tool: Option<&Arc<dyn Tool>>,
        input: &Value,
    ) -> SubmitOptions {
        let stance = match self {
            Self::People { auto_approve_read, mode } => {
                let stance = Supervision::Attended { auto_approve_read: *auto_approve_read };
                return SubmitOptions { stance, mode: *mode };
            }
            Self::Nobody => Supervision::Unattended,
            Self::Program(_) => {
                Supervision::ToolDecides { needs_approval: needs_approval(tool, input).await }
            }
        };
        stance.into()
    }

    pub(crate) fn callback(&self) -> Option<&ApprovalCallback> {
        match self {
            Self::Program(callback) => Some(callback),
            Self::People { .. } | Self::Nobody => None,
        }
    }
}

/// Asks a tool whether to ask. One that is not there, or panics, cannot say that it needs nobody.
async fn needs_approval(tool: Option<&Arc<dyn Tool>>, input: &Value) -> bool {
    let Some(tool) = tool.cloned() else { return true };
    let input = input.clone();
    let saying = tokio::spawn(async move { tool.needs_approval(&input).await });
    AbortOnDropHandle::new(saying).await.unwrap_or(true)
}
