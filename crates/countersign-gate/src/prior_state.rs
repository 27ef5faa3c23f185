//! What a call was right before a change: the log and the metrics tell of the step, not of the state.

use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::{Execution, ExecutionState, ExecutionStatus, LockedExecution};
use jiff::Timestamp;

/// What a call was right before a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PriorCallState {
    pub(crate) status: ExecutionStatus,
    /// When it started to run, if it had. A call that failed no longer says so itself.
    pub(crate) started_at: Option<Timestamp>,
    /// Whether a person had changed its input.
    pub(crate) was_edited: bool,
}

impl PriorCallState {
    pub(crate) fn from_execution(execution: &Execution) -> Self {
        let started_at = match execution.state() {
            ExecutionState::Executing { since, .. } => Some(*since),
            _ => None,
        };
        let was_edited = execution.basis().edited_from.is_some();
        Self { status: execution.status(), started_at, was_edited }
    }
}

/// Notes what a call is when a step is applied to it. The store may apply a step more than once: the
/// last time counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct PriorStateProbe(Arc<Mutex<Option<PriorCallState>>>);

impl PriorStateProbe {
    /// Returns the step, watched.
    pub(crate) fn watch<S, E>(
        &self,
        step: impl Fn(LockedExecution) -> Result<S, E> + Send + 'static,
    ) -> impl Fn(LockedExecution) -> Result<S, E> + Send + 'static {
        let noted = self.0.clone();
        move |stands| {
            let prior = PriorCallState::from_execution(&stands);
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(prior);
            step(stands)
        }
    }

    /// Returns what the call was; none if the step was never applied.
    pub(crate) fn prior_state(&self) -> Option<PriorCallState> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
