//! The approval handler (S4.2): the gate as the SDK's permission callback.

use std::time::Duration;

use countersign_claude::permission::PermissionHandler;
use countersign_claude::{Decision, ToolRequest};
use countersign_core::Stance;
use countersign_gate::{Gate, Terms};
use futures_util::future::BoxFuture;

use super::gatekeeper::{Asker, Equipment, Gatekeeper, Planners};

/// How long a person has to answer a program that drives the CLI itself.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Asks people through the gate whether a call of Claude Code may run.
///
/// Give it to [`countersign_claude::Options::can_use_tool`]. The request is recorded and shown like
/// any other; the answer is what was approved, edited or not, or the person's words. It never answers
/// calls that the CLI does not ask about: for those there is a `PreToolUse` hook.
#[derive(Clone)]
pub struct ApprovalHandler {
    gate: Gate,
    planners: Planners,
    asker: Asker,
    timeout: Duration,
}

impl ApprovalHandler {
    /// Returns the callback for one conversation.
    pub fn new(gate: Gate, planners: Planners, asker: Asker) -> Self {
        Self { gate, planners, asker, timeout: TIMEOUT }
    }

    /// Sets how long a person has: two minutes, unless set.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }
}

impl PermissionHandler for ApprovalHandler {
    fn decide(&self, request: ToolRequest) -> BoxFuture<'static, Decision> {
        let Self { gate, planners, asker, timeout } = self.clone();
        let terms = Terms::from(Stance::Attended { auto_approve_read: true });
        let keeper =
            Gatekeeper::new(gate, planners, asker, terms, Some(timeout), Equipment::default());
        Box::pin(async move { keeper.decide_alone(request).await })
    }
}
