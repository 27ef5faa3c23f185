//! Calls that somebody else runs: handed in here, waited for here, run where the client is.

use countersign_core::{Execution, ExecutionState, ToolOutput};
use countersign_gate::{Submission, SubmitOptions};

use crate::answer_outcome::UnansweredCall;
use crate::call::{CallError, log_unrecorded_call, not_recorded_output};
use crate::turn::RunTurn;

impl RunTurn<'_> {
    /// Takes a call that a client runs to its answer; none if the run is to be left as it stands.
    ///
    /// Whoever goes on with the run later finds the call where it then stands: nothing of it is
    /// known only here.
    pub(crate) async fn answer_remote_call(
        &self,
        open: &UnansweredCall,
        terms: &SubmitOptions,
    ) -> Option<ToolOutput> {
        match self.settle_remote_call(open, terms).await {
            Ok(settled) => Some(settled.to_tool_output().unwrap_or_else(not_recorded_output)),
            Err(CallError::Suspended) => None,
            Err(CallError::Store(error)) => Some(log_unrecorded_call(&open.call, &error)),
        }
    }

    async fn settle_remote_call(
        &self,
        open: &UnansweredCall,
        terms: &SubmitOptions,
    ) -> Result<Execution, CallError> {
        let stands = match &open.stands {
            None => self.submit_remote_call(open, terms).await?,
            // Whoever was to take its place was never recorded.
            Some(stands) if stands.replaced_by().is_some() => {
                let (gate, planner) = (&self.run.runner.gate, self.planner(&open.call));
                let ask = || gate.resubmit_replacement(stands, planner.clone(), terms);
                standing(self.retry_recording("a call", ask).await?)?
            }
            Some(stands) if matches!(stands.state, ExecutionState::Pending) => {
                self.submit_remote_call(open, terms).await?
            }
            Some(stands) => stands.clone(),
        };
        if stands.status().is_terminal() {
            return Ok(stands);
        }
        self.until_settled(&stands).await
    }

    async fn submit_remote_call(
        &self,
        open: &UnansweredCall,
        terms: &SubmitOptions,
    ) -> Result<Execution, CallError> {
        standing(self.submit_call(&open.call, terms).await?)
    }

    /// Waits for the decision and for what the client makes of it. A cancelled run takes the call
    /// back, or gives it up; a suspended one leaves it to whoever goes on.
    async fn until_settled(&self, stands: &Execution) -> Result<Execution, CallError> {
        let gate = &self.run.runner.gate;
        tokio::select! {
            biased;
            () = self.signals.cancel.cancelled() => {
                // Not only this one: another may have taken its place.
                self.retry_recording("a cancellation", || gate.cancel_run(self.run.id())).await?;
            }
            () = self.signals.suspend.cancelled() => return Err(CallError::Suspended),
            settled = self.retry_recording("a result", || gate.wait_until_settled(stands.id)) => return settled,
        }
        self.retry_recording("a result", || gate.wait_until_settled(stands.id)).await
    }
}

/// Returns what stands of a call that was handed in.
fn standing(submitted: Submission) -> Result<Execution, CallError> {
    match submitted {
        Submission::Waiting(stands)
        | Submission::Approved(stands)
        | Submission::Refused(stands)
        | Submission::Before(stands) => Ok(*stands),
        // The gate hands out no permit for what others run.
        Submission::Permitted(permit) => Err(CallError::Store(
            countersign_gate::StoreError::corrupt("permit", permit.approval().to_string()),
        )),
    }
}
