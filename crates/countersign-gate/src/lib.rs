//! The gate: takes a call, keeps the approval, waits for the decision, hands out the permit.
//!
//! [`Gate`] is the one door. [`Gate::submit_and_wait`] takes a call through it, [`Gate::decide`] records what a
//! person says, [`Gate::finish`] what came of it. Every change of state is a row changed by
//! compare-and-set together with the [`Event`]s that tell of it (in [`store`]); [`LogFollower`] reads those
//! back, each once and in order. A [`RunJournal`] records one run of a conversation. Time comes from a
//! [`Clock`].
//!
//! This is the only crate with SQL, and the only one that waits for people.

mod change_feed;
mod changes;
mod check;
mod client_looks;
mod clock;
mod deadlines;
mod edit;
mod executors;
mod feed_exchange;
mod follow;
mod follow_all;
mod gate;
mod grants;
mod history;
mod identity;
mod journal;
mod leases;
mod live;
mod membership;
mod open;
mod projects;
mod read_only;
mod recovery;
mod rehearsals;
mod resubmit;
mod retention;
mod retry;
mod rulebook;
mod rules;
mod seen_calls;
mod simulate;
pub mod store;
mod submit;
mod timeouts;
mod tokens;
mod waiters;

pub use check::CallCheck;
pub use clock::{Clock, ManualClock, SystemClock, time_after};
pub use countersign_core::Event;
pub use edit::{ApprovalEditOutcome, ApprovalWithEdit};
pub use executors::{ExecutorCandidate, ExecutorLease};
pub use follow::{LogFollower, LogFollowerItem};
pub use follow_all::MultiLogFollower;
pub use gate::{ACTIVITY, Admission, DecideError, Gate, new_id};
pub use grants::{ApprovalWithGrant, GrantScope};
pub use identity::{ServerIdentity, ServerPublicKey};
pub use journal::RunJournal;
pub use leases::ReportError;
pub use live::{LiveEvent, LiveUpdate};
pub use open::GateSettings;
pub use read_only::{load_rules, load_server_key};
pub use recovery::interrupted_failure;
pub use retry::retry_until_available;
pub use rulebook::{RuleFileState, Rulebook, RulebookFiles, TrustError, WORKSPACE_FILE};
pub use rules::{RuleDraft, RulesError, SubmitOptions};
pub use seen_calls::SeenCall;
pub use simulate::{PastDecision, PolicySimulation, SimulatedChange, VerdictTally};
pub use store::{
    ApiToken, AuditAction, AuditChainBreak, AuditReport, AuditRow, CallAuditAction, ChainEnd,
    ChangedFiles, ConversationRepair, DatabaseUrl, DiffLines, ExecutionFilter, LastProjectChange,
    LogEntry, MaskedCall, MessageRow, NewRun, NewRunMessage, OrphanedRun, PageSignIn, Project,
    ProjectSettings, RecordedMessage, RunEnd, SessionRow, Store, StoreError, StoredProject,
    StoredRule, StoredRuleOrigin, TokenRole, UndoTarget, measure_raw_writes, repair_conversation,
};
pub use submit::{AskOptions, Submission};
pub use timeouts::DecisionTimeouts;
pub use tokens::CreateTokenError;
