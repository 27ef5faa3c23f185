//! The gate itself: what it holds, and how a state changes. Its verbs are in the modules above.

use std::sync::Arc;

use countersign_core::{ApprovalId, Execution, LockedExecution};
use tokio::sync::Notify;

use crate::activity_log::log_call_step;
use crate::client_look_waiters::ClientLookWaiters;
use crate::clock::Clock;
use crate::executor_queue::ExecutorQueues;
use crate::history::CallHistory;
use crate::live::ProjectChannels;
use crate::prior_state::{PriorCallState, PriorStateProbe};
use crate::rule_cache::RuleCache;
use crate::server_place::ServerMembership;
use crate::settings_cache::SettingsCache;
use crate::store::{Store, StoreError, Transition};
use crate::timeouts::DecisionTimeouts;
use crate::waiters::DecisionWaiters;

/// The gate. Cheap to clone; all clones are the same door.
#[derive(Clone)]
pub struct Gate {
    inner: Arc<GateInner>,
}

pub(crate) struct GateInner {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) asked: Arc<Notify>,
    pub(crate) channels: Arc<ProjectChannels>,
    pub(crate) waiting: DecisionWaiters,
    pub(crate) timeouts: DecisionTimeouts,
    pub(crate) settled: SettingsCache,
    pub(crate) pending_limit: u64,
    pub(crate) rules: RuleCache,
    pub(crate) history: Arc<CallHistory>,
    pub(crate) membership: ServerMembership,
    pub(crate) executors: ExecutorQueues,
    pub(crate) client_looks: ClientLookWaiters,
}

impl Gate {
    pub(crate) fn from_inner(inner: Arc<GateInner>) -> Self {
        Self { inner }
    }

    pub(crate) fn inner(&self) -> &GateInner {
        &self.inner
    }

    pub(crate) fn arc(&self) -> &Arc<GateInner> {
        &self.inner
    }

    /// Returns the store, to read from.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Returns the clock the gate goes by.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// Takes an execution from one state to the next, as the pure rule `step` says, and wakes who waits.
    pub(crate) async fn transition<E: Send + 'static>(
        &self,
        id: ApprovalId,
        step: impl Fn(LockedExecution) -> Result<Execution, E> + Send + 'static,
    ) -> Result<Transition<E>, StoreError> {
        let probe = PriorStateProbe::default();
        let (now, step) = (self.inner.clock.now(), probe.watch(step));
        let made = self.inner.store.transition(id, now, step).await?;
        if let Transition::Made(made) = &made {
            self.notify_changed(probe.prior_state(), made);
        }
        Ok(made)
    }

    /// Tells those in this process who wait for a call, or watch its time, that it moved; `prior` is
    /// none for one that is new.
    pub(crate) fn notify_changed(&self, prior: Option<PriorCallState>, approval: &Execution) {
        self.log_step(prior, approval);
        self.inner.waiting.wake(approval.id());
        if approval.lapses_at().is_some() {
            self.inner.asked.notify_waiters();
        }
    }

    /// Tells the log and the metrics that a call moved.
    pub(crate) fn log_step(&self, prior: Option<PriorCallState>, approval: &Execution) {
        log_call_step(prior, approval, self.inner.clock.now());
    }

    /// Wakes whoever waits for a request.
    pub(crate) fn wake_waiters(&self, id: ApprovalId) {
        self.inner.waiting.wake(id);
    }
}
