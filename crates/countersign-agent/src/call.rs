//! One call of an answer: through the gate, run if it may, recorded whatever comes of it.

use std::future::Future;
use std::sync::Arc;

use countersign_core::{
    ApprovalId, CallPlan, Execution, ExecutionFailure, ExecutionState, InvalidCall, Planner,
    Preview, Supervision, ToolCall, ToolOutput,
};
use countersign_gate::{
    Admission, AskOptions, DecideError, StoreError, Submission, SubmitOptions, interrupted_failure,
    new_id, retry_until_available,
};
use countersign_tools::Tool;

use crate::answer_outcome::UnansweredCall;
use crate::message::MessageToolUse;
use crate::rehearsal::RehearsalTask;
use crate::tool_run::ToolRunOutcome;
use crate::turn::RunTurn;

/// How often a call that keeps moving under its approval is asked for again.
const ASK_AGAIN: usize = 3;

/// Why a call got no answer at the gate.
pub(crate) enum CallError {
    /// The run is left as it stands, and so is the call.
    Suspended,
    /// It could not be recorded.
    Store(StoreError),
}

impl From<StoreError> for CallError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl RunTurn<'_> {
    /// Takes one call to its answer; none if the run is to be left as it stands.
    ///
    /// What moved between the decision and the running is asked for again, a few times.
    pub(crate) async fn answer_call(&self, open: &UnansweredCall) -> Option<ToolOutput> {
        let UnansweredCall { call, stands } = open;
        let tool = self.run.runner.toolbox.get(&call.name);
        let terms = self.terms(call, tool).await;
        if self.is_suspended() {
            return None;
        }
        if self.run.runner.config.executor.is_remote() {
            return self.answer_remote_call(open, &terms).await;
        }
        let mut passage = match stands {
            None => self.pass(call, &terms).await,
            Some(stands) => self.go_on(call, stands, &terms).await,
        };
        for again in (0..=ASK_AGAIN).rev() {
            let ran = match passage {
                Ok(Admission::Refused(stands)) => {
                    return Some(stands.to_tool_output().unwrap_or_else(not_recorded_output));
                }
                Ok(Admission::Permitted(permit)) => self.execute(*permit, tool, again > 0).await,
                Err(CallError::Suspended) => return None,
                Err(CallError::Store(error)) => return Some(log_unrecorded_call(call, &error)),
            };
            passage = match ran {
                ToolRunOutcome::Done(output) => return Some(output),
                ToolRunOutcome::Moved { stale, why } => {
                    self.pass_again(call, stale, why, &terms).await
                }
            };
        }
        Some(not_recorded_output())
    }

    async fn terms(&self, call: &MessageToolUse, tool: Option<&Arc<dyn Tool>>) -> SubmitOptions {
        // Nobody has said yet that nobody need be asked.
        let asks = || Supervision::ToolDecides { needs_approval: true }.into();
        tokio::select! {
            biased;
            () = self.signals.cancel.cancelled() => asks(),
            () = self.signals.suspend.cancelled() => asks(),
            terms = self.run.runner.consent.terms(tool, &call.input) => terms,
        }
    }

    async fn pass(
        &self,
        call: &MessageToolUse,
        terms: &SubmitOptions,
    ) -> Result<Admission, CallError> {
        let submitted = self.submit_call(call, terms).await?;
        self.passage(submitted).await
    }

    /// Hands a call in, after those before it in the answer.
    pub(crate) async fn submit_call(
        &self,
        call: &MessageToolUse,
        terms: &SubmitOptions,
    ) -> Result<Submission, CallError> {
        let made = self.tool_call(call);
        let _in_order = self.handing_in.lock().await;
        if self.is_suspended() {
            return Err(CallError::Suspended);
        }
        let (gate, planner) = (&self.run.runner.gate, self.planner(call));
        let submit = || gate.submit(made.clone(), planner.clone(), terms);
        self.retry_recording("a call", submit).await
    }

    /// Goes on with a call where an earlier driver of the run has left it.
    async fn go_on(
        &self,
        call: &MessageToolUse,
        stands: &Execution,
        terms: &SubmitOptions,
    ) -> Result<Admission, CallError> {
        let gate = &self.run.runner.gate;
        match &stands.state {
            ExecutionState::AwaitingApproval { .. } | ExecutionState::Approved { .. } => {
                self.admission(stands).await
            }
            // Whatever it has read, reading it again changes nothing.
            ExecutionState::Executing { .. } if stands.is_read_only() => {
                self.pass_again(call, stands.id, interrupted_failure(), terms).await
            }
            ExecutionState::Executing { .. } => {
                let interrupt = || async { split_store_error(gate.interrupt(stands.id).await) };
                match self.retry_recording("an interruption", interrupt).await? {
                    Ok(failed) => Ok(Admission::Refused(Box::new(failed))),
                    Err(DecideError::AlreadySettled(settled)) => Ok(Admission::Refused(settled.0)),
                    Err(_) => self.pass(call, terms).await,
                }
            }
            // Whoever was to take its place was never recorded.
            ExecutionState::Failed { replaced_by: Some(_), .. }
            | ExecutionState::Cancelled { replaced_by: Some(_), .. } => {
                let planner = self.planner(call);
                let ask = || gate.resubmit_replacement(stands, planner.clone(), terms);
                let heir = self.retry_recording("a call", ask).await?;
                self.passage(heir).await
            }
            ExecutionState::Pending => self.pass(call, terms).await,
            ExecutionState::Completed { .. }
            | ExecutionState::Failed { .. }
            | ExecutionState::Rejected { .. }
            | ExecutionState::Timeout { .. }
            | ExecutionState::Cancelled { .. } => Ok(Admission::Refused(Box::new(stands.clone()))),
        }
    }

    async fn pass_again(
        &self,
        call: &MessageToolUse,
        stale: ApprovalId,
        why: ExecutionFailure,
        terms: &SubmitOptions,
    ) -> Result<Admission, CallError> {
        let gate = &self.run.runner.gate;
        let planner = self.planner(call);
        let question = AskOptions::default();
        let again = || gate.resubmit(stale, why.clone(), planner.clone(), terms, &question);
        let submitted = match self.retry_recording("a call", again).await? {
            // It has given way, but the database was away before its heir was there.
            Submission::Refused(stands) if stands.replaced_by().is_some() => {
                let heir = || gate.resubmit_replacement(&stands, planner.clone(), terms);
                self.retry_recording("a call", heir).await?
            }
            submitted => submitted,
        };
        self.passage(submitted).await
    }

    async fn passage(&self, submitted: Submission) -> Result<Admission, CallError> {
        match submitted {
            Submission::Permitted(permit) => Ok(Admission::Permitted(permit)),
            // Only calls that others run are approved without a permit, or were handed in before.
            Submission::Refused(approval)
            | Submission::Approved(approval)
            | Submission::Before(approval) => Ok(Admission::Refused(approval)),
            Submission::Waiting(asked) => self.admission(&asked).await,
        }
    }

    /// Waits for the decision, or takes the request back when the run is cancelled. When it is
    /// suspended, the request goes on waiting without us.
    async fn admission(&self, asked: &Execution) -> Result<Admission, CallError> {
        let gate = &self.run.runner.gate;
        let tool = self.run.runner.toolbox.get(&asked.call.tool_name);
        let rehearsing = RehearsalTask::begin(gate, tool, asked).await;
        tokio::select! {
            biased;
            () = self.signals.cancel.cancelled() => {
                // Not only this one: another may have taken its place.
                self.retry_recording("a cancellation", || gate.cancel_run(self.run.id())).await?;
            }
            () = self.signals.suspend.cancelled() => return Err(CallError::Suspended),
            decided = self.retry_recording("a decision", || gate.wait_for_decision(asked.id)) => drop(decided?),
            error = self.ask_program(asked) => return Err(error.into()),
        }
        // Only now, where nothing can drop it half-way: it may start the call.
        let passage = self.retry_recording("a start", || gate.wait_for_admission(asked.id)).await?;
        if let (Admission::Permitted(permit), Some(rehearsing)) = (&passage, rehearsing)
            && permit.rehearsal().is_some()
        {
            self.rehearsals.hold(permit.approval(), rehearsing);
        }
        Ok(passage)
    }

    /// Waits for a database that is away, or whose disk is full, unless the run is to be left.
    pub(crate) async fn retry_recording<T, F>(
        &self,
        what: &'static str,
        try_it: impl Fn() -> F,
    ) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let clock = self.run.runner.gate.clock();
        let left = self.signals.suspend.cancelled();
        retry_until_available(clock, what, left, try_it).await.map_err(|error| {
            let is_left = error.is_transient() && self.signals.suspend.is_cancelled();
            if is_left { CallError::Suspended } else { CallError::Store(error) }
        })
    }

    pub(crate) fn is_suspended(&self) -> bool {
        self.signals.suspend.is_cancelled() && !self.signals.cancel.is_cancelled()
    }

    /// Puts a request before the program, if it is the program that decides.
    ///
    /// Returns only if the decision could not be recorded. What came of it is read from the gate,
    /// where the deadline may have been faster.
    async fn ask_program(&self, asked: &Execution) -> StoreError {
        let runner = &self.run.runner;
        if let Some(callback) = runner.consent.callback() {
            if let Some(reading) = &runner.reading {
                reading.wait_until_reached(asked.id).await;
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

    pub(crate) fn tool_call(&self, call: &MessageToolUse) -> ToolCall {
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
    pub(crate) fn planner(&self, call: &MessageToolUse) -> Arc<dyn Planner> {
        let toolbox = &self.run.runner.toolbox;
        match (&call.broken_input, toolbox.get(&call.name)) {
            (Some(_), _) => Arc::new(RefusingPlanner(format!(
                "The input of `{}` was not a whole JSON object; send the call again",
                call.name
            ))),
            (None, Some(tool)) => tool.clone(),
            (None, None) => Arc::new(RefusingPlanner(format!(
                "Unknown tool: {}. There are: {}",
                call.name,
                toolbox.names().collect::<Vec<_>>().join(", ")
            ))),
        }
    }
}

/// Plans nothing: for calls that cannot be made, so that they too go through the gate and its record.
struct RefusingPlanner(String);

impl Planner for RefusingPlanner {
    fn plan(&self, _: &ToolCall) -> Result<CallPlan, InvalidCall> {
        Err(InvalidCall(self.0.clone()))
    }

    fn preview(&self, _: &ToolCall) -> Result<Preview, InvalidCall> {
        Err(InvalidCall(self.0.clone()))
    }
}

/// What the model is told of a call that could not be recorded.
pub(crate) fn log_unrecorded_call(call: &MessageToolUse, error: &StoreError) -> ToolOutput {
    let error: &dyn std::error::Error = error;
    tracing::error!(error, tool = call.name, "a call could not be recorded");
    not_recorded_output()
}

/// Tells failures of the store, which may pass, from answers.
pub(crate) fn split_store_error<T>(
    done: Result<T, DecideError>,
) -> Result<Result<T, DecideError>, StoreError> {
    match done {
        Err(DecideError::Store(error)) => Err(error),
        done => Ok(done),
    }
}

pub(crate) fn not_recorded_output() -> ToolOutput {
    ToolOutput::error("The call could not be recorded, so it was not run")
}
