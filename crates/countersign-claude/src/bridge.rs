//! A bridge from the permission callback to people: what waits, who is told, and what happens if
//! nobody answers.

mod control_message;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::{broadcast, oneshot};
use tokio::time::{Instant, timeout_at};

pub use self::control_message::{CanUseToolRequest, ControlMessage, ControlResponseError};
use crate::permission::{PermissionHandler, PermissionResult, PermissionUpdate, ToolRequest};

/// How many events a slow listener may lag behind before it misses some.
const EVENTS: usize = 1024;

/// Permission requests that people answer, over whatever reaches them.
///
/// It is the permission callback: hand a clone of it to
/// [`can_use_tool`](crate::Options::can_use_tool). Every listener hears of every request; the first
/// decision counts; one that nobody decides in time is denied.
///
/// ```
/// use std::time::Duration;
/// use countersign_claude::{ApprovalBridge, Options};
///
/// let bridge = ApprovalBridge::new(Duration::from_secs(300));
/// let options = Options::new().can_use_tool(bridge.clone());
/// let events = bridge.subscribe(); // to each browser: `Asked`, `Settled`
/// // on a click: bridge.decide(&id, PermissionResult::allow())
/// ```
#[derive(Clone)]
pub struct ApprovalBridge(Arc<BridgeInner>);

struct BridgeInner {
    timeout: Duration,
    /// What the model is told when nobody decides.
    timed_out: String,
    waiting: Mutex<BTreeMap<String, ApprovalWaiter>>,
    events: broadcast::Sender<BridgeEvent>,
}

struct ApprovalWaiter {
    approval: PendingApproval,
    until: Instant,
    decide: oneshot::Sender<PermissionResult>,
}

/// A request that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PendingApproval {
    /// Its id, to decide by. Ids sort by age.
    pub id: String,
    /// The tool.
    pub tool_name: String,
    /// What it would run with.
    pub input: Map<String, Value>,
    /// The id of the call.
    pub tool_use_id: Option<String>,
    /// The subagent that wants it.
    pub agent_id: Option<String>,
    /// A headline for people.
    pub title: Option<String>,
    /// What the call does, for people.
    pub description: Option<String>,
    /// Why it is asked.
    pub decision_reason: Option<String>,
    /// The path that made the question necessary.
    pub blocked_path: Option<String>,
    /// What "always allow" would change.
    pub suggestions: Vec<PermissionUpdate>,
    /// How long it still waits, in milliseconds.
    pub remaining_ms: u64,
}

/// What listeners hear.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BridgeEvent {
    /// A request waits.
    Asked(Box<PendingApproval>),
    /// A request no longer waits.
    Settled {
        /// Which.
        id: String,
        /// Why.
        outcome: BridgeOutcome,
    },
}

/// Why a request no longer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BridgeOutcome {
    /// Somebody allowed it.
    Allowed,
    /// Somebody denied it.
    Denied,
    /// Nobody decided in time, so it was denied.
    TimedOut,
    /// The CLI no longer wants to know, or the session ended.
    Cancelled,
}

/// Why a decision came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no request `{0}` is waiting: it never existed or is already settled")]
pub struct NotPendingError(pub String);

impl ApprovalBridge {
    /// Makes a bridge on which a request waits this long.
    pub fn new(timeout: Duration) -> Self {
        Self::with_timeout_message(timeout, format!("nobody decided within {timeout:?}"))
    }

    /// Makes the same bridge for pages that know only the CLI's own protocol: [`ControlMessage`] is
    /// what they are sent, [`decide_by_control_response`](Self::decide_by_control_response) takes what
    /// they answer, and a request that nobody decides is denied with [`Self::TIMED_OUT`].
    pub fn with_control_messages(timeout: Duration) -> Self {
        Self::with_timeout_message(timeout, Self::TIMED_OUT.to_owned())
    }

    /// What the model is told when nobody decides on a bridge
    /// [`with_control_messages`](Self::with_control_messages).
    pub const TIMED_OUT: &str = "Permission request timed out";

