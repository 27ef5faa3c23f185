//! Approvals as rows: made once, changed only by compare-and-set, each change with its events.

use std::time::Duration;

use countersign_core::shell::Part;
use countersign_core::{
    Approval, ApprovalId, Basis, Digest, Effect, Event, Outcome, ProjectId, Risk, RunId, State,
    Status, ToolCall, Verdict, masked, masked_text,
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use super::writer::Ledger;
use super::{Store, StoreError, StoredRule, diffs, from_json, iso, json, moment, rules};

/// Who the calls of an embedded or single-user server belong to.
const LOCAL_USER: &str = "local";

/// The part of an approval that never changes, as it stands in the `request` column.
#[derive(Serialize, Deserialize)]
struct Request {
    call: ToolCall,
    effects: Vec<Effect>,
    summary: String,
    verdict: Verdict,
    created_at: Timestamp,
    #[serde(default)]
    commands: Vec<Part>,
    #[serde(default)]
    basis: Basis,
}

/// What a transition found and left.
#[derive(Debug)]
pub enum Transition<E> {
    /// There is no such approval.
    Unknown,
    /// The rules of the state said no.
    Refused(E),
    /// It is now so.
    Made(Box<Approval>),
}

const COLUMNS: &str = "approval_id, risk_level, digest, request, preview, state";

impl Store {
    /// Keeps a new approval in whatever state it has come to, with the events that tell of it.
    pub(crate) async fn keep_approval(
        &self,
        approval: Approval,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.writer
            .write(move |ledger| {
                insert(ledger.db, &approval)?;
                rules::count_uses(ledger.db, &approval, now)?;
                log_change(ledger, Status::Pending, &approval, now)
            })
            .await
    }

    /// Takes an approval from one state to the next, as the pure rule `step` says.
    pub(crate) async fn transition<E, F>(
        &self,
        id: ApprovalId,
        now: Timestamp,
        step: F,
    ) -> Result<Transition<E>, StoreError>
    where
        E: Send + 'static,
        F: FnOnce(Approval) -> Result<Approval, E> + Send + 'static,
    {
        self.writer.write(move |ledger| change(ledger, id, now, step)).await
    }

    /// Takes an approval to the next state and, if that approves it, keeps the rules it grants.
    pub(crate) async fn transition_granting<E, F>(
        &self,
        id: ApprovalId,
        now: Timestamp,
        rules: Vec<StoredRule>,
        step: F,
    ) -> Result<Transition<E>, StoreError>
    where
        E: Send + 'static,
        F: FnOnce(Approval) -> Result<Approval, E> + Send + 'static,
    {
        self.writer
            .write(move |ledger| {
                let made = change(ledger, id, now, step)?;
                let approved = |it: &Approval| it.status() == Status::Approved;
                if matches!(&made, Transition::Made(settled) if approved(settled)) {
                    rules.iter().try_for_each(|rule| rules::add(ledger.db, rule))?;
                }
                Ok(made)
            })
            .await
    }

    /// Takes an approval out of the way and keeps the one that takes its place, both or neither.
    pub(crate) async fn replace<E, F>(
        &self,
        id: ApprovalId,
        next: Approval,
        now: Timestamp,
        step: F,
    ) -> Result<Transition<E>, StoreError>
    where
        E: Send + 'static,
        F: FnOnce(Approval) -> Result<Approval, E> + Send + 'static,
    {
        self.writer
            .write(move |ledger| {
                let made = change(ledger, id, now, step)?;
                if matches!(made, Transition::Made(_)) {
                    insert(ledger.db, &next)?;
                    log_change(ledger, Status::Pending, &next, now)?;
                }
                Ok(made)
            })
            .await
    }

    /// Returns an approval.
    pub async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        self.readers.read(move |db| find(db, id)).await
    }

    /// Returns the approvals of a project that wait for a person, oldest first.
    pub async fn waiting(&self, project: &ProjectId) -> Result<Vec<Approval>, StoreError> {
        let project = project.clone();
        self.readers
            .read(move |db| {
                list(
                    db,
                    "project_id = ? AND status = 'AWAITING_APPROVAL' ORDER BY created_at, rowid",
                    &[project.as_str()],
                )
            })
            .await
    }

    /// Returns the ids of what a run has not finished.
    pub async fn open_in_run(&self, run: RunId) -> Result<Vec<Approval>, StoreError> {
        self.readers
            .read(move |db| {
                list(
                    db,
                    "run_id = ? AND status IN ('AWAITING_APPROVAL', 'APPROVED', 'EXECUTING')",
                    &[&run.to_string()],
                )
            })
            .await
    }

    /// Returns the newest calls of a project, newest first: without what was shown and what came of
    /// them, which may be long.
    pub(crate) async fn recent(
        &self,
        project: &ProjectId,
        limit: usize,
    ) -> Result<Vec<Approval>, StoreError> {
        let project = project.clone();
        self.readers
            .read(move |db| {
                let mut query = db.prepare_cached(
                    "SELECT approval_id, risk_level, digest, request, NULL AS preview,
                       json_replace(state, '$.result', '') AS state
                     FROM tool_executions WHERE project_id = ?
                     ORDER BY rowid DESC LIMIT ?",
                )?;
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                let mut rows = query.query(params![project.as_str(), limit])?;
                let mut recent = Vec::new();
                while let Some(row) = rows.next()? {
                    recent.push(approval(row)?);
                }
                Ok(recent)
            })
            .await
    }

    /// Returns everything that waits or runs, of whatever project: what a dead process left behind.
    pub(crate) async fn unfinished(&self) -> Result<Vec<Approval>, StoreError> {
        let open = "status IN ('AWAITING_APPROVAL', 'APPROVED', 'EXECUTING')";
        self.readers.read(move |db| list(db, open, &[])).await
    }

    /// Returns the ids of requests whose time has come, and when the next one's will.
    pub(crate) async fn due(
        &self,
        now: Timestamp,
    ) -> Result<(Vec<ApprovalId>, Option<Timestamp>), StoreError> {
        self.readers
            .read(move |db| {
                let mut query = db.prepare_cached(
                    "SELECT approval_id, expires_at FROM tool_executions
                     WHERE status = 'AWAITING_APPROVAL' ORDER BY expires_at LIMIT 256",
                )?;
                let mut rows = query.query([])?;
                let mut due = Vec::new();
                while let Some(row) = rows.next()? {
                    let at = moment(&row.get::<_, String>(1)?)?;
                    if at > now {
                        return Ok((due, Some(at)));
                    }
                    due.push(id_of(&row.get::<_, String>(0)?)?);
                }
                // A full page of due ones: come back at once for the rest.
                let more = (!due.is_empty()).then_some(now);
                Ok((due, more))
            })
            .await
    }
}

