//! The gate: takes a call, keeps the approval, waits for the decision, hands out the permit.
//!
//! [`Gate`] is the one door. [`Gate::admit`] takes a call through it, [`Gate::decide`] records what a
//! person says, [`Gate::finish`] what came of it. Every change of state is a row changed by
//! compare-and-set together with the [`Event`]s that tell of it (in [`store`]); [`LogFollower`] reads those
//! back, each once and in order. A [`RunJournal`] records one run of a conversation. Time comes from a
//! [`Clock`].
//!
//! This is the only crate with SQL, and the only one that waits for people.
//!
//! Cargo features, none of them on by itself: `postgres` (a database that several servers share),
//! `nats` (their hints by NATS) and `identity` (the key by which a server proves who it is). SQLite, in a
//! file or in memory, is always there. What was left out is refused as [`StoreError::LeftOut`].

mod activity_log;
mod admission;
mod blocking;
mod call_driver;
mod call_events;
mod call_metrics;
mod call_step;
mod change_feed;
mod changes;
mod check;
mod client_look_waiters;
mod client_looks;
mod clock;
mod deadlines;
mod decide;
mod edit;
mod executor_queue;
mod executors;
mod feed_exchange;
mod feed_queue;
mod follow;
mod follow_all;
mod gate;
mod gate_error;
mod grants;
mod history;
#[cfg(feature = "identity")]
mod identity;
mod journal;
mod judging;
mod leases;
mod live;
mod membership;
mod new_id;
mod open;
mod planner_task;
mod prior_state;
mod projects;
mod proposal_counts;
mod read_only;
mod recovery;
mod rehearsals;
mod resubmit;
mod retention;
mod retry;
mod rule_cache;
mod rule_draft;
mod rulebook;
mod rules;
mod runs;
mod seen_calls;
mod server_place;
mod settings;
mod settings_cache;
mod simulate;
pub mod store;
mod submit;
mod submit_options;
mod timeouts;
mod tokens;
mod waiters;
mod waiting;

pub use activity_log::{ACTIVITY, call_span};
pub use admission::{Admission, AdmissionFuture, CallEntry, LeaseTerms};
pub use call_driver::{CallDriver, LocalCallDriver, PermitCollector, PermitUse, RecordingPatience};
pub use check::CallCheck;
pub use clock::{Clock, ManualClock, SystemClock, time_after};
pub use countersign_core::Event;
pub use decide::DecideError;
pub use edit::{ApprovalEditOutcome, ApprovalWithEdit};
pub use executors::{ExecutorCandidate, ExecutorLease};
pub use follow::{LogFollower, LogFollowerItem};
pub use follow_all::MultiLogFollower;
pub use gate::Gate;
pub use gate_error::{GateError, TransientError};
pub use grants::{ApprovalWithGrant, GrantScope};
#[cfg(feature = "identity")]
pub use identity::{ServerIdentity, ServerPublicKey};
pub use journal::RunJournal;
pub use leases::ReportError;
pub use live::{LiveEvent, LiveUpdate};
pub use new_id::new_id;
pub use read_only::load_rules;
#[cfg(feature = "identity")]
pub use read_only::load_server_key;
pub use recovery::interrupted_failure;
pub use retry::retry_until_available;
pub use rule_draft::{RuleDraft, RulesError};
pub use rulebook::{RuleFileState, Rulebook, RulebookFiles, TrustError, WORKSPACE_FILE};
pub use seen_calls::SeenCall;
pub use settings::GateSettings;
pub use simulate::{PastDecision, PolicySimulation, SimulatedChange, VerdictTally};
pub use store::{
    ApiToken, AuditAction, AuditChainBreak, AuditReport, AuditRow, CallAuditAction, ChainEnd,
    ChangedFiles, ConversationRepair, DatabaseUrl, DiffLines, ExecutionFilter, LastProjectChange,
    LogEntry, MaskedCall, MessageRow, NewRun, NewRunMessage, OrphanedRun, PageSignIn, Project,
    ProjectSettings, RecordedMessage, RunEnd, SessionRow, Store, StoreError, StoredProject,
    StoredRule, StoredRuleOrigin, TokenRole, UndoTarget, measure_raw_writes, repair_conversation,
};
pub use submit::{LocalSubmission, RemoteSubmission};
pub use submit_options::{AskOptions, CallTerms, SubmitOptions};
pub use timeouts::DecisionTimeouts;
pub use tokens::CreateTokenError;
