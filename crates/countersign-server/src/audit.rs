//! The audit of a project, as a list: what was decided, by whom, on what they saw, and what ran.

use axum::Json;
use axum::extract::State;
use countersign_gate::{AuditAction, AuditRow, CallAuditAction, MaskedCall, StoreError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::error::ApiError;
use crate::error_responses::ReadErrorResponses;
use crate::path_params::PathParams;
use crate::query::{QueryParams, limit};
use crate::sign_in::SignedInPerson;
use crate::socket::request::RiskLevel;
use crate::status::CallStatus;

/// How many entries a page has at the most.
const MOST: usize = 1000;

/// Which page of the audit.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditListQuery {
    /// Where the page before it ended: its `next_cursor`.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
    /// How many, 100 unless said; a page has 1,000 at the most.
    #[serde(default, deserialize_with = "limit")]
    #[param(minimum = 1)]
    limit: Option<usize>,
}

/// A page of the audit, the oldest first: what is appended later does not move what was read.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditList {
    success: bool,
    entries: Vec<AuditEntry>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// One row of the audit: what was done, and its place in the chain.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditEntry {
    /// Its number in the project's chain, from 1.
    seq: u64,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The seal, over this row as it is kept and the seal before it. `countersign audit export` has
    /// what was sealed to the letter.
    hash: String,
    #[serde(flatten)]
    act: ActView,
}

/// What was done.
#[derive(Serialize, ToSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum ActView {
    /// A call came into a state.
    Call(Box<CallActView>),
    /// The rules of the project, or of one of its conversations, were changed.
    Rules(RulesActView),
    /// What the project has settled for itself was changed.
    Settings(SettingsActView),
    /// What somebody said came of a call that ran elsewhere was not taken.
    ResultRefused(RefusalActView),
    /// What calls had done to files was undone.
    Undone(UndoneActView),
    /// Secrets were masked in calls that were settled before that was done at once.
    Masked(MaskedActView),
}

/// Calls whose secrets were masked.
#[derive(Serialize, ToSchema)]
pub(crate) struct MaskedActView {
    calls: Vec<MaskedCallView>,
}

/// A call whose secrets were masked, with the digest of what is left of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct MaskedCallView {
    approval_id: String,
    kept: String,
}

/// Files that were put back to what they were before some calls.
#[derive(Serialize, ToSchema)]
pub(crate) struct UndoneActView {
    who: String,
    tool_ids: Vec<String>,
    files: u64,
}

/// A project whose name or settings were changed; what is null is as the server has it.
#[derive(Serialize, ToSchema)]
pub(crate) struct SettingsActView {
    who: String,
    name: String,
    #[schema(required)]
    medium_seconds: Option<u64>,
    #[schema(required)]
    high_seconds: Option<u64>,
    #[schema(required)]
    tool_approval_enabled: Option<bool>,
}

/// A result that was not taken: it was late, or not theirs to say.
#[derive(Serialize, ToSchema)]
pub(crate) struct RefusalActView {
    approval_id: String,
    tool_id: String,
    reason: String,
    /// The digest of what they said.
    result: String,
}

/// A call that came into a state.
#[derive(Serialize, ToSchema)]
pub(crate) struct CallActView {
    status: CallStatus,
    /// Who brought it there, where somebody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    who: Option<String>,
    /// How: `person`, `program`, `policy`, `deadline` or `interruption`.
    how: String,
    approval_id: String,
    tool_id: String,
    tool_use_id: String,
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    run_id: Option<String>,
    tool_name: String,
    risk_level: RiskLevel,
    /// What it would do, in one sentence.
    summary: String,
    /// The digest of what was shown, and of all a decision is bound to.
    saw: String,
    /// The digest of the input as it stands: what runs, if it runs.
    input: String,
    /// Whether a person had changed the input.
    edited: bool,
    /// The digest of what it gave back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    result: Option<String>,
    /// What went wrong, or what the person said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    message: Option<String>,
    /// The kind of failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error_type: Option<String>,
}

