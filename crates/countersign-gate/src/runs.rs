//! Runs at the gate: begun, and told of in a journal.

use countersign_core::{ProjectId, RunId, SessionId};

use crate::activity_log::log_run_start;
use crate::gate::Gate;
use crate::journal::RunJournal;
use crate::store::{ConversationRepair, NewRun, RunKey, StoreError};

impl Gate {
    /// Begins a run; none if its conversation is in the middle of one.
    pub async fn begin_run(&self, run: NewRun) -> Result<Option<RunJournal>, StoreError> {
        let (project, session) = (run.project.clone(), run.session.clone());
        let journal = self.journal(RunKey { project, session, run: run.id });
        let began = self.inner().store.begin_run(run, self.inner().clock.now()).await?;
        if began {
            log_run_start(&journal.key, "run started");
        }
        Ok(began.then_some(journal))
    }

    /// Mends a conversation that the model's API would refuse, and tells of it in the log; returns what
    /// had to be changed. One in which another run than `own_run` goes on is left alone.
    pub async fn repair_conversation(
        &self,
        project: &ProjectId,
        session: &SessionId,
        own_run: Option<RunId>,
    ) -> Result<ConversationRepair, StoreError> {
        let now = self.inner().clock.now();
        self.inner().store.repair_conversation(project, session, own_run, now).await
    }

    pub(crate) fn journal(&self, key: RunKey) -> RunJournal {
        let (store, channels) = (self.inner().store.clone(), self.inner().channels.clone());
        let clock = self.inner().clock.clone();
        let began = clock.running_for();
        RunJournal { store, channels, clock, key, began, is_silent: false }
    }

    /// Returns the latest conversation of a project.
    pub async fn latest_session(
        &self,
        project: &ProjectId,
    ) -> Result<Option<SessionId>, StoreError> {
        let latest = self.inner().store.sessions(project, None, 1).await?;
        Ok(latest.into_iter().next().map(|session| session.id))
    }
}
