//! The row of an approval: the columns people read, and those it is made of again.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::shell::{Canonical, Part};
use countersign_core::{
    Approval, ApprovalId, Attachment, Basis, Digest, Effect, Outcome, Risk, State, Status,
    ToolCall, Verdict, masked, masked_text,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::store::database::Connection;
use crate::store::fresh::LONG as LONG_CALL;
use crate::store::ledger::Ledger;
use crate::store::value::{Row, values};
use crate::store::{StoreError, diffs, from_json, json};

/// Who the calls of an embedded or single-user server belong to.
const LOCAL_USER: &str = "local";

/// From this length on a result has a place of its own.
const LONG: usize = 4096;

/// How long the columns for people get.
const LONGEST_ERROR: usize = 1000;

/// What [`approval`] reads.
pub(super) const COLUMNS: &str = "tool_executions.approval_id, risk_level, digest, request, \
    preview, state, results.body FROM tool_executions \
    LEFT JOIN results ON results.approval_id = tool_executions.approval_id";

/// A result that has a place of its own: a text, or what was shown beside it as well.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Long<'a> {
    Text(Cow<'a, str>),
    Whole { result: Cow<'a, str>, attachments: Cow<'a, [Attachment]> },
}

/// The part of an approval that never changes, as it stands in the `request` column.
#[derive(Serialize, Deserialize)]
struct Request<'a> {
    call: Cow<'a, ToolCall>,
    effects: Cow<'a, [Effect]>,
    summary: Cow<'a, str>,
    verdict: Cow<'a, Verdict>,
    created_at: Timestamp,
    #[serde(default)]
    commands: Cow<'a, [Part]>,
    #[serde(default)]
    basis: Cow<'a, Basis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    canonical: Option<Cow<'a, Canonical>>,
}

impl<'a> Request<'a> {
    fn of(approval: &'a Approval) -> Self {
        Self {
            call: Cow::Borrowed(&approval.call),
            effects: Cow::Borrowed(&approval.effects),
            summary: Cow::Borrowed(&approval.summary),
            verdict: Cow::Borrowed(&approval.verdict),
            created_at: approval.created_at,
            commands: Cow::Borrowed(&approval.commands),
            basis: Cow::Borrowed(&approval.basis),
            canonical: approval.canonical.as_ref().map(Cow::Borrowed),
        }
    }
}

pub(super) fn find(
    db: &mut dyn Connection,
    id: ApprovalId,
) -> Result<Option<Approval>, StoreError> {
    let sql = format!("SELECT {COLUMNS} WHERE tool_executions.approval_id = $1");
    db.one(&sql, values![id.to_string()])?.map(approval).transpose()
}

pub(super) fn approval(mut row: Row) -> Result<Approval, StoreError> {
    let id = row.parse("approval id")?;
    let risk = risk_of(&row.take::<String>()?)?;
    let digest = Digest::from(row.take::<String>()?);
    let Request { call, effects, summary, verdict, created_at, commands, basis, canonical } =
        row.json::<Request<'static>>("request")?;
    let preview: Option<String> = row.take()?;
    let mut state = row.json("state")?;
    let long: Option<String> = row.take()?;
    if let (State::Completed { result, attachments, .. }, Some(long)) = (&mut state, long) {
        (*result, *attachments) = match from_json("result", &long)? {
            Long::Text(text) => (text.into_owned(), Vec::new()),
            Long::Whole { result, attachments } => (result.into_owned(), attachments.into_owned()),
        };
    }
    Ok(Approval {
        id,
        call: call.into_owned(),
        effects: effects.into_owned(),
        commands: commands.into_owned(),
        canonical: canonical.map(Cow::into_owned),
        summary: summary.into_owned(),
        basis: basis.into_owned(),
        risk,
        verdict: verdict.into_owned(),
        preview: preview.map(|preview| from_json("preview", &preview)).transpose()?,
        digest,
        created_at,
        state,
    })
}

