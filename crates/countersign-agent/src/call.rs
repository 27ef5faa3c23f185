//! One call of an answer: through the gate, run if it may, recorded whatever comes of it.

use std::future::Future;
use std::sync::Arc;

use countersign_core::{
    Approval, ApprovalId, Failure, Invalid, Plan, Planner, Preview, Stance, State, ToolCall,
    ToolOutput,
};
use countersign_gate::{
    DecideError, Passage, Question, StoreError, Submitted, Terms, interrupted, new_id, patiently,
};
use countersign_tools::Tool;

use crate::execution::Ran;
use crate::message::ToolUse;
use crate::outcome::Open;
use crate::rehearsing::Rehearsing;
use crate::turn::Turn;

/// How often a call that keeps moving under its approval is asked for again.
const ASK_AGAIN: usize = 3;

/// Why a call got no answer at the gate.
pub(crate) enum Hindered {
    /// The run is left as it stands, and so is the call.
    Suspended,
    /// It could not be recorded.
    Store(StoreError),
}

impl From<StoreError> for Hindered {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Turn<'_> {
    /// Takes one call to its answer; none if the run is to be left as it stands.
    ///
    /// What moved between the decision and the running is asked for again, a few times.
    pub(crate) async fn call(&self, open: &Open) -> Option<ToolOutput> {
        let Open { call, stands } = open;
        let tool = self.run.runner.toolbox.get(&call.name);
        let terms = self.terms(call, tool).await;
        if self.is_suspended() {
            return None;
        }
        if self.run.runner.config.executor.is_elsewhere() {
            return self.call_elsewhere(open, &terms).await;
        }
        let mut passage = match stands {
            None => self.pass(call, &terms).await,
            Some(stands) => self.go_on(call, stands, &terms).await,
        };
        for again in (0..=ASK_AGAIN).rev() {
            let ran = match passage {
                Ok(Passage::Refused(stands)) => {
                    return Some(stands.answer().unwrap_or_else(not_recorded));
                }
                Ok(Passage::Permitted(permit)) => self.execute(*permit, tool, again > 0).await,
                Err(Hindered::Suspended) => return None,
                Err(Hindered::Store(error)) => return Some(unrecorded(call, &error)),
            };
            passage = match ran {
                Ran::Done(output) => return Some(output),
                Ran::Moved { stale, why } => self.pass_again(call, stale, why, &terms).await,
            };
        }
        Some(not_recorded())
    }

    async fn terms(&self, call: &ToolUse, tool: Option<&Arc<dyn Tool>>) -> Terms {
        // Nobody has said yet that nobody need be asked.
        let asks = || Stance::ToolDecides { needs_approval: true }.into();
        tokio::select! {
            biased;
            () = self.signals.cancel.cancelled() => asks(),
            () = self.signals.suspend.cancelled() => asks(),
            terms = self.run.runner.consent.terms(tool, &call.input) => terms,
        }
    }

    async fn pass(&self, call: &ToolUse, terms: &Terms) -> Result<Passage, Hindered> {
        let submitted = self.hand_in(call, terms).await?;
        self.passage(submitted).await
    }

    /// Hands a call in, after those before it in the answer.
    pub(crate) async fn hand_in(
        &self,
        call: &ToolUse,
        terms: &Terms,
    ) -> Result<Submitted, Hindered> {
        let made = self.tool_call(call);
        let _in_order = self.handing_in.lock().await;
        if self.is_suspended() {
            return Err(Hindered::Suspended);
        }
        let (gate, planner) = (&self.run.runner.gate, self.planner(call));
        let submit = || gate.submit(made.clone(), planner.clone(), terms);
        self.recorded("a call", submit).await
    }

