//! One call of an answer: through the gate, run if it may, recorded whatever comes of it.

use std::future::Future;
use std::sync::Arc;

use countersign_core::{
    CallPlan, InvalidCall, Planner, Preview, Supervision, ToolCall, ToolOutput,
};
use countersign_gate::{
    Admission, CallEntry, CallTerms, DecideError, GateError, StoreError, SubmitOptions,
    TransientError, new_id, retry_until_available,
};
use countersign_tools::Tool;

use crate::answer_outcome::UnansweredCall;
use crate::call_error::CallError;
use crate::message::MessageToolUse;
use crate::turn::RunTurn;
use crate::turn_call_driver::TurnCallDriver;

impl RunTurn<'_> {
    /// Takes one call to its answer; none if the run is to be left as it stands.
    pub(crate) async fn answer_call(&self, open: &UnansweredCall) -> Option<ToolOutput> {
        let UnansweredCall { call, stands } = open;
        let tool = self.run.runner.toolbox.get(&call.name);
        let options = self.submit_options(call, tool).await;
        if self.is_suspended() {
            return None;
        }
        let terms = CallTerms::new(self.planner(call), options);
        if self.run.runner.config.executor.is_remote() {
            return self.answer_remote_call(open, &terms).await;
        }
        let entry = match stands {
            None => CallEntry::New(self.tool_call(call)),
            Some(stands) => CallEntry::Resumed(Box::new(stands.clone())),
        };
        let driver = TurnCallDriver::new(self, tool);
        match self.run.runner.gate.admit(entry, &terms, &driver).await {
            Ok(Admission::Ran(output)) => Some(output),
            Ok(Admission::Refused(stands)) => {
                Some(stands.to_tool_output().unwrap_or_else(not_recorded_output))
            }
            Err(CallError::Suspended) => None,
            Err(CallError::Gate(error)) => Some(log_unrecorded_call(call, &error)),
        }
    }

    async fn submit_options(
        &self,
        call: &MessageToolUse,
        tool: Option<&Arc<dyn Tool>>,
    ) -> SubmitOptions {
        // Nobody has said yet that nobody need be asked.
        let asks = || Supervision::ToolDecides { needs_approval: true }.into();
        tokio::select! {
            biased;
            () = self.signals.cancel.cancelled() => asks(),
            () = self.signals.suspend.cancelled() => asks(),
            options = self.run.runner.consent.submit_options(tool, &call.input) => options,
        }
    }

    /// Waits for a database that is away, or whose disk is full, unless the run is to be left.
    pub(crate) async fn retry_recording<T, E, F>(
        &self,
        what: &'static str,
        try_it: impl Fn() -> F,
    ) -> Result<T, CallError>
    where
        E: TransientError + Into<GateError>,
        F: Future<Output = Result<T, E>>,
    {
        let clock = self.run.runner.gate.clock();
        let left = self.signals.suspend.cancelled();
        let tried = retry_until_available(clock, what, left, try_it).await;
        tried.map_err(|error| self.call_error(error.into()))
    }

    /// Returns why a call is given up that could not be recorded.
    pub(crate) fn call_error(&self, error: GateError) -> CallError {
        let is_left = error.is_transient() && self.signals.suspend.is_cancelled();
        if is_left { CallError::Suspended } else { CallError::Gate(error) }
    }

    pub(crate) fn is_suspended(&self) -> bool {
        self.signals.suspend.is_cancelled() && !self.signals.cancel.is_cancelled()
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
pub(crate) fn log_unrecorded_call(call: &MessageToolUse, error: &GateError) -> ToolOutput {
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
