//! Calls that somebody else runs: submitted here, waited for here, run where the client is.

use countersign_core::{Execution, ExecutionState, ToolOutput};
use countersign_gate::{CallEntry, CallTerms};

use crate::answer_outcome::UnansweredCall;
use crate::call::{log_unrecorded_call, not_recorded_output};
use crate::call_error::CallError;
use crate::turn::RunTurn;
use crate::turn_call_driver::TurnCallDriver;

impl RunTurn<'_> {
    /// Takes a call that a client runs to its answer; none if the run is to be left as it stands.
    ///
    /// Whoever goes on with the run later finds the call where it then stands: nothing of it is
    /// known only here.
    pub(crate) async fn answer_remote_call(
        &self,
        open: &UnansweredCall,
        terms: &CallTerms,
    ) -> Option<ToolOutput> {
        match self.settle_remote_call(open, terms).await {
            Ok(settled) => Some(settled.to_tool_output().unwrap_or_else(not_recorded_output)),
            Err(CallError::Suspended) => None,
            Err(CallError::Gate(error)) => Some(log_unrecorded_call(&open.call, &error)),
        }
    }

    async fn settle_remote_call(
        &self,
        open: &UnansweredCall,
        terms: &CallTerms,
    ) -> Result<Execution, CallError> {
        let entry = match &open.stands {
            Some(stands) if !matches!(stands.state(), ExecutionState::Pending) => {
                CallEntry::Resumed(Box::new(stands.clone()))
            }
            Some(_) | None => CallEntry::New(self.tool_call(&open.call)),
        };
        let driver = TurnCallDriver::new(self, None);
        let submission = self.run.runner.gate.enter_remote(entry, terms, &driver).await?;
        let stands = submission.into_execution();
        if stands.status().is_terminal() {
            return Ok(stands);
        }
        self.until_settled(&stands).await
    }

    /// Waits for the decision and for what the client makes of it. A cancelled run takes the call
    /// back, or gives it up; a suspended one leaves it to whoever goes on.
    async fn until_settled(&self, stands: &Execution) -> Result<Execution, CallError> {
        let (gate, id) = (&self.run.runner.gate, stands.id());
        tokio::select! {
            biased;
            () = self.signals.cancel.cancelled() => {
                // Not only this one: another may have taken its place.
                self.retry_recording("a cancellation", || gate.cancel_run(self.run.id())).await?;
            }
            () = self.signals.suspend.cancelled() => return Err(CallError::Suspended),
            settled = self.retry_recording("a result", || gate.wait_until_settled(id)) => return settled,
        }
        self.retry_recording("a result", || gate.wait_until_settled(id)).await
    }
}