/// A change of rules.
#[derive(Serialize, ToSchema)]
pub(crate) struct RulesActView {
    who: String,
    /// The conversation they hold in; left out where they hold in all of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    session_id: Option<String>,
    /// The rules that came or were changed, as they now read.
    kept: Vec<String>,
    /// The ids of those that were revoked.
    revoked: Vec<String>,
}

/// `GET /my/projects/{project_id}/audit`: what was decided and what ran, the oldest first.
#[utoipa::path(get, operation_id = "list_audit", tag = "audit", path = "/my/projects/{project_id}/audit", params(("project_id" = String, Path), AuditListQuery), responses(
    (status = 200, body = AuditList),
    ReadErrorResponses,
))]
pub(crate) async fn list(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    QueryParams(page): QueryParams<AuditListQuery>,
) -> Result<Json<AuditList>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let after = page.cursor.as_deref().map(parse_cursor).transpose()?;
    let after = after.map(|seq| (project.id.clone(), seq));
    let limit = page.limit.unwrap_or(100).min(MOST);
    let rows = app.gate.store().audit_rows(Some(&project.id), after, limit).await?;
    let next_cursor = rows.last().filter(|_| rows.len() == limit).map(|row| row.seq.to_string());
    let entries = rows.into_iter().map(AuditEntry::try_from).collect::<Result<_, _>>()?;
    Ok(Json(AuditList { success: true, entries, next_cursor }))
}

fn parse_cursor(cursor: &str) -> Result<u64, ApiError> {
    cursor.parse().map_err(|_| ApiError::bad_cursor())
}

impl TryFrom<AuditRow> for AuditEntry {
    type Error = StoreError;

    fn try_from(row: AuditRow) -> Result<Self, StoreError> {
        let act = serde_json::from_str::<AuditAction>(&row.body);
        let act = act.map_err(|error| StoreError::corrupt("row of the audit", error))?;
        Ok(Self { seq: row.seq, at: row.at, hash: row.hash, act: ActView::from(act) })
    }
}

impl From<AuditAction> for ActView {
    fn from(act: AuditAction) -> Self {
        match act {
            AuditAction::Call(call) => Self::Call(Box::new((*call).into())),
            AuditAction::Rules { who, session_id, kept, revoked } => {
                let session_id = session_id.map(|id| id.to_string());
                Self::Rules(RulesActView { who, session_id, kept, revoked })
            }
            AuditAction::Settings { who, name, settings } => Self::Settings(SettingsActView {
                who,
                name,
                medium_seconds: settings.medium_seconds,
                high_seconds: settings.high_seconds,
                tool_approval_enabled: settings.tool_approval_enabled,
            }),
            AuditAction::ResultRefused { approval_id, tool_id, reason, result } => {
                Self::ResultRefused(RefusalActView {
                    approval_id: approval_id.to_string(),
                    tool_id: tool_id.to_string(),
                    reason,
                    result: result.to_string(),
                })
            }
            AuditAction::Undone { who, tool_ids, files } => {
                let tool_ids = tool_ids.iter().map(ToString::to_string).collect();
                Self::Undone(UndoneActView { who, tool_ids, files })
            }
            AuditAction::Masked { calls } => {
                let view = |call: MaskedCall| MaskedCallView {
                    approval_id: call.approval_id.to_string(),
                    kept: call.kept.to_string(),
                };
                Self::Masked(MaskedActView { calls: calls.into_iter().map(view).collect() })
            }
        }
    }
}

impl From<CallAuditAction> for CallActView {
    fn from(act: CallAuditAction) -> Self {
        Self {
            status: act.status.into(),
            who: act.who,
            how: act.how,
            approval_id: act.approval_id.to_string(),
            tool_id: act.tool_id.to_string(),
            tool_use_id: act.tool_use_id.to_string(),
            session_id: act.session_id.to_string(),
            run_id: act.run_id.map(|id| id.to_string()),
            tool_name: act.tool_name,
            risk_level: act.risk_level.into(),
            summary: act.summary,
            saw: act.saw.to_string(),
            input: act.input.to_string(),
            edited: act.edited,
            result: act.result.map(|digest| digest.to_string()),
            message: act.message,
            error_type: act.error_type,
        }
    }
}
