//! The audit chain: what was decided, by whom, on what they saw, and what ran.
//!
//! Every row is sealed by a hash over itself and the seal before it, so that none can be changed,
//! removed or moved without breaking all seals after it. Where the chain ends stands in the project's
//! books, so that its end cannot be cut off either.

mod verify;

use countersign_core::{
    ApprovalId, ApprovedBy, Attachment, Digest, Execution, ExecutionId, ExecutionState,
    ExecutionStatus, ProjectId, Risk, RunId, Secrets, SessionId, ToolUseId, canonical_json,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::approvals::find_secrets;
use super::database::SqlConnection;
use super::value::{SqlRow, values};
use super::write_txn::WriteTxn;
use super::{ProjectSettings, Store, StoreError, to_iso};

pub use self::verify::{AuditChainBreak, AuditReport};
pub(super) use self::verify::{AuditChainWalk, walk_chain};

/// How many rows are read at a time.
const PAGE: usize = 1024;

/// Something that was done, as the chain tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum AuditAction {
    /// A call came into a state.
    Call(Box<CallAuditAction>),
    /// The rules of a project, or of one of its conversations, were changed.
    Rules {
        /// Who changed them.
        who: String,
        /// The conversation they hold in; none where they hold in all of the project.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// The rules that came or were changed, as they now read.
        kept: Vec<String>,
        /// The ids of those that were revoked.
        revoked: Vec<String>,
    },
    /// What a project has settled for itself was changed.
    Settings {
        /// Who changed it.
        who: String,
        /// What the project is called now.
        name: String,
        /// What it has settled now.
        settings: ProjectSettings,
    },
    /// What somebody said came of a call was not taken.
    ResultRefused {
        /// The request.
        approval_id: ApprovalId,
        /// The execution.
        tool_id: ExecutionId,
        /// Why it was not taken.
        reason: String,
        /// The digest of what they said.
        result: Digest,
    },
    /// Secrets were masked in calls that were settled before that was done at once.
    Masked {
        /// The calls, each with what is left of it.
        calls: Vec<MaskedCall>,
    },
    /// What calls had done to files was undone.
    Undone {
        /// Who undid it.
        who: String,
        /// The calls.
        tool_ids: Vec<ExecutionId>,
        /// How many files are as they were before.
        files: u64,
    },
}

/// A call whose secrets were masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskedCall {
    /// The request.
    pub approval_id: ApprovalId,
    /// The digest of what is left of it.
    pub kept: Digest,
}

/// A call that came into a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallAuditAction {
    /// The state.
    pub status: ExecutionStatus,
    /// Who brought it there, where somebody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// How: a person, a program, the rules, the deadline.
    pub how: String,
    /// The request.
    pub approval_id: ApprovalId,
    /// The execution.
    pub tool_id: ExecutionId,
    /// The model's id of the call.
    pub tool_use_id: ToolUseId,
    /// The conversation.
    pub session_id: SessionId,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The tool.
    pub tool_name: String,
    /// How risky it was rated.
    pub risk_level: Risk,
    /// What it would do, in one sentence.
    pub summary: String,
    /// The digest of what was shown, and of all a decision is bound to.
    pub saw: Digest,
    /// The digest of the input as it stands: what runs, if it runs.
    pub input: Digest,
    /// Whether a person had changed the input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// The digest of what it gave back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Digest>,
    /// What went wrong, or what the person said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The kind of failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// The digest of what is kept of the call, where secrets are masked in it: what it was is told by
    /// the digests above, which nobody can compare with it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Digest>,
}

/// One row of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// The project whose chain it is.
    pub project: ProjectId,
    /// Its number in the chain, from 1.
    pub seq: u64,
    /// When it was done.
    pub at: Timestamp,
    /// What was done, as JSON, to the letter as it was sealed.
    pub body: String,
    /// The seal.
    pub hash: String,
}

/// The end of a project's chain, as its books have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainEnd {
    /// The project.
    pub project: ProjectId,
    /// The number of the last row.
    pub seq: u64,
    /// Its seal.
    pub hash: String,
}

impl AuditAction {
    /// Returns what the chain tells of a call in its present state.
    pub(super) fn for_call(approval: &Execution, kept: Option<Digest>) -> Self {
        let (who, how) = actor_and_method(approval.state());
        let call = &approval.call();
        let secrets = find_secrets(approval);
        let (result, message, error_type) = result_and_message(approval.state(), &secrets);
        Self::Call(Box::new(CallAuditAction {
            status: approval.status(),
            who,
            how: how.to_owned(),
            approval_id: approval.id(),
            tool_id: call.id,
            tool_use_id: call.tool_use_id.clone(),
            session_id: call.session.clone(),
            run_id: call.run,
            tool_name: call.tool_name.clone(),
            risk_level: approval.risk(),
            summary: secrets.hide_in_text(approval.summary()),
            saw: approval.digest().clone(),
            input: Digest::for_bytes(canonical_json(&call.input).as_bytes()),
            edited: approval.basis().edited_from.is_some(),
            result,
            message,
            error_type,
            kept,
        }))
    }
}

