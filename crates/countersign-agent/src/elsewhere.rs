//! Calls that somebody else runs: handed in here, waited for here, run where the client is.

use countersign_core::{Approval, State, ToolOutput};
use countersign_gate::{Submitted, Terms};

use crate::call::{Hindered, not_recorded, unrecorded};
use crate::outcome::Open;
use crate::turn::Turn;

impl Turn<'_> {
    /// Takes a call that a client runs to its answer; none if the run is to be left as it stands.
    ///
    /// Whoever goes on with the run later finds the call where it then stands: nothing of it is
    /// known only here.
    pub(crate) async fn call_elsewhere(&self, open: &Open, terms: &Terms) -> Option<ToolOutput> {
        match self.answer_elsewhere(open, terms).await {
            Ok(settled) => Some(settled.answer().unwrap_or_else(not_recorded)),
            Err(Hindered::Suspended) => None,
            Err(Hindered::Store(error)) => Some(unrecorded(&open.call, &error)),
        }
    }

    async fn answer_elsewhere(&self, open: &Open, terms: &Terms) -> Result<Approval, Hindered> {
        let stands = match &open.stands {
            None => self.handed_in(open, terms).await?,
            // Whoever was to take its place was never recorded.
            Some(stands) if stands.replaced_by().is_some() => {
                let (gate, planner) = (&self.run.runner.gate, self.planner(&open.call));
                let ask = || gate.ask_for_heir(stands, planner.clone(), terms);
                standing(self.recorded("a call", ask).await?)?
            }
            Some(stands) if matches!(stands.state, State::Pending) => {
                self.handed_in(open, terms).await?
            }
            Some(stands) => stands.clone(),
        };
        if stands.status().is_terminal() {
            return Ok(stands);
        }
        self.until_settled(&stands).await
    }

    async fn handed_in(&self, open: &Open, terms: &Terms) -> Result<Approval, Hindered> {
        standing(self.hand_in(&open.call, terms).await?)
    }

    /// Waits for the decision and for what the client makes of it. A cancelled run takes the call
    /// back, or gives it up; a suspended one leaves it to whoever goes on.
    async fn until_settled(&self, stands: &Approval) -> Result<Approval, Hindered> {
        let gate = &self.run.runner.gate;
        tokio::select! {
            biased;
            () = self.signals.cancel.cancelled() => {
                // Not only this one: another may have taken its place.
                self.recorded("a cancellation", || gate.cancel_run(self.run.id())).await?;
            }
            () = self.signals.suspend.cancelled() => return Err(Hindered::Suspended),
            settled = self.recorded("a result", || gate.settled(stands.id)) => return settled,
        }
        self.recorded("a result", || gate.settled(stands.id)).await
    }
}

/// Returns what stands of a call that was handed in.
fn standing(submitted: Submitted) -> Result<Approval, Hindered> {
    match submitted {
        Submitted::Waiting(stands)
        | Submitted::Approved(stands)
        | Submitted::Refused(stands)
        | Submitted::Before(stands) => Ok(*stands),
        // The gate hands out no permit for what others run.
        Submitted::Permitted(permit) => Err(Hindered::Store(
            countersign_gate::StoreError::corrupt("permit", permit.approval().to_string()),
        )),
    }
}
