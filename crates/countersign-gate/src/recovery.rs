//! Recovery: what a process that died left behind.

use countersign_core::{Approval, Event, Failure, State};

use crate::gate::Gate;
use crate::store::{RunEnd, StoreError};

impl Gate {
    /// Ends what a process that died left unfinished. To be called before anything else.
    ///
    /// What waited is taken back, since whoever asked is gone; what had started may or may not have
    /// happened, and says so.
    pub async fn recover(&self) -> Result<(), StoreError> {
        let now = self.inner().clock.now();
        for left in self.inner().store.unfinished().await? {
            let step = move |approval: Approval| match approval.state {
                State::Executing { .. } => approval.fail(interrupted(), now),
                _ => approval.cancel(now),
            };
            let _ = self.transition(left.id, step).await?;
        }
        for (project, session, run) in self.inner().store.running().await? {
            let event = Event::RunFailed {
                code: "interrupted".to_owned(),
                message: "the server stopped in the middle of this run".to_owned(),
                hint: Some("send a prompt to go on with the conversation".to_owned()),
            };
            self.inner().store.end_run(&project, &session, run, RunEnd::Failed, event, now).await?;
        }
        Ok(())
    }
}

fn interrupted() -> Failure {
    Failure {
        error_type: "interrupted".to_owned(),
        error:
            "Interrupted: the server stopped while this ran. Whether it took effect is unknown; \
                look before trying again."
                .to_owned(),
    }
}
