//! The rules of Countersign, pure: no IO, no async, no clock, no environment.
//!
//! A [`ToolCall`] is what an agent wants. A [`Planner`] (each tool is one) says which [`Effect`]s it
//! would have and makes its [`Preview`]. [`risk::assess`] rates the effects, a [`Policy`] turns call,
//! effects and risk into a [`Verdict`] that keeps every [`Reason`]; people's [`rule`]s are part of it,
//! and [`explain()`] tells it in words. An [`Approval`] carries the call through its [`State`]s;
//! [`Approval::start`] hands out the [`Permit`] on which alone tools run; what an [`Executor`] elsewhere
//! runs is lent by [`Approval::lend`] and comes back as a [`Report`].
//! While a command waits it may be tried out: a [`Rehearsal`] shows what it did.
//! What a call did to files is kept as [`Change`]s, and [`reversals`] says how to undo them.
//! What happened is told by [`Event`]s. [`shell`] reads command lines, [`parse_input`] what a program
//! sends as a call's input, [`Host`] whom a URL talks to.
//!
//! Everything that waits, stores or touches the machine lives in the crates above this one.

mod approval;
mod attachment;
mod call;
mod change;
mod client_look;
mod diff;
mod digest;
mod effect;
mod event;
mod executor;
mod explain;
mod host;
mod id;
mod intake;
mod mask;
mod mode;
mod outcome;
mod place;
mod policy;
mod preview;
mod proposal;
mod rehearsal;
mod report;
pub mod risk;
pub mod rule;
pub mod shell;
mod tool;
mod verdict;

pub use approval::{
    AlreadySettled, Approval, Basis, By, Decision, Edited, Failure, Lease, NotStartable, NotTaken,
    Outside, Permit, State, Status,
};
pub use attachment::{Attachment, AttachmentKind};
pub use call::ToolCall;
pub use change::{Change, FileState, Hindrance, Reversal, reversals};
pub use client_look::{ClientCommand, ClientFile, ClientLook, ClientWitness};
pub use diff::UnifiedDiff;
pub use digest::{Digest, canonical_json};
pub use effect::{Effect, Target};
pub use event::{Event, Usage};
pub use executor::Executor;
pub use explain::{Explained, Look, explain};
pub use host::{Host, UrlError};
pub use id::{ApprovalId, ExecutionId, ProjectId, RuleId, RunId, SessionId, ToolUseId};
pub use intake::parse_input;
pub use mask::{Secrets, holds_mask, masked, masked_text};
pub use mode::Mode;
pub use outcome::Outcome;
pub use place::{Place, SecretNames, Side, Special, is_public, lexical};
pub use policy::{Policy, Stance};
pub use preview::{
    CommandPreview, DiffPreview, FinalNewline, LineEnding, LineEndings, PartPreview, Preimage,
    Preview,
};
pub use proposal::{Proposal, proposals};
pub use rehearsal::{Rehearsal, RehearsalEnd, Rehearsed};
pub use report::{Report, Reported};
pub use risk::Risk;
pub use rule::{Rule, RuleSet};
pub use tool::{Invalid, Plan, Planner, ToolOutput};
pub use verdict::{Reason, Verdict};