    fn with_timeout_message(timeout: Duration, timed_out: String) -> Self {
        let events = broadcast::channel(EVENTS).0;
        Self(Arc::new(BridgeInner { timeout, timed_out, waiting: Mutex::default(), events }))
    }

    /// Listens. Who starts to, or has missed events, finds what waits with
    /// [`pending`](Self::pending): subscribe first, then ask.
    pub fn subscribe(&self) -> broadcast::Receiver<BridgeEvent> {
        self.0.events.subscribe()
    }

    /// Returns what waits, oldest first.
    pub fn pending(&self) -> Vec<PendingApproval> {
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        let current = |it: &ApprovalWaiter| PendingApproval {
            remaining_ms: millis(left(it.until)),
            ..it.approval.clone()
        };
        self.0.waiting().values().map(current).collect()
    }

    /// Decides. Only the first decision counts; a later one learns that it was too late.
    pub fn decide(&self, id: &str, decision: PermissionResult) -> Result<(), NotPendingError> {
        let not_pending = || NotPendingError(id.to_owned());
        let waiting = self.0.waiting().remove(id).ok_or_else(not_pending)?;
        let outcome = match decision {
            PermissionResult::Allow { .. } => BridgeOutcome::Allowed,
            PermissionResult::Deny { .. } => BridgeOutcome::Denied,
        };
        waiting.decide.send(decision).map_err(|_| not_pending())?;
        self.0.notify_settled(id, outcome);
        Ok(())
    }
}

impl PermissionHandler for ApprovalBridge {
    fn decide(&self, request: ToolRequest) -> BoxFuture<'static, PermissionResult> {
        let inner = self.0.clone();
        Box::pin(async move { inner.ask(request).await })
    }
}

impl BridgeInner {
    async fn ask(self: Arc<Self>, request: ToolRequest) -> PermissionResult {
        let until = Instant::now() + self.timeout;
        let (decide, decided) = oneshot::channel();
        let approval = self.describe(&request);
        let mut entry = ApprovalWaiterGuard {
            id: approval.id.clone(),
            inner: &self,
            outcome: BridgeOutcome::Cancelled,
        };
        let asked = BridgeEvent::Asked(Box::new(approval.clone()));
        self.waiting().insert(approval.id.clone(), ApprovalWaiter { approval, until, decide });
        let _ = self.events.send(asked);
        tokio::select! {
            biased;
            () = request.cancelled.cancelled() => PermissionResult::deny("the request was taken back"),
            decision = timeout_at(until, decided) => match decision {
                Ok(Ok(decision)) => decision,
                Ok(Err(_)) => PermissionResult::deny("the bridge is gone"),
                Err(_) => {
                    entry.outcome = BridgeOutcome::TimedOut;
                    PermissionResult::deny(self.timed_out.clone())
                }
            },
        }
    }

    fn describe(&self, request: &ToolRequest) -> PendingApproval {
        PendingApproval {
            id: uuid::Uuid::now_v7().to_string(),
            tool_name: request.tool_name.clone(),
            input: request.input.clone(),
            tool_use_id: request.tool_use_id.clone(),
            agent_id: request.agent_id.clone(),
            title: request.title.clone(),
            description: request.description.clone(),
            decision_reason: request.decision_reason.clone(),
            blocked_path: request.blocked_path.clone(),
            suggestions: request.suggestions.clone(),
            remaining_ms: millis(self.timeout),
        }
    }

    fn notify_settled(&self, id: &str, outcome: BridgeOutcome) {
        let _ = self.events.send(BridgeEvent::Settled { id: id.to_owned(), outcome });
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<String, ApprovalWaiter>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the list, given up however the wait ends; the callback may be dropped at any time.
struct ApprovalWaiterGuard<'a> {
    id: String,
    inner: &'a BridgeInner,
    outcome: BridgeOutcome,
}

impl Drop for ApprovalWaiterGuard<'_> {
    fn drop(&mut self) {
        // Whoever takes it out of the list tells of it: a decision may have been faster.
        let was_waiting = self.inner.waiting().remove(&self.id).is_some();
        if was_waiting {
            self.inner.notify_settled(&self.id, self.outcome);
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