    /// Goes on with a call where an earlier driver of the run has left it.
    async fn go_on(
        &self,
        call: &ToolUse,
        stands: &Approval,
        terms: &Terms,
    ) -> Result<Passage, Hindered> {
        let gate = &self.run.runner.gate;
        match &stands.state {
            State::AwaitingApproval { .. } | State::Approved { .. } => self.admission(stands).await,
            // Whatever it has read, reading it again changes nothing.
            State::Executing { .. } if stands.is_read_only() => {
                self.pass_again(call, stands.id, interrupted(), terms).await
            }
            State::Executing { .. } => {
                let interrupt = || async { storable(gate.interrupt(stands.id).await) };
                match self.recorded("an interruption", interrupt).await? {
                    Ok(failed) => Ok(Passage::Refused(Box::new(failed))),
                    Err(DecideError::AlreadySettled(settled)) => Ok(Passage::Refused(settled.0)),
                    Err(_) => self.pass(call, terms).await,
                }
            }
            // Whoever was to take its place was never recorded.
            State::Failed { replaced_by: Some(_), .. }
            | State::Cancelled { replaced_by: Some(_), .. } => {
                let planner = self.planner(call);
                let ask = || gate.ask_for_heir(stands, planner.clone(), terms);
                let heir = self.recorded("a call", ask).await?;
                self.passage(heir).await
            }
            State::Pending => self.pass(call, terms).await,
            State::Completed { .. }
            | State::Failed { .. }
            | State::Rejected { .. }
            | State::Timeout { .. }
            | State::Cancelled { .. } => Ok(Passage::Refused(Box::new(stands.clone()))),
        }
    }

    async fn pass_again(
        &self,
        call: &ToolUse,
        stale: ApprovalId,
        why: Failure,
        terms: &Terms,
    ) -> Result<Passage, Hindered> {
        let gate = &self.run.runner.gate;
        let planner = self.planner(call);
        let question = Question::default();
        let again = || gate.ask_again(stale, why.clone(), planner.clone(), terms, &question);
        let submitted = match self.recorded("a call", again).await? {
            // It has given way, but the database was away before its heir was there.
            Submitted::Refused(stands) if stands.replaced_by().is_some() => {
                let heir = || gate.ask_for_heir(&stands, planner.clone(), terms);
                self.recorded("a call", heir).await?
            }
            submitted => submitted,
        };
        self.passage(submitted).await
    }

    async fn passage(&self, submitted: Submitted) -> Result<Passage, Hindered> {
        match submitted {
            Submitted::Permitted(permit) => Ok(Passage::Permitted(permit)),
            // Only calls that others run are approved without a permit, or were handed in before.
            Submitted::Refused(approval)
            | Submitted::Approved(approval)
            | Submitted::Before(approval) => Ok(Passage::Refused(approval)),
            Submitted::Waiting(asked) => self.admission(&asked).await,
        }
    }

    /// Waits for the decision, or takes the request back when the run is cancelled. When it is
    /// suspended, the request goes on waiting without us.
    async fn admission(&self, asked: &Approval) -> Result<Passage, Hindered> {
        let gate = &self.run.runner.gate;
        let tool = self.run.runner.toolbox.get(&asked.call.tool_name);
        let rehearsing = Rehearsing::begin(gate, tool, asked).await;
        tokio::select! {
            biased;
            () = self.signals.cancel.cancelled() => {
                // Not only this one: another may have taken its place.
                self.recorded("a cancellation", || gate.cancel_run(self.run.id())).await?;
            }
            () = self.signals.suspend.cancelled() => return Err(Hindered::Suspended),
            decided = self.recorded("a decision", || gate.wait(asked.id)) => drop(decided?),
            error = self.ask_program(asked) => return Err(error.into()),
        }
        // Only now, where nothing can drop it half-way: it may start the call.
        let passage = self.recorded("a start", || gate.admission(asked.id)).await?;
        if let (Passage::Permitted(permit), Some(rehearsing)) = (&passage, rehearsing)
            && permit.rehearsal().is_some()
        {
            self.rehearsals.hold(permit.approval(), rehearsing);
        }
        Ok(passage)
    }

