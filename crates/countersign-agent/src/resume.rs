//! Going on with a run whose driver is gone, from what is recorded of it.

use std::collections::HashMap;

use countersign_core::{Execution, ExecutionStatus};
use countersign_gate::{OrphanedRun, RecordedMessage, StoreError};
use serde::Deserialize;

use crate::answer_outcome::{AnswerFollowUp, AnswerOutcome, UnansweredCall};
use crate::message::{MessageRole, ModelMessage};
use crate::run_settings::RunSettings;
use crate::runner::{AgentRun, Runner};
use crate::task;

/// Why a run does not go on.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// What it was begun with cannot be read.
    #[error("the settings of this run cannot be read")]
    Settings(#[from] serde_json::Error),
    /// It has ended meanwhile.
    #[error("this run is over")]
    Over,
    /// It could not be read, or that it goes on could not be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Runner {
    /// Makes ready to go on with a run whose driver is gone.
    ///
    /// It goes on with what it was begun with. Nothing that was approved once runs twice, nothing
    /// that is recorded is lost: what waits is waited for, what was approved starts, what had
    /// started is said to be interrupted (or runs again if it only reads), and what has its answer
    /// keeps it.
    pub async fn resume(&self, left: OrphanedRun) -> Result<AgentRun, ResumeError> {
        let settings = RunSettings::from_json(&left.settings)?;
        let consent = settings.restore_consent(&self.consent);
        let runner = Self { consent, config: settings.apply_to(&self.config), ..self.clone() };
        let journal = self.gate.resume_run(&left).await?.ok_or(ResumeError::Over)?;
        // The children of its agent have gone with its driver: nobody waits for their calls.
        task::settle_calls(&self.gate, left.id, None).await?;
        let past = self.past(&left).await?;
        let request = runner.request();
        // Only now: from here on, dropping it ends the run.
        let mut run = AgentRun::new(runner, journal, request);
        for said in past.said.iter().filter(|said| said.of_this_run) {
            let usage = said.outcome.usage;
            run.answers += u32::from(said.message.role == MessageRole::Assistant);
            run.usage.input_tokens += usage.input_tokens;
            run.usage.output_tokens += usage.output_tokens;
        }
        run.left = past.left();
        run.was_cancelled = run.left.as_ref().is_some_and(was_cancelled);
        run.request.messages = past.said.into_iter().map(|said| said.message).collect();
        Ok(run)
    }

    async fn past(&self, left: &OrphanedRun) -> Result<ResumedConversation, StoreError> {
        let recorded = self.gate.store().recorded_messages(&left.project, &left.session).await?;
        let said = recorded.into_iter().map(|it| ResumedMessage::read(it, left));
        let said = said.collect::<Result<_, _>>()?;
        let mut made = self.gate.calls_in_run(left.id).await?;
        made.retain(|call| call.call().agent.is_none());
        Ok(ResumedConversation { said, made })
    }
}

/// What is recorded of a conversation.
struct ResumedConversation {
    said: Vec<ResumedMessage>,
    /// What stands of the run's own calls, in the order they were made.
    made: Vec<Execution>,
}

struct ResumedMessage {
    of_this_run: bool,
    message: ModelMessage,
    outcome: AnswerOutcome,
}

impl ResumedMessage {
    fn read(recorded: RecordedMessage, left: &OrphanedRun) -> Result<Self, StoreError> {
        let unreadable = |what| move |error: serde_json::Error| StoreError::corrupt(what, error);
        let outcome = recorded.outcome.as_ref().map(AnswerOutcome::deserialize).transpose();
        Ok(Self {
            of_this_run: recorded.run == left.id,
            message: ModelMessage::deserialize(recorded.body).map_err(unreadable("message"))?,
            outcome: outcome.map_err(unreadable("outcome"))?.unwrap_or_default(),
        })
    }
}

impl ResumedConversation {
    /// Returns the last answer, if it is the last word: what it asks for is not done, or was not
    /// seen to be.
    fn left(&self) -> Option<AnswerFollowUp> {
        let (last, before) = self.said.split_last()?;
        if last.message.role != MessageRole::Assistant {
            return None;
        }
        let mut answer = last.outcome.clone().into_follow_up(&last.message);
        // Ids are unique to the API. Should one come twice all the same, each has its own call.
        let before = before.iter().filter(|said| said.of_this_run);
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for call in before.flat_map(|said| said.message.tool_uses()) {
            *seen.entry(&call.id).or_default() += 1;
        }
        for (UnansweredCall { stands, .. }, call) in
            answer.calls.iter_mut().zip(last.message.tool_uses())
        {
            let earlier = seen.entry(&call.id).or_default();
            let own = |made: &&Execution| made.call().tool_use_id.as_str() == call.id;
            *stands = self.made.iter().filter(own).nth(*earlier).cloned();
            *earlier += 1;
        }
        Some(answer)
    }
}

/// Whether a call of the answer was taken back: only who stops a run does that.
fn was_cancelled(answer: &AnswerFollowUp) -> bool {
    let mut stands = answer.calls.iter().filter_map(|open| open.stands.as_ref());
    stands.any(|it| it.status() == ExecutionStatus::Cancelled && it.replaced_by().is_none())
}
