//! How a turn takes its calls through the gate: in order, with a rehearsal and the program's decision
//! while they wait, and running them on their permits.

use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::{Execution, Permit, ToolOutput};
use countersign_gate::{
    CallDriver, DecideError, GateError, LocalCallDriver, PermitUse, RecordingPatience,
};
use countersign_tools::Tool;
use tokio::sync::MutexGuard;

use crate::call_error::CallError;
use crate::rehearsal::RehearsalTask;
use crate::turn::RunTurn;

/// One call of a turn on its way through the gate.
pub(crate) struct TurnCallDriver<'a> {
    turn: &'a RunTurn<'a>,
    tool: Option<&'a Arc<dyn Tool>>,
    /// What is tried out while the call waits.
    rehearsal: Mutex<Option<RehearsalTask>>,
}

impl<'a> TurnCallDriver<'a> {
    pub(crate) fn new(turn: &'a RunTurn<'a>, tool: Option<&'a Arc<dyn Tool>>) -> Self {
        Self { turn, tool, rehearsal: Mutex::default() }
    }

    fn replace_rehearsal(&self, with: Option<RehearsalTask>) -> Option<RehearsalTask> {
        let mut held = self.rehearsal.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, with)
    }

    /// Puts a request before the program, if it is the program that decides.
    ///
    /// Returns only if the decision could not be recorded. What came of it is read from the gate,
    /// where the deadline may have been faster.
    async fn ask_program(&self, asked: &Execution) -> GateError {
        let runner = &self.turn.run.runner;
        if let Some(callback) = runner.consent.callback() {
            if let Some(reading) = &runner.reading {
                reading.wait_until_reached(asked.id()).await;
            }
            let decision = callback.decide(asked).await;
            let seen = Some(asked.digest().clone());
            if let Err(DecideError::Store(error)) =
                runner.gate.decide(asked.id(), decision, seen).await
            {
                return error.into();
            }
        }
        std::future::pending().await
    }
}

impl CallDriver for TurnCallDriver<'_> {
    type Error = CallError;
    type Turn<'t>
        = MutexGuard<'t, ()>
    where
        Self: 't;

    /// Waits for the calls before this one in the answer.
    async fn take_turn(&self) -> Result<MutexGuard<'_, ()>, CallError> {
        let in_order = self.turn.handing_in.lock().await;
        if self.turn.is_suspended() { Err(CallError::Suspended) } else { Ok(in_order) }
    }

    /// Takes the request back when the run is cancelled. When it is suspended, the request goes on
    /// waiting without us.
    async fn while_waiting(&self, asked: &Execution) -> Result<(), CallError> {
        let RunTurn { run, signals, .. } = self.turn;
        let gate = &run.runner.gate;
        let tool = run.runner.toolbox.get(&asked.call().tool_name);
        drop(self.replace_rehearsal(RehearsalTask::begin(gate, tool, asked).await));
        tokio::select! {
            biased;
            () = signals.cancel.cancelled() => {
                // Not only this one: another may have taken its place.
                self.turn.retry_recording("a cancellation", || gate.cancel_run(run.id())).await
            }
            () = signals.suspend.cancelled() => Err(CallError::Suspended),
            error = self.ask_program(asked) => Err(error.into()),
        }
    }

    fn patience(&self) -> RecordingPatience<'_> {
        RecordingPatience::Until(&self.turn.signals.suspend)
    }

    fn give_up(&self, error: GateError) -> CallError {
        self.turn.call_error(error)
    }
}

impl LocalCallDriver for TurnCallDriver<'_> {
    type Output = ToolOutput;

    async fn use_permit(&self, permit: Permit) -> PermitUse<ToolOutput> {
        if let Some(rehearsal) = self.replace_rehearsal(None)
            && permit.rehearsal().is_some()
        {
            self.turn.rehearsals.hold(permit.approval(), rehearsal);
        }
        self.turn.execute(permit, self.tool).await
    }
}
