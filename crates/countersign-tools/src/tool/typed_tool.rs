//! Tools whose input has a type: what each of them says, and the one place that makes [`Tool`]s of them.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_core::{CallPlan, ClientLook, InvalidCall, Planner, Preview, ToolCall, ToolOutput};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::blocking::blocking;
use super::{NO_CLIENT_LOOK, NO_REHEARSAL, NeedsApproval, Tool, VerifiedPermit, input};
use crate::sandbox::rehearsal::{RehearsalError, StagedRehearsal};
use crate::tool_error::ToolError;

/// A tool by its input: what a call with it would do, and how that is shown.
///
/// With [`BlockingTool`] or [`AsyncTool`], which run a call, [`ToolAdapter`] makes a [`Tool`] of it.
pub(crate) trait TypedTool: Clone + fmt::Debug + Send + Sync + 'static {
    /// The name the model calls it by.
    const NAME: &'static str;

    /// What the model is told about when and how to use it.
    const DESCRIPTION: &'static str;

    /// What the model sends. The doc comments of its fields are in the schema.
    type Input: DeserializeOwned + JsonSchema;

    /// An input that was checked, with where its paths lead.
    type CheckedInput;

    /// Checks what the schema cannot say, and finds where the paths of an input lead. May read files.
    fn check(&self, input: Self::Input, call: &ToolCall)
    -> Result<Self::CheckedInput, InvalidCall>;

    /// Lists everything a call would do. Changes nothing.
    fn plan(&self, input: Self::CheckedInput, call: &ToolCall) -> Result<CallPlan, InvalidCall>;

    /// Shows a call. May read files; the input alone says enough where no file changes.
    fn preview(&self, _: Self::CheckedInput, call: &ToolCall) -> Result<Preview, InvalidCall> {
        Ok(input::as_preview(call))
    }

    /// Reads the input of a call, strictly.
    fn parse(call: &ToolCall) -> Result<Self::Input, InvalidCall> {
        input::parse(call)
    }

    /// Reads the input of a call and checks it.
    fn read(&self, call: &ToolCall) -> Result<Self::CheckedInput, InvalidCall> {
        self.check(Self::parse(call)?, call)
    }

    /// Returns what the model is told, where that depends on how the tool is set up.
    fn description(&self) -> &str {
        Self::DESCRIPTION
    }

    /// Returns what this machine says of a call that it would run for a server. May read files.
    fn client_look(&self, _call: &ToolCall) -> Result<ClientLook, InvalidCall> {
        Err(InvalidCall(NO_CLIENT_LOOK.to_owned()))
    }

    /// Returns the tool that judges with what a client says of the call; none where nothing is asked.
    fn with_client_look(&self, _look: &ClientLook) -> Option<Self> {
        None
    }
}

/// A tool whose work blocks: it runs on a thread of its own.
pub(crate) trait BlockingTool: TypedTool {
    /// Runs a call on its permit, as [`Tool::run`] says.
    ///
    /// The input was read and checked again just now, so its paths may lead elsewhere than when they
    /// were judged: [`VerifiedPermit::check_reach`] comes first.
    fn run_blocking(
        &self,
        input: Self::CheckedInput,
        permit: &VerifiedPermit,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError>;
}

/// A tool whose work waits for something else: a child, a host, a lock.
#[async_trait]
pub(crate) trait AsyncTool: TypedTool {
    /// Runs a call on its permit, as [`Tool::run`] says.
    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError>;

    /// Tries a call out, as [`Tool::rehearse`] says.
    async fn rehearse(
        &self,
        _call: &ToolCall,
        _cancel: CancellationToken,
    ) -> Result<StagedRehearsal, RehearsalError> {
        Err(RehearsalError(NO_REHEARSAL.to_owned()))
    }

    /// Returns whether calls of this tool can be tried out at all.
    fn rehearses(&self) -> bool {
        false
    }
}

#[async_trait]
impl<T: BlockingTool> AsyncTool for T {
    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let tool = self.clone();
        blocking(&cancel, move |cancel| {
            let input = tool.read(permit.call())?;
            tool.run_blocking(input, &permit, cancel)
        })
        .await
    }
}

/// A tool of ours, ready to be put into a [`super::Toolbox`].
#[derive(Clone, Debug)]
pub struct ToolAdapter<T> {
    pub(crate) tool: T,
    needs_approval: NeedsApproval,
}

impl<T> ToolAdapter<T> {
    /// Returns the tool, asking before it runs or not.
    pub(crate) fn for_tool(tool: T, asks: bool) -> Self {
        Self { tool, needs_approval: asks.into() }
    }

    /// Sets whether it asks before it runs.
    #[must_use]
    pub fn with_needs_approval(self, needs_approval: impl Into<NeedsApproval>) -> Self {
        Self { needs_approval: needs_approval.into(), ..self }
    }
}

impl<T: TypedTool> Planner for ToolAdapter<T> {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        self.tool.plan(self.tool.read(call)?, call)
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        self.tool.preview(self.tool.read(call)?, call)
    }

    fn with_client_look(&self, look: &ClientLook) -> Option<Arc<dyn Planner>> {
        let tool = self.tool.with_client_look(look)?;
        Some(Arc::new(Self { tool, needs_approval: self.needs_approval.clone() }))
    }
}

#[async_trait]
impl<T: AsyncTool> Tool for ToolAdapter<T> {
    fn name(&self) -> &str {
        T::NAME
    }

    fn description(&self) -> &str {
        self.tool.description()
    }

    fn input_schema(&self) -> Value {
        input::schema_of::<T::Input>()
    }

    async fn needs_approval(&self, params: &Value) -> bool {
        self.needs_approval.applies_to(params).await
    }

    fn client_look(&self, call: &ToolCall) -> Result<ClientLook, InvalidCall> {
        self.tool.client_look(call)
    }

    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.tool.run(permit, cancel).await
    }

    async fn rehearse(
        &self,
        call: &ToolCall,
        cancel: CancellationToken,
    ) -> Result<StagedRehearsal, RehearsalError> {
        self.tool.rehearse(call, cancel).await
    }

    fn rehearses(&self) -> bool {
        self.tool.rehearses()
    }
}
