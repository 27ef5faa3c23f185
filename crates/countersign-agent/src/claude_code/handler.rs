//! The approval handler (S4.2): the gate as the SDK's permission callback.

use std::sync::Arc;
use std::time::Duration;

use countersign_claude::permission::PermissionHandler;
use countersign_claude::{
    HookDetails, HookEvent, HookInput, HookMatcher, HookOutput, Options, PermissionResult,
    ToolRequest,
};
use countersign_core::ToolOutput;
use countersign_gate::{Gate, SubmitOptions};
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::runtime::Handle;

use super::gatekeeper::{ClaudeCallOrigin, Gatekeeper, GatekeeperOptions, PlannerLookup};

/// How long a person has to answer a program that drives the CLI itself.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Asks people through the gate whether a call of Claude Code may run, and records what came of it.
///
/// [`attach`](Self::attach) it to the options of one conversation. The request is recorded and shown
/// like any other; the answer is what was approved, edited or not, or the person's words. It never
/// answers calls that the CLI does not ask about: for those there is a `PreToolUse` hook.
///
/// A call that it allowed is settled when the CLI says what came of it. What the CLI never tells of is
/// settled as failed (`unreported`) when the session ends: at [`close`](Self::close), or when the last
/// clone of the handler is dropped.
///
/// ```
/// # use countersign_agent::ApprovalHandler;
/// # use countersign_claude::Options;
/// # fn example(handler: ApprovalHandler) -> Options {
/// handler.attach(Options::new().cwd("/srv/shop"))
/// # }
/// ```
#[derive(Clone)]
pub struct ApprovalHandler {
    gate: Gate,
    planners: PlannerLookup,
    asker: ClaudeCallOrigin,
    session: Arc<GuardedSession>,
}

/// The calls of one conversation; given up with the last who knows of it.
struct GuardedSession(Gatekeeper);

impl Drop for GuardedSession {
    fn drop(&mut self) {
        // Without a runtime the process is ending; then the lease of a call has to lapse.
        let Ok(runtime) = Handle::try_current() else { return };
        let keeper = self.0.clone();
        runtime.spawn(async move { keeper.settle_unreported().await });
    }
}

impl ApprovalHandler {
    /// Returns the callback for one conversation.
    pub fn new(gate: Gate, planners: PlannerLookup, asker: ClaudeCallOrigin) -> Self {
        let session = session(&gate, &planners, &asker, TIMEOUT);
        Self { gate, planners, asker, session }
    }

    /// Sets how long a person has: two minutes, unless set. To be called before it is used.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        let session = session(&self.gate, &self.planners, &self.asker, timeout);
        Self { session, ..self }
    }

    /// Returns options whose session asks through the gate and tells it what came of each call.
    pub fn attach(&self, options: Options) -> Options {
        let told = |event| HookMatcher::new(event, self.listener());
        options
            .can_use_tool(self.clone())
            .hook(told(HookEvent::PostToolUse))
            .hook(told(HookEvent::PostToolUseFailure))
    }

    /// Settles what was allowed and never told of. To be called when the session has ended.
    pub async fn close(&self) {
        self.session.0.settle_unreported().await;
    }

    fn listener(
        &self,
    ) -> impl Fn(HookInput) -> BoxFuture<'static, HookOutput> + Send + Sync + use<> {
        let session = self.session.clone();
        move |input| {
            let keeper = session.0.clone();
            Box::pin(async move {
                if let (Some(id), Some(output)) = (&input.tool_use_id, output_of(&input.details)) {
                    keeper.record_result(id, output).await;
                }
                HookOutput::proceed()
            })
        }
    }
}

fn session(
    gate: &Gate,
    planners: &PlannerLookup,
    asker: &ClaudeCallOrigin,
    timeout: Duration,
) -> Arc<GuardedSession> {
    let terms = SubmitOptions::attended();
    let (gate, planners, asker) = (gate.clone(), planners.clone(), asker.clone());
    let equipment = GatekeeperOptions::default();
    let keeper = Gatekeeper::new(gate, planners, asker, terms, Some(timeout), equipment);
    Arc::new(GuardedSession(keeper))
}

/// Returns what a call gave back, as the CLI tells of it.
fn output_of(details: &HookDetails) -> Option<ToolOutput> {
    match details {
        HookDetails::PostToolUse(done) => Some(ToolOutput::ok(match &done.tool_response {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })),
        HookDetails::PostToolUseFailure(failed) => Some(ToolOutput::error(failed.error.clone())),
        _ => None,
    }
}

impl PermissionHandler for ApprovalHandler {
    fn decide(&self, request: ToolRequest) -> BoxFuture<'static, PermissionResult> {
        let keeper = self.session.0.clone();
        Box::pin(async move { keeper.decide_without_hook(request).await })
    }
}
