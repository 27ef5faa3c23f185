//! Looks at the client: what the machine that would run a call says of it, before it is judged.
//!
//! The wait is short and bounded. Whatever goes wrong, the call is judged without, and says so.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    ClientLook, ClientWitness, Effect, ExecutionDraft, ExecutionId, Executor, Planner, Preview,
    ProjectId, ToolCall, Verdict, VerdictAction, VerdictReason,
};

use crate::clock::time_after;
use crate::gate::Gate;
use crate::store::StoreError;

/// How long a client has to say what is there.
const LOOK_TIME: Duration = Duration::from_secs(3);

/// How often to see whether it has told another server.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// After how long a look that nobody fetched is forgotten.
const FORGOTTEN: Duration = Duration::from_mins(1);

/// The tools of a client of which its machine has something to say.
const LOOKED_AT: &[&str] = &["write_file", "execute_command"];

/// What came of asking the client.
pub(crate) enum ClientLookOutcome {
    /// It is not for a client, or not about what is there.
    NotAsked,
    /// It said this.
    Seen(Box<ClientLook>, ClientWitness),
    /// It said nothing, and why.
    Unseen(&'static str),
}

impl Gate {
    /// Takes what a client says of a call that it would run; returns whether it was asked.
    pub async fn answer_client_look(
        &self,
        project: &ProjectId,
        execution: ExecutionId,
        holder: String,
        look: ClientLook,
    ) -> Result<bool, StoreError> {
        let store = &self.inner().store;
        let taken = store.answer_look(project.clone(), execution, holder, look).await?;
        self.inner().client_looks.wake(execution);
        Ok(taken)
    }

    /// Asks the client that would run a call what is there.
    pub(crate) async fn look_at_client(&self, call: &ToolCall) -> ClientLookOutcome {
        if call.executor != Executor::Client || !LOOKED_AT.contains(&call.tool_name.as_str()) {
            return ClientLookOutcome::NotAsked;
        }
        match Box::pin(self.ask_client(call)).await {
            Ok(outcome) => outcome,
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "a client could not be asked what is there");
                ClientLookOutcome::Unseen("the client could not be asked")
            }
        }
    }

    async fn ask_client(&self, call: &ToolCall) -> Result<ClientLookOutcome, StoreError> {
        let store = &self.inner().store;
        let Some(executor) = store.connected_executor(&call.project).await? else {
            return Ok(ClientLookOutcome::Unseen("no client is connected"));
        };
        if !executor.shows_files {
            return Ok(ClientLookOutcome::Unseen("the client does not show its files"));
        }
        let clock = &self.inner().clock;
        let now = clock.now();
        let stale = now.checked_sub(FORGOTTEN).unwrap_or(now);
        let told = self.inner().client_looks.wait_for(call.id);
        let client = executor.client;
        store.ask_for_look(call.clone(), client.clone(), stale, now).await?;
        let deadline = time_after(now, LOOK_TIME);
        let look = loop {
            if let Some(look) = store.find_look_answer(call.id).await? {
                break Some(look);
            }
            if clock.now() >= deadline {
                break None;
            }
            tokio::select! {
                () = told.notify.notified() => {}
                () = clock.sleep(LOOK_AGAIN) => {}
            }
        };
        drop(told);
        store.end_look(call.id).await?;
        Ok(match look {
            Some(look) => {
                let root = look.root.clone();
                ClientLookOutcome::Seen(Box::new(look), ClientWitness { client, root })
            }
            None => ClientLookOutcome::Unseen("the client did not answer in time"),
        })
    }
}

impl ClientLookOutcome {
    /// Returns the planner that knows what the client said.
    pub(crate) fn planner(&self, planner: &Arc<dyn Planner>) -> Arc<dyn Planner> {
        match self {
            Self::Seen(look, _) => planner.with_client_look(look),
            Self::NotAsked | Self::Unseen(_) => None,
        }
        .unwrap_or_else(|| planner.clone())
    }

    /// Returns which client stands for what is shown.
    pub(crate) fn witness(&self) -> Option<ClientWitness> {
        match self {
            Self::Seen(_, witness) => Some(witness.clone()),
            Self::NotAsked | Self::Unseen(_) => None,
        }
    }

    /// Says with a request that waits what is not known of the client's file.
    pub(crate) fn add_unseen_reason(&self, shown: ExecutionDraft) -> ExecutionDraft {
        let unbound = shown.preview().is_none_or(|it| it.preimages().is_empty());
        let writes = shown.effects().iter().any(|effect| matches!(effect, Effect::Write(_)));
        let of_client = shown.call().executor == Executor::Client;
        let why = match self {
            Self::Unseen(why) if unbound => format!(" ({why})"),
            Self::NotAsked | Self::Unseen(_) | Self::Seen(..) if unbound => String::new(),
            _ if matches!(shown.preview(), Some(Preview::Generic { .. })) => {
                " as text, but it is the same one when this runs".to_owned()
            }
            _ => return shown,
        };
        if !of_client || !writes {
            return shown;
        }
        let text = format!("the content of the client's file is not known{why}");
        let reason = VerdictReason::new(VerdictAction::Ask, text);
        let reasons = shown.verdict().reasons.iter().cloned().chain([reason]).collect();
        shown.with_verdict(Verdict::from_reasons(reasons))
    }
}
