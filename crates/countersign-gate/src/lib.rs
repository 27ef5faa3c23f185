//! The gate: takes a call, keeps the approval, waits for the decision, hands out the permit.
//!
//! [`Gate`] is the one door. [`Gate::pass`] takes a call through it, [`Gate::decide`] records what a
//! person says, [`Gate::finish`] what came of it. Every change of state is a row changed by
//! compare-and-set together with the [`Event`]s that tell of it (in [`store`]); [`Follow`] reads those
//! back, each once and in order. A [`Journal`] records one run of a conversation. Time comes from a
//! [`Clock`].
//!
//! This is the only crate with SQL, and the only one that waits for people.

mod again;
mod always;
mod bus;
mod changes;
mod check;
mod clock;
mod deadlines;
mod edit;
mod executors;
mod follow;
mod follow_all;
mod gate;
mod glance;
mod hints;
mod history;
mod identity;
mod journal;
mod leases;
mod live;
mod membership;
mod open;
mod patience;
mod projects;
mod recovery;
mod rehearsals;
mod retention;
mod rulebook;
mod rules;
mod simulate;
pub mod store;
mod submit;
mod timeouts;
mod tokens;
mod waiting;

pub use always::{Always, Scope};
pub use check::Checked;
pub use clock::{Clock, ManualClock, SystemClock, after};
pub use countersign_core::Event;
pub use edit::{Amended, Edit};
pub use executors::Role;
pub use follow::{Follow, Seen};
pub use follow_all::FollowAll;
pub use gate::{DecideError, Gate, Passage, new_id};
pub use glance::{rules_at, server_key_at};
pub use identity::{ServerIdentity, ServerPublicKey};
pub use journal::Journal;
pub use leases::ReportError;
pub use live::{Live, News};
pub use open::Settings;
pub use patience::patiently;
pub use recovery::interrupted;
pub use rulebook::{RuleFileState, Rulebook, RulebookFiles, TrustError, WORKSPACE_FILE};
pub use rules::{RuleDraft, RulesError, Terms};
pub use simulate::{Change, Decided, Simulation, Tally};
pub use store::{
    Act, ApiToken, AuditReport, AuditRow, Broken, CallAct, ChainEnd, Changed, ChangedFiles,
    DatabaseUrl, DiffLines, Entry, ExecutionFilter, LeftRun, Mending, MessageRow, NewMessage,
    NewRun, Origin, PageSignIn, Project, ProjectSettings, Recorded, RunEnd, SessionRow, Store,
    StoreError, StoredProject, StoredRule, TokenRole, Undo, floor, mend_conversation,
};
pub use submit::{Question, Submitted};
pub use timeouts::Timeouts;
pub use tokens::CreateTokenError;