    /// Waits for a database that is away, or whose disk is full, unless the run is to be left.
    pub(crate) async fn recorded<T, F>(
        &self,
        what: &'static str,
        try_it: impl Fn() -> F,
    ) -> Result<T, Hindered>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let clock = self.run.runner.gate.clock();
        let left = self.signals.suspend.cancelled();
        patiently(clock, what, left, try_it).await.map_err(|error| {
            let is_left = error.is_passing() && self.signals.suspend.is_cancelled();
            if is_left { Hindered::Suspended } else { Hindered::Store(error) }
        })
    }

    pub(crate) fn is_suspended(&self) -> bool {
        self.signals.suspend.is_cancelled() && !self.signals.cancel.is_cancelled()
    }

    /// Puts a request before the program, if it is the program that decides.
    ///
    /// Returns only if the decision could not be recorded. What came of it is read from the gate,
    /// where the deadline may have been faster.
    async fn ask_program(&self, asked: &Approval) -> StoreError {
        let runner = &self.run.runner;
        if let Some(callback) = runner.consent.callback() {
            if let Some(reading) = &runner.reading {
                reading.reaches(asked.id).await;
            }
            let decision = callback.decide(asked).await;
            let seen = Some(asked.digest.clone());
            if let Err(DecideError::Store(error)) =
                runner.gate.decide(asked.id, decision, seen).await
            {
                return error;
            }
        }
        std::future::pending().await
    }

    pub(crate) fn tool_call(&self, call: &ToolUse) -> ToolCall {
        let journal = &self.run.journal;
        ToolCall {
            id: new_id(),
            project: journal.project().clone(),
            session: journal.session().clone(),
            run: Some(journal.run()),
            tool_use_id: call.id.as_str().into(),
            tool_name: call.name.clone(),
            input: call.input.clone(),
            cwd: self.run.runner.config.cwd.clone(),
            executor: self.run.runner.config.executor,
            agent: self.run.kin.path(),
        }
    }

    /// Returns who plans a call: its tool, or one that refuses it with the reason.
    pub(crate) fn planner(&self, call: &ToolUse) -> Arc<dyn Planner> {
        let toolbox = &self.run.runner.toolbox;
        match (&call.broken_input, toolbox.get(&call.name)) {
            (Some(_), _) => Arc::new(Refuses(format!(
                "The input of `{}` was not a whole JSON object; send the call again",
                call.name
            ))),
            (None, Some(tool)) => tool.clone(),
            (None, None) => Arc::new(Refuses(format!(
                "Unknown tool: {}. There are: {}",
                call.name,
                toolbox.names().collect::<Vec<_>>().join(", ")
            ))),
        }
    }
}

/// Plans nothing: for calls that cannot be made, so that they too go through the gate and its record.
struct Refuses(String);

impl Planner for Refuses {
    fn plan(&self, _: &ToolCall) -> Result<Plan, Invalid> {
        Err(Invalid(self.0.clone()))
    }

    fn preview(&self, _: &ToolCall) -> Result<Preview, Invalid> {
        Err(Invalid(self.0.clone()))
    }
}

/// What the model is told of a call that could not be recorded.
pub(crate) fn unrecorded(call: &ToolUse, error: &StoreError) -> ToolOutput {
    let error: &dyn std::error::Error = error;
    tracing::error!(error, tool = call.name, "a call could not be recorded");
    not_recorded()
}

/// Tells failures of the store, which may pass, from answers.
pub(crate) fn storable<T>(
    done: Result<T, DecideError>,
) -> Result<Result<T, DecideError>, StoreError> {
    match done {
        Err(DecideError::Store(error)) => Err(error),
        done => Ok(done),
    }
}

pub(crate) fn not_recorded() -> ToolOutput {
    ToolOutput::error("The call could not be recorded, so it was not run")
}
