//! The rules of Countersign, pure: no IO, no async, no clock, no environment.
//!
//! A [`ToolCall`] is what an agent wants. A [`Planner`] (each tool is one) says which [`Effect`]s it
//! would have and makes its [`Preview`]. [`risk::assess`] rates the effects, a [`Policy`] turns call,
//! effects and risk into a [`Verdict`] that keeps every [`VerdictReason`]; people's [`rule`]s are part of it,
//! and [`explain()`] tells it in words. An [`Execution`] carries the call through its [`ExecutionState`]s;
//! [`LockedExecution::start`] and a commit earn the [`Permit`] on which alone tools run; what an [`Executor`] elsewhere
//! runs is lent by [`LockedExecution::lend`] and comes back as a [`ExecutionReport`].
//! While a command waits it may be tried out: a [`RehearsalState`] shows what it did.
//! What a call did to files is kept as [`FileChange`]s, and [`plan_reversals`] says how to undo them.
//! What happened is told by [`Event`]s. [`shell`] reads command lines, [`parse_input`] what a program
//! sends as a call's input, [`UrlHost`] whom a URL talks to.
//!
//! Everything that waits, stores or touches the machine lives in the crates above this one.

mod attachment;
mod call;
mod client_look;
mod diff;
mod digest;
mod effect;
mod event;
mod execution;
mod executor;
mod explain;
mod file_change;
mod grant_proposal;
mod id;
mod input_parser;
mod known_place;
mod mask;
mod path_class;
mod permission_mode;
mod planner;
mod policy;
mod preview;
mod program_verbs;
mod rehearsal;
mod report;
pub mod risk;
pub mod rule;
pub mod shell;
mod url_host;
mod verdict;
mod verdict_action;

pub use attachment::{Attachment, AttachmentKind};
pub use call::ToolCall;
pub use client_look::{ClientFile, ClientLook, ClientReadCommand, ClientWitness};
pub use diff::UnifiedDiff;
pub use digest::{Digest, canonical_json};
pub use effect::{Effect, EffectTarget};
pub use event::{Event, TokenUsage};
pub use execution::{
    ApprovedBy, CallLease, CallPermit, Decision, DecisionContext, EditedInput, Execution,
    ExecutionDraft, ExecutionFailure, ExecutionParts, ExecutionState, ExecutionStatus, FailureKind,
    LockedExecution, OutsideFile, Permit, PermitTerms, RemotePermit, ReportRejection,
    SignalledCall, StartRejection, StartedExecution, StateConflict,
};
pub use executor::Executor;
pub use explain::{Explanation, ExplanationStyle, explain};
pub use file_change::{FileChange, FileReversal, FileState, RestoreObstacle, plan_reversals};
pub use grant_proposal::{GrantProposal, propose_grants};
pub use id::{ApprovalId, ExecutionId, ProjectId, RuleId, RunId, SessionId, ToolUseId};
pub use input_parser::parse_input;
pub use mask::{Secrets, holds_mask, mask_input, mask_text};
pub use path_class::{
    PathClass, SecretNames, SensitiveKind, WorkspaceSide, is_public, normalize_lexically,
};
pub use permission_mode::PermissionMode;
pub use planner::{CallPlan, InvalidCall, Planner, ToolOutput};
pub use policy::{Policy, Supervision};
pub use preview::{
    CommandPreview, DiffPreview, FinalNewline, LineEnding, LineEndings, PartPreview, Preimage,
    Preview,
};
pub use rehearsal::{RehearsalEnd, RehearsalResult, RehearsalState};
pub use report::{ExecutionReport, ReportedOutcome};
pub use risk::Risk;
pub use rule::{Rule, RuleSet};
pub use url_host::{UrlError, UrlHost};
pub use verdict::{Verdict, VerdictReason};
pub use verdict_action::VerdictAction;