fn risk_of(text: &str) -> Result<Risk, StoreError> {
    from_json("risk", &format!("\"{text}\""))
}

pub(super) fn insert(ledger: &mut Ledger<'_>, approval: &Approval) -> Result<(), StoreError> {
    let call = &approval.call;
    let told = Told::by(&approval.state);
    diffs::keep(ledger, approval)?;
    let request = json(&Request::of(approval))?;
    let preview = approval.preview.as_ref().map(json).transpose()?;
    let length = request.len() + preview.as_ref().map_or(0, String::len);
    // What has more to it than its row is read from there, so that all see the same of it.
    if length <= LONG_CALL && !diffs::are_kept(approval) {
        ledger.leave(approval.id, Some(Arc::new(approval.clone())));
    }
    ledger.execute(
        "INSERT INTO tool_executions (id, user_id, project_id, session_id, approval_id, tool_name,
           tool_params, risk_level, requires_approval, status, created_at, run_id, digest, request,
           preview, state, error, error_type, approved_at, completed_at, expires_at, owner,
           executor, tool_use_id, lapses_at, submitted_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
           $19, $20, $21, $22, $23, $24, $25, $26)",
        values![
            call.id.to_string(),
            LOCAL_USER,
            call.project.as_str(),
            call.session.as_str(),
            approval.id.to_string(),
            &call.tool_name,
            json(&masked(&call.input))?,
            approval.risk.to_string(),
            approval.verdict.outcome == Outcome::Ask,
            approval.status().as_str(),
            approval.created_at,
            call.run.map(|run| run.to_string()),
            approval.digest.as_str(),
            request,
            preview,
            json(&approval.state)?,
            told.error,
            told.error_type,
            told.approved_at,
            told.completed_at,
            told.expires_at,
            starter(ledger, approval),
            call.executor.as_str(),
            json(&call.tool_use_id)?,
            approval.lapses_at(),
            approval.basis.submitted_by.as_deref(),
        ],
    )?;
    Ok(())
}

/// Writes what a person has changed of a request, and what followed from that.
pub(super) fn amend(ledger: &mut Ledger<'_>, approval: &Approval) -> Result<(), StoreError> {
    diffs::keep(ledger, approval)?;
    ledger.execute(
        "UPDATE tool_executions SET tool_params = $1, risk_level = $2, digest = $3, request = $4,
           preview = $5
         WHERE approval_id = $6",
        values![
            json(&masked(&approval.call.input))?,
            approval.risk.to_string(),
            approval.digest.as_str(),
            json(&Request::of(approval))?,
            approval.preview.as_ref().map(json).transpose()?,
            approval.id.to_string(),
        ],
    )?;
    Ok(())
}

/// Changes the state of a row that still stands where it was found; returns whether it did.
pub(super) fn update(
    ledger: &mut Ledger<'_>,
    before: Status,
    approval: &Approval,
) -> Result<bool, StoreError> {
    let told = Told::by(&approval.state);
    // `status = …` is the lock: of two that would change the row, one does.
    let changed = ledger.execute(
        "UPDATE tool_executions SET status = $1, state = $2, result = $3, error = $4,
           error_type = $5, execution_time_ms = $6, approved_at = coalesce($7, approved_at),
           completed_at = $8, expires_at = coalesce($9, expires_at), owner = coalesce($10, owner),
           holder = coalesce($11, holder), lapses_at = $12
         WHERE approval_id = $13 AND status = $14",
        values![
            approval.status().as_str(),
            state_text(&approval.state)?,
            told.result,
            told.error,
            told.error_type,
            told.execution_time.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX)),
            told.approved_at,
            told.completed_at,
            told.expires_at,
            starter(ledger, approval),
            approval.lease().map(|lease| lease.holder.as_str()),
            approval.lapses_at(),
            approval.id.to_string(),
            before.as_str(),
        ],
    )?;
    if changed == 1 {
        keep_long_result(ledger, approval)?;
    }
    Ok(changed == 1)
}

