//! What a tool is, on top of what the gate sees of it, and what all tools share.

pub(crate) mod blocking;
pub(crate) mod child_command;
pub(crate) mod input;
mod needs_approval;
mod tool_info;
mod toolbox;
mod typed_tool;

use std::sync::Arc;

use async_trait::async_trait;
use countersign_core::{
    CallPermit, ClientLook, Effect, EffectTarget, InvalidCall, PermitTerms, Planner, ToolCall,
    ToolOutput,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use self::needs_approval::NeedsApproval;
pub use self::tool_info::ToolInfo;
pub use self::toolbox::Toolbox;

pub(crate) use self::typed_tool::{AsyncTool, BlockingTool, ToolAdapter, TypedTool};
use crate::sandbox::rehearsal::{RehearsalError, StagedRehearsal};
use crate::tool_error::ToolError;

/// What a tool answers that is not asked by a client, or not tried out.
const NO_CLIENT_LOOK: &str = "nothing has to be said of this call";
const NO_REHEARSAL: &str = "only commands are tried out";

/// Something a model can call.
///
/// [`Planner`] says what a call would do and shows it; this adds what the model is told of the tool,
/// and the running.
#[async_trait]
pub trait Tool: Planner {
    /// Returns the name the model calls it by.
    fn name(&self) -> &str;

    /// Returns what the model is told about when and how to use it.
    fn description(&self) -> &str;

    /// Returns the JSON schema of its input.
    fn input_schema(&self) -> Value;

    /// Returns whether a person should be asked, looking at the parameters.
    ///
    /// Only the library's stance listens to this; behind the server's gate the policy decides.
    async fn needs_approval(&self, params: &Value) -> bool;

    /// Returns what this machine says of a call that it would run for a server. May read files.
    fn client_look(&self, _call: &ToolCall) -> Result<ClientLook, InvalidCall> {
        Err(InvalidCall(NO_CLIENT_LOOK.to_owned()))
    }

    /// Runs what the permit gives leave for. [`run()`] calls this, and nobody else can.
    ///
    /// Refuses when a file is no longer the one that was previewed. A cancelled run stops at the next
    /// place where nothing is half done and says [`ToolError::Interrupted`].
    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError>;

    /// Tries a call out where nothing can come of it, so that a person sees what it does before they
    /// decide. Needs no permit: whatever it does is gone, unless [`keep_rehearsed`] makes it so.
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

/// A permit whose call was planned once more, just now, and would still do what was judged. It was given
/// by this gate or, on a client, by that of a server.
// INVARIANT: only `run()` makes one.
#[derive(Debug)]
pub struct VerifiedPermit(PermitTerms);

impl VerifiedPermit {
    /// Checks that where a path leads is what was judged.
    ///
    /// A tool that resolves a path when it runs does so once more, and a link may have been swapped
    /// since the plan. What is opened after this must be opened at the target, through no link.
    pub fn check_reach(&self, target: &EffectTarget) -> Result<(), ToolError> {
        let judged = |effect: &Effect| match effect {
            Effect::Read(judged)
            | Effect::ReadAll(judged)
            | Effect::Write(judged)
            | Effect::Delete(judged)
            | Effect::DeleteAll(judged) => judged == target,
            Effect::Rename { from, to } => from == target || to == target,
            Effect::Net { .. }
            | Effect::Env { .. }
            | Effect::Exec { .. }
            | Effect::ReadsByName { .. }
            | Effect::RemoteRead { .. }
            | Effect::SpawnAgent { .. }
            | Effect::RunsLater { .. }
            | Effect::LeavesSandbox
            | Effect::Forbidden { .. }
            | Effect::Opaque { .. } => false,
        };
        if self.0.effects().iter().any(judged) { Ok(()) } else { Err(ToolError::Moved) }
    }
}

impl std::ops::Deref for VerifiedPermit {
    type Target = PermitTerms;

    fn deref(&self) -> &PermitTerms {
        &self.0
    }
}

/// Runs a call on its permit, if it would still do what the permit was given for.
///
/// A link that was swapped between the judging and the running makes a harmless path a harmful one;
/// so the call is planned once more, and anything but the judged effects is refused.
pub async fn run(
    tool: Arc<dyn Tool>,
    permit: impl CallPermit,
    cancel: CancellationToken,
) -> Result<ToolOutput, ToolError> {
    // Leave was given for what was seen, not for running it.
    if permit.rehearsal().is_some() {
        return Err(ToolError::OutOfDate);
    }
    let permit = verify_permit(&tool, permit).await?;
    tool.run(permit, cancel).await
}

/// Makes what a rehearsal did real, on a permit that was given for just that.
pub async fn keep_rehearsed(
    tool: Arc<dyn Tool>,
    permit: impl CallPermit,
    staged: StagedRehearsal,
) -> Result<ToolOutput, ToolError> {
    let VerifiedPermit(permit) = verify_permit(&tool, permit).await?;
    let keeping = tokio::task::spawn_blocking(move || match permit.rehearsal() {
        Some(agreed) => staged.keep(agreed),
        None => Err(ToolError::OutOfDate),
    });
    keeping.await.map_err(|_| ToolError::Broken)?
}

async fn verify_permit(
    tool: &Arc<dyn Tool>,
    permit: impl CallPermit,
) -> Result<VerifiedPermit, ToolError> {
    let planner = tool.clone();
    let checking = tokio::task::spawn_blocking(move || {
        let plan = planner.plan(permit.call())?;
        if plan.effects == permit.effects() {
            Ok(VerifiedPermit(permit.into_terms()))
        } else {
            Err(ToolError::Moved)
        }
    });
    checking.await.map_err(|_| ToolError::Broken)?
}
