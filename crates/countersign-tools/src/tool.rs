//! What a tool is, on top of what the gate sees of it.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_core::{
    ClientLook, Effect, EffectTarget, InvalidCall, Permit, Planner, ToolCall, ToolOutput,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::rehearsal::{RehearsalError, StagedRehearsal};

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
        Err(InvalidCall("nothing has to be said of this call".to_owned()))
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
        Err(RehearsalError("only commands are tried out".to_owned()))
    }

    /// Returns whether calls of this tool can be tried out at all.
    fn rehearses(&self) -> bool {
        false
    }
}

/// A permit whose call was planned once more, just now, and would still do what was judged.
// INVARIANT: only `run()` makes one.
#[derive(Debug)]
pub struct VerifiedPermit(Permit);

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
    type Target = Permit;

    fn deref(&self) -> &Permit {
        &self.0
    }
}

/// Why a tool could not do its work. The whole text goes to the model, causes included.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The call cannot run as it was made.
    #[error(transparent)]
    Invalid(#[from] InvalidCall),
    /// A file is no longer the one the decision was bound to.
    #[error("`{path}` has changed since it was approved; read it again and make the change anew")]
    Drift {
        /// The path as the call gives it.
        path: String,
    },
    /// The call would no longer do what was judged.
    #[error(
        "what this call reaches has changed since it was judged (a link or folder moved); make the call again"
    )]
    Moved,
    /// The command would no longer do what it did in its rehearsal.
    #[error("what the command does has changed since it was rehearsed")]
    OutOfDate,
    /// The run was cancelled.
    #[error("interrupted before it was done")]
    Interrupted,
    /// The machine said no.
    #[error("could not {doing} `{path}`: {cause}")]
    Io {
        /// What was tried: `read`, `write`, …
        doing: &'static str,
        /// The path as the call gives it.
        path: String,
        /// What the machine said.
        cause: io::Error,
    },
    /// It failed in the middle, and not all that was done before could be taken back.
    #[error("{why}; of what was done before, these could not be put back: {}", left.join(", "))]
    HalfDone {
        /// What failed.
        why: String,
        /// The paths as the call gives them.
        left: Vec<String>,
    },
    /// The tool itself broke: a fault of ours.
    #[error("the tool broke while it worked; whether it had an effect is unknown")]
    Broken,
}

impl ToolError {
    /// Returns the error of a call that cannot run as it was made.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::Invalid(InvalidCall(text.into()))
    }

    /// Returns a stable word for programs, to go with the text.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid",
            Self::Drift { .. } | Self::Moved | Self::OutOfDate => "drift",
            Self::Interrupted => "interrupted",
            Self::Io { .. } => "io",
            Self::HalfDone { .. } => "half_done",
            Self::Broken => "broken",
        }
    }
}

/// Runs a call on its permit, if it would still do what the permit was given for.
///
/// A link that was swapped between the judging and the running makes a harmless path a harmful one;
/// so the call is planned once more, and anything but the judged effects is refused.
pub async fn run(
    tool: Arc<dyn Tool>,
    permit: Permit,
    cancel: CancellationToken,
) -> Result<ToolOutput, ToolError> {
    // Leave was given for what was seen, not for running it.
    if permit.rehearsal().is_some() {
        return Err(ToolError::OutOfDate);
    }
    let permit = cleared(&tool, permit).await?;
    tool.run(permit, cancel).await
}

/// Makes what a rehearsal did real, on a permit that was given for just that.
pub async fn keep_rehearsed(
    tool: Arc<dyn Tool>,
    permit: Permit,
    staged: StagedRehearsal,
) -> Result<ToolOutput, ToolError> {
    let VerifiedPermit(permit) = cleared(&tool, permit).await?;
    let keeping = tokio::task::spawn_blocking(move || match permit.rehearsal() {
        Some(agreed) => staged.keep(agreed),
        None => Err(ToolError::OutOfDate),
    });
    keeping.await.map_err(|_| ToolError::Broken)?
}

async fn cleared(tool: &Arc<dyn Tool>, permit: Permit) -> Result<VerifiedPermit, ToolError> {
    let planner = tool.clone();
    let checking = tokio::task::spawn_blocking(move || {
        let plan = planner.plan(permit.call())?;
        if plan.effects == permit.effects() {
            Ok(VerifiedPermit(permit))
        } else {
            Err(ToolError::Moved)
        }
    });
    checking.await.map_err(|_| ToolError::Broken)?
}

type ConditionFuture = Pin<Box<dyn Future<Output = bool> + Send>>;

/// Whether a tool asks before it runs: a plain flag, or a look at the parameters.
#[derive(Clone)]
pub struct NeedsApproval(ApprovalCondition);

#[derive(Clone)]
enum ApprovalCondition {
    Flag(bool),
    Predicate(Arc<dyn Fn(Value) -> ConditionFuture + Send + Sync>),
}

impl NeedsApproval {
    /// Returns the rule that looks at the parameters.
    pub fn when(predicate: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        let predicate = Arc::new(predicate);
        Self::when_async(move |params| {
            let predicate = Arc::clone(&predicate);
            async move { predicate(&params) }
        })
    }

    /// Returns the rule that looks at the parameters and may wait for something.
    pub fn when_async<F, A>(predicate: F) -> Self
    where
        F: Fn(Value) -> A + Send + Sync + 'static,
        A: Future<Output = bool> + Send + 'static,
    {
        Self(ApprovalCondition::Predicate(Arc::new(move |params| Box::pin(predicate(params)))))
    }

    /// Returns what the rule says of a call with these parameters.
    pub async fn applies_to(&self, params: &Value) -> bool {
        match &self.0 {
            ApprovalCondition::Flag(asks) => *asks,
            ApprovalCondition::Predicate(predicate) => predicate(params.clone()).await,
        }
    }
}

impl From<bool> for NeedsApproval {
    fn from(asks: bool) -> Self {
        Self(ApprovalCondition::Flag(asks))
    }
}

impl fmt::Debug for NeedsApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ApprovalCondition::Flag(asks) => write!(f, "NeedsApproval({asks})"),
            ApprovalCondition::Predicate(_) => f.write_str("NeedsApproval(…)"),
        }
    }
}