/// The server in which a call runs, if this is where it starts.
fn starter(ledger: &Ledger<'_>, approval: &Approval) -> Option<String> {
    ledger.server().filter(|_| approval.status() == Status::Executing && approval.lease().is_none())
}

/// The state as its column has it: without a result that has a place of its own.
fn state_text(state: &State) -> Result<String, StoreError> {
    match state {
        State::Completed { by, approved_at, since, at, is_error, reported, .. }
            if is_long(state) =>
        {
            json(&State::Completed {
                by: by.clone(),
                approved_at: *approved_at,
                since: *since,
                at: *at,
                is_error: *is_error,
                result: String::new(),
                attachments: Vec::new(),
                reported: *reported,
            })
        }
        state => json(state),
    }
}

/// Whether what a call gave back has a place of its own.
pub(super) fn has_long_result(approval: &Approval) -> bool {
    is_long(&approval.state)
}

fn is_long(state: &State) -> bool {
    match state {
        State::Completed { result, attachments, .. } => {
            result.len() > LONG || !attachments.is_empty()
        }
        _ => false,
    }
}

fn keep_long_result(ledger: &mut Ledger<'_>, approval: &Approval) -> Result<(), StoreError> {
    if let State::Completed { result, attachments, .. } = &approval.state
        && has_long_result(approval)
    {
        let result = Cow::Borrowed(result.as_str());
        let body = if attachments.is_empty() {
            Long::Text(result)
        } else {
            Long::Whole { result, attachments: attachments.into() }
        };
        ledger.execute(
            "INSERT INTO results (approval_id, body) VALUES ($1, $2)",
            values![approval.id.to_string(), json(&body)?],
        )?;
    }
    Ok(())
}

/// The columns that follow from the state, for people who read the table.
#[derive(Default)]
struct Told<'a> {
    result: Option<String>,
    error: Option<String>,
    error_type: Option<&'a str>,
    execution_time: Option<Duration>,
    approved_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
}

impl<'a> Told<'a> {
    fn by(state: &'a State) -> Self {
        let nothing = Self::default();
        match state {
            State::Pending => nothing,
            State::AwaitingApproval { deadline } => Self { expires_at: Some(*deadline), ..nothing },
            State::Approved { at, .. } => Self { approved_at: Some(*at), ..nothing },
            State::Executing { approved_at, .. } => {
                Self { approved_at: Some(*approved_at), ..nothing }
            }
            State::Completed { approved_at, since, at, result, .. } => Self {
                result: Some(cut(masked_text(beginning(result)), LONG)),
                execution_time: Duration::try_from(at.duration_since(*since)).ok(),
                approved_at: Some(*approved_at),
                completed_at: Some(*at),
                ..nothing
            },
            State::Failed { at, failure, .. } => Self {
                error: Some(cut(masked_text(&failure.error), LONGEST_ERROR)),
                error_type: Some(&failure.error_type),
                completed_at: Some(*at),
                ..nothing
            },
            State::Rejected { at, feedback, .. } => Self {
                error: feedback.as_deref().map(|it| cut(masked_text(it), LONGEST_ERROR)),
                completed_at: Some(*at),
                ..nothing
            },
            State::Timeout { at } | State::Cancelled { at, .. } => {
                Self { completed_at: Some(*at), ..nothing }
            }
        }
    }
}

/// Returns as much of a text as its column could show, and some more so that a secret at the end of
/// that is still known as one: masking all of a long one would hold up the writer.
fn beginning(text: &str) -> &str {
    text.char_indices().nth(4 * LONG).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// Cuts a text after so many characters, and shows that it was cut.
fn cut(text: String, longest: usize) -> String {
    match text.char_indices().nth(longest.saturating_sub(1)) {
        Some((at, last)) if at + last.len_utf8() < text.len() => {
            text.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
        }
        _ => text,
    }
}