/// Who brought a call into its state, and how.
fn actor_and_method(state: &ExecutionState) -> (Option<String>, &'static str) {
    let by = match state {
        ExecutionState::Approved { by, .. }
        | ExecutionState::Executing { by, .. }
        | ExecutionState::Completed { by, .. }
        | ExecutionState::Failed { by: Some(by), .. }
        | ExecutionState::Rejected { by, .. } => by,
        ExecutionState::Pending
        | ExecutionState::AwaitingApproval { .. }
        | ExecutionState::Failed { by: None, .. } => {
            return (None, "policy");
        }
        ExecutionState::Timeout { .. } => return (None, "deadline"),
        ExecutionState::Cancelled { .. } => return (None, "interruption"),
    };
    let how = match by {
        ApprovedBy::Person(_) | ApprovedBy::PersonSaying { .. } => "person",
        ApprovedBy::Callback => "program",
        ApprovedBy::Policy => "policy",
        ApprovedBy::AgentPrompt => "agent",
    };
    (Some(by.to_string()), how)
}

fn result_and_message(
    state: &ExecutionState,
    secrets: &Secrets,
) -> (Option<Digest>, Option<String>, Option<String>) {
    match state {
        ExecutionState::Completed { result, attachments, .. } => {
            (Some(digest_result(result, attachments)), None, None)
        }
        ExecutionState::Failed { failure, .. } => {
            (None, Some(secrets.hide_in_text(&failure.error)), Some(failure.kind.to_string()))
        }
        ExecutionState::Approved { .. } | ExecutionState::Rejected { .. } => {
            (None, state.decision_comment().map(|words| secrets.hide_in_text(words)), None)
        }
        _ => (None, None, None),
    }
}

/// Returns the digest of a result and of what was shown beside it.
fn digest_result(result: &str, attachments: &[Attachment]) -> Digest {
    // A text alone is taken as it was before there was anything beside it.
    if attachments.is_empty() {
        return Digest::for_bytes(result.as_bytes());
    }
    let beside = attachments.iter().flat_map(|it| [&it.media_type, &it.data]);
    let parts = std::iter::once(result).chain(beside.map(String::as_str));
    Digest::for_parts(parts.map(str::as_bytes))
}

/// Returns the seal of a row.
pub(super) fn seal(
    before: &str,
    project: &ProjectId,
    seq: u64,
    at: Timestamp,
    body: &str,
) -> String {
    let (seq, at) = (seq.to_string(), to_iso(at));
    // The digits alone, as before there were uuids: what was sealed then stays sealed.
    let parts = [before, &project.digits(), &seq, &at, body];
    Digest::for_parts(parts.map(str::as_bytes)).to_string()
}

pub(super) fn insert(
    ledger: &mut WriteTxn<'_>,
    project: &ProjectId,
    seq: u64,
    at: Timestamp,
    body: &str,
    hash: &str,
) -> Result<(), StoreError> {
    ledger.execute(
        "INSERT INTO audit (project_id, seq, at, body, hash) VALUES ($1, $2, $3, $4, $5)",
        values![project.as_str(), seq, at, body, hash],
    )?;
    Ok(())
}

impl Store {
    /// Returns rows of the chains in order, after a place in it.
    pub async fn audit_rows(
        &self,
        project: Option<&ProjectId>,
        after: Option<(ProjectId, u64)>,
        limit: usize,
    ) -> Result<Vec<AuditRow>, StoreError> {
        let only = project.cloned();
        let limit = limit.min(PAGE);
        self.readers
            .read(move |db| {
                let (from, seq) = match &after {
                    Some((project, seq)) => (project.as_str(), *seq),
                    None => (only.as_ref().map_or("", ProjectId::as_str), 0),
                };
                if let Some(only) = &only {
                    return rows_after(db, only, seq, limit);
                }
                let rows = db.query(
                    "SELECT project_id, seq, at, body, hash FROM audit
                     WHERE project_id > $1 OR (project_id = $1 AND seq > $2)
                     ORDER BY project_id, seq LIMIT $3",
                    values![from, seq, limit],
                )?;
                rows.into_iter().map(audit_row).collect()
            })
            .await
    }

    /// Checks all chains, and that every call stands as its chain tells, all as of one moment.
    pub async fn verify_audit(&self) -> Result<AuditReport, StoreError> {
        self.readers
            .read_without_timeout(|db| {
                db.begin_snapshot()?;
                let verified = verify::verify(db);
                db.rollback();
                verified
            })
            .await
    }
}

/// Returns where every chain ends.
fn chain_ends(db: &mut dyn SqlConnection) -> Result<Vec<ChainEnd>, StoreError> {
    let rows =
        db.query("SELECT project_id, audit_seq, audit_hash FROM ledgers ORDER BY project_id", &[])?;
    let end = |mut row: SqlRow| {
        let project = row.take::<String>()?.into();
        Ok(ChainEnd { project, seq: row.take()?, hash: row.take()? })
    };
    rows.into_iter().map(end).collect()
}

/// Returns rows of a project's chain in order, after a number.
fn rows_after(
    db: &mut dyn SqlConnection,
    project: &ProjectId,
    seq: u64,
    limit: usize,
) -> Result<Vec<AuditRow>, StoreError> {
    let rows = db.query(
        "SELECT project_id, seq, at, body, hash FROM audit
         WHERE project_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        values![project.as_str(), seq, limit],
    )?;
    rows.into_iter().map(audit_row).collect()
}

fn audit_row(mut row: SqlRow) -> Result<AuditRow, StoreError> {
    Ok(AuditRow {
        project: row.take::<String>()?.into(),
        seq: row.take()?,
        at: row.take()?,
        body: row.take()?,
        hash: row.take()?,
    })
}
