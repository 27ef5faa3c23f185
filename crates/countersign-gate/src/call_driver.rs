//! Whoever takes calls through the gate: what they do while a person decides, and with a permit.

use std::future::Future;

use countersign_core::{ApprovalId, Execution, ExecutionFailure, Permit};
use tokio_util::sync::CancellationToken;

use crate::gate_error::GateError;

/// Whoever takes calls through the gate and waits there.
pub trait CallDriver: Sync {
    /// Why a call is given up before the gate has answered.
    type Error: From<GateError> + Send;

    /// Holds the turn of a call: calls that were made in an order are submitted in it.
    type Turn<'a>: Send
    where
        Self: 'a;

    /// Waits for the turn of a call. It is submitted while the turn is held.
    fn take_turn(&self) -> impl Future<Output = Result<Self::Turn<'_>, Self::Error>> + Send;

    /// Does something while a person decides, such as taking the request back when nobody wants it any
    /// more. The waiting goes on after `Ok`; an error leaves the request as it is.
    fn while_waiting(
        &self,
        asked: &Execution,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Returns how long to try what cannot be recorded because the database is unavailable.
    fn patience(&self) -> RecordingPatience<'_>;

    /// Returns why a call is given up that could not be recorded.
    fn give_up(&self, error: GateError) -> Self::Error {
        error.into()
    }
}

/// How long to try what cannot be recorded because the database is unavailable.
#[derive(Clone, Copy, Debug)]
pub enum RecordingPatience<'a> {
    /// Once: whoever waits is told at once.
    Once,
    /// Until the database is available again, or this is cancelled.
    Until(&'a CancellationToken),
}

/// Whoever runs calls here.
pub trait LocalCallDriver: CallDriver {
    /// What comes of running a call.
    type Output: Send;

    /// Runs the call that the permit is for, and records what came of it.
    fn use_permit(&self, permit: Permit) -> impl Future<Output = PermitUse<Self::Output>> + Send;
}

/// What came of using a permit.
#[derive(Debug)]
pub enum PermitUse<T> {
    /// The call has run, or failed, and that is recorded.
    Done(T),
    /// It would not have done what was approved, and did nothing.
    Drifted {
        /// The execution that is void.
        stale: ApprovalId,
        /// What moved.
        why: ExecutionFailure,
    },
}

/// A driver that waits for as long as it takes, once, and keeps the permit.
#[derive(Clone, Copy, Debug)]
pub struct PermitCollector;

impl CallDriver for PermitCollector {
    type Error = GateError;
    type Turn<'a> = ();

    async fn take_turn(&self) -> Result<(), GateError> {
        Ok(())
    }

    async fn while_waiting(&self, _: &Execution) -> Result<(), GateError> {
        std::future::pending().await
    }

    fn patience(&self) -> RecordingPatience<'_> {
        RecordingPatience::Once
    }
}

impl LocalCallDriver for PermitCollector {
    type Output = Permit;

    async fn use_permit(&self, permit: Permit) -> PermitUse<Permit> {
        PermitUse::Done(permit)
    }
}