fn change<E>(
    ledger: &mut Ledger<'_>,
    id: ApprovalId,
    now: Timestamp,
    step: impl FnOnce(Approval) -> Result<Approval, E>,
) -> Result<Transition<E>, StoreError> {
    let Some(approval) = find(ledger.db, id)? else { return Ok(Transition::Unknown) };
    let before = approval.status();
    let bound_to = approval.digest.clone();
    match step(approval) {
        Err(refused) => Ok(Transition::Refused(refused)),
        Ok(approval) => {
            if approval.digest != bound_to {
                amend(ledger.db, &approval)?;
            }
            update(ledger.db, before, &approval)?;
            log_change(ledger, before, &approval, now)?;
            Ok(Transition::Made(Box::new(approval)))
        }
    }
}

/// Tells the log what a change means to those who watch.
fn log_change(
    ledger: &mut Ledger<'_>,
    before: Status,
    approval: &Approval,
    now: Timestamp,
) -> Result<(), StoreError> {
    for event in events_of(before, approval) {
        let call = &approval.call;
        ledger.log(&call.project, Some(&call.session), call.run, now, &event)?;
    }
    Ok(())
}

fn events_of(before: Status, approval: &Approval) -> Vec<Event> {
    let mut events = Vec::new();
    let after = approval.status();
    match (before, after) {
        (_, Status::AwaitingApproval) => {
            events.push(Event::ApprovalRequested { approval: approval.id });
        }
        (Status::AwaitingApproval, _) => events.push(resolved(approval)),
        _ => events.push(Event::ToolState {
            execution: approval.call.id,
            tool_name: approval.call.tool_name.clone(),
            status: after,
        }),
    }
    if let Some(answer) = approval.answer() {
        events.push(Event::ToolResult {
            tool_use_id: approval.call.tool_use_id.clone(),
            content: answer.content,
            is_error: answer.is_error,
        });
    }
    events
}

fn resolved(approval: &Approval) -> Event {
    let (by, feedback) = match &approval.state {
        State::Approved { by, .. } => (Some(by.to_string()), None),
        State::Rejected { by, feedback, .. } => (Some(by.to_string()), feedback.clone()),
        _ => (None, None),
    };
    Event::ApprovalResolved { approval: approval.id, status: approval.status(), by, feedback }
}

impl Request {
    fn of(approval: &Approval) -> Self {
        Self {
            call: approval.call.clone(),
            effects: approval.effects.clone(),
            summary: approval.summary.clone(),
            verdict: approval.verdict.clone(),
            created_at: approval.created_at,
            commands: approval.commands.clone(),
            basis: approval.basis.clone(),
        }
    }
}

