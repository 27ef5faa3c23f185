//! Going on with a run whose driver is gone, from what is recorded of it.

use std::collections::HashMap;

use countersign_core::{Approval, Status};
use countersign_gate::{LeftRun, Recorded, StoreError};
use serde::Deserialize;

use crate::message::{Message, Role};
use crate::outcome::{Answer, Open, Outcome};
use crate::runner::{Run, Runner};
use crate::settings::RunSettings;
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
    pub async fn resume(&self, left: LeftRun) -> Result<Run, ResumeError> {
        let settings = RunSettings::read(&left.settings)?;
        let consent = settings.consent(&self.consent);
        let runner = Self { consent, config: settings.over(&self.config), ..self.clone() };
        let journal = self.gate.resume_run(&left).await?.ok_or(ResumeError::Over)?;
        // The children of its agent have gone with its driver: nobody waits for their calls.
        task::settle_calls(&self.gate, left.id, None).await?;
        let past = self.past(&left).await?;
        let request = runner.request();
        // Only now: from here on, dropping it ends the run.
        let mut run = Run::new(runner, journal, request);
        for said in past.said.iter().filter(|said| said.of_this_run) {
            let usage = said.outcome.usage;
            run.answers += u32::from(said.message.role == Role::Assistant);
            run.usage.input_tokens += usage.input_tokens;
            run.usage.output_tokens += usage.output_tokens;
        }
        run.left = past.left();
        run.was_cancelled = run.left.as_ref().is_some_and(was_cancelled);
        run.request.messages = past.said.into_iter().map(|said| said.message).collect();
        Ok(run)
    }

    async fn past(&self, left: &LeftRun) -> Result<Past, StoreError> {
        let recorded = self.gate.store().recorded(&left.project, &left.session).await?;
        let said = recorded.into_iter().map(|it| Said::read(it, left));
        let said = said.collect::<Result<_, _>>()?;
        let mut made = self.gate.calls_of(left.id).await?;
        made.retain(|call| call.call.agent.is_none());
        Ok(Past { said, made })
    }
}

/// What is recorded of a conversation.
struct Past {
    said: Vec<Said>,
    /// What stands of the run's own calls, in the order they were made.
    made: Vec<Approval>,
}

struct Said {
    of_this_run: bool,
    message: Message,
    outcome: Outcome,
}

impl Said {
    fn read(recorded: Recorded, left: &LeftRun) -> Result<Self, StoreError> {
        let unreadable = |what| move |error: serde_json::Error| StoreError::corrupt(what, error);
        let outcome = recorded.outcome.as_ref().map(Outcome::deserialize).transpose();
        Ok(Self {
            of_this_run: recorded.run == left.id,
            message: Message::deserialize(recorded.body).map_err(unreadable("message"))?,
            outcome: outcome.map_err(unreadable("outcome"))?.unwrap_or_default(),
        })
    }
}

impl Past {
    /// Returns the last answer, if it is the last word: what it asks for is not done, or was not
    /// seen to be.
    fn left(&self) -> Option<Answer> {
        let (last, before) = self.said.split_last()?;
        if last.message.role != Role::Assistant {
            return None;
        }
        let mut answer = last.outcome.clone().answer(&last.message);
        // Ids are unique to the API. Should one come twice all the same, each has its own call.
        let before = before.iter().filter(|said| said.of_this_run);
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for call in before.flat_map(|said| said.message.tool_uses()) {
            *seen.entry(&call.id).or_default() += 1;
        }
        for (Open { stands, .. }, call) in answer.calls.iter_mut().zip(last.message.tool_uses()) {
            let earlier = seen.entry(&call.id).or_default();
            let own = |made: &&Approval| made.call.tool_use_id.as_str() == call.id;
            *stands = self.made.iter().filter(own).nth(*earlier).cloned();
            *earlier += 1;
        }
        Some(answer)
    }
}

/// Whether a call of the answer was taken back: only who stops a run does that.
fn was_cancelled(answer: &Answer) -> bool {
    let mut stands = answer.calls.iter().filter_map(|open| open.stands.as_ref());
    stands.any(|it| it.status() == Status::Cancelled && it.replaced_by().is_none())
}