/// Writes what a person has changed of a request, and what followed from that.
fn amend(db: &Connection, approval: &Approval) -> Result<(), StoreError> {
    diffs::keep(db, approval)?;
    db.prepare_cached(
        "UPDATE tool_executions SET tool_params = ?, risk_level = ?, digest = ?, request = ?,
           preview = ?
         WHERE approval_id = ?",
    )?
    .execute(params![
        json(&masked(&approval.call.input))?,
        approval.risk.to_string(),
        approval.digest.as_str(),
        json(&Request::of(approval))?,
        approval.preview.as_ref().map(json).transpose()?,
        approval.id.to_string(),
    ])?;
    Ok(())
}

fn insert(db: &Connection, approval: &Approval) -> Result<(), StoreError> {
    let call = &approval.call;
    let request = Request::of(approval);
    diffs::keep(db, approval)?;
    db.prepare_cached(
        "INSERT INTO tool_executions (id, user_id, project_id, session_id, approval_id, tool_name,
           tool_params, risk_level, requires_approval, status, created_at, run_id, digest, request,
           preview, state)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        call.id.to_string(),
        LOCAL_USER,
        call.project.as_str(),
        call.session.as_str(),
        approval.id.to_string(),
        call.tool_name,
        json(&masked(&call.input))?,
        approval.risk.to_string(),
        approval.verdict.outcome == Outcome::Ask,
        approval.status().as_str(),
        iso(approval.created_at),
        call.run.map(|run| run.to_string()),
        approval.digest.as_str(),
        json(&request)?,
        approval.preview.as_ref().map(json).transpose()?,
        json(&approval.state)?,
    ])?;
    update(db, approval.status(), approval)
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
                result: Some(masked_text(result)),
                execution_time: Duration::try_from(at.duration_since(*since)).ok(),
                approved_at: Some(*approved_at),
                completed_at: Some(*at),
                ..nothing
            },
            State::Failed { at, failure, .. } => Self {
                error: Some(masked_text(&failure.error)),
                error_type: Some(&failure.error_type),
                completed_at: Some(*at),
                ..nothing
            },
            State::Rejected { at, feedback, .. } => Self {
                error: feedback.as_deref().map(masked_text),
                completed_at: Some(*at),
                ..nothing
            },
            State::Timeout { at } | State::Cancelled { at, .. } => {
                Self { completed_at: Some(*at), ..nothing }
            }
        }
    }
}

fn update(db: &Connection, before: Status, approval: &Approval) -> Result<(), StoreError> {
    let told = Told::by(&approval.state);
    // `status = ?` is the lock: of two that would change the row, one does.
    let changed = db
        .prepare_cached(
            "UPDATE tool_executions SET status = ?, state = ?, result = ?, error = ?, error_type = ?,
               execution_time_ms = ?, approved_at = coalesce(?, approved_at), completed_at = ?,
               expires_at = coalesce(?, expires_at)
             WHERE approval_id = ? AND status = ?",
        )?
        .execute(params![
            approval.status().as_str(),
            json(&approval.state)?,
            told.result,
            told.error,
            told.error_type,
            told.execution_time.map(|time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX)),
            told.approved_at.map(iso),
            told.completed_at.map(iso),
            told.expires_at.map(iso),
            approval.id.to_string(),
            before.as_str(),
        ])?;
    if changed == 1 {
        Ok(())
    } else {
        Err(StoreError::corrupt("approval", format!("`{}` is no longer {before}", approval.id)))
    }
}

fn find(db: &Connection, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM tool_executions WHERE approval_id = ?");
    db.prepare_cached(&sql)?
        .query_row([id.to_string()], |row| Ok(approval(row)))
        .optional()?
        .transpose()
}

fn list(db: &Connection, condition: &str, with: &[&str]) -> Result<Vec<Approval>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM tool_executions WHERE {condition}");
    let mut query = db.prepare_cached(&sql)?;
    let mut rows = query.query(rusqlite::params_from_iter(with))?;
    let mut approvals = Vec::new();
    while let Some(row) = rows.next()? {
        approvals.push(approval(row)?);
    }
    Ok(approvals)
}

fn approval(row: &Row<'_>) -> Result<Approval, StoreError> {
    let text = |column: &str| row.get::<_, String>(column);
    let Request { call, effects, summary, verdict, created_at, commands, basis } =
        from_json("request", &text("request")?)?;
    let preview: Option<String> = row.get("preview")?;
    Ok(Approval {
        id: id_of(&text("approval_id")?)?,
        call,
        effects,
        commands,
        summary,
        basis,
        risk: risk_of(&text("risk_level")?)?,
        verdict,
        preview: preview.map(|preview| from_json("preview", &preview)).transpose()?,
        digest: Digest::from(text("digest")?),
        created_at,
        state: from_json("state", &text("state")?)?,
    })
}

fn id_of(text: &str) -> Result<ApprovalId, StoreError> {
    text.parse().map_err(|error| StoreError::corrupt("approval id", error))
}

fn risk_of(text: &str) -> Result<Risk, StoreError> {
    from_json("risk", &format!("\"{text}\""))
}
