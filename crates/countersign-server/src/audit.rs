//! The audit of a project, as a list: what was decided, by whom, on what they saw, and what ran.

use axum::Json;
use axum::extract::State;
use countersign_api::audit::{
    ActView, AuditEntry, AuditList, CallActView, MaskedActView, MaskedCallView, RefusalActView,
    RulesActView, SettingsActView, UndoneActView,
};
use countersign_gate::{AuditAction, AuditRow, CallAuditAction, MaskedCall, StoreError};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::ReadErrorResponses;
use crate::path_params::PathParams;
use crate::query::{QueryParams, limit};

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
    let entries = rows.into_iter().map(audit_entry).collect::<Result<_, _>>()?;
    Ok(Json(AuditList { success: true, entries, next_cursor }))
}

fn parse_cursor(cursor: &str) -> Result<u64, ApiError> {
    cursor.parse().map_err(|_| ApiError::bad_cursor())
}

fn audit_entry(row: AuditRow) -> Result<AuditEntry, StoreError> {
    let act = serde_json::from_str::<AuditAction>(&row.body);
    let act = act.map_err(|error| StoreError::corrupt("row of the audit", error))?;
    Ok(AuditEntry { seq: row.seq, at: row.at, hash: row.hash, act: act_view(act) })
}

fn act_view(act: AuditAction) -> ActView {
    match act {
        AuditAction::Call(call) => ActView::Call(Box::new(call_act_view(*call))),
        AuditAction::Rules { who, session_id, kept, revoked } => {
            let session_id = session_id.map(|id| id.to_string());
            ActView::Rules(RulesActView { who, session_id, kept, revoked })
        }
        AuditAction::Settings { who, name, settings } => ActView::Settings(SettingsActView {
            who,
            name,
            medium_seconds: settings.medium_seconds,
            high_seconds: settings.high_seconds,
            tool_approval_enabled: settings.tool_approval_enabled,
        }),
        AuditAction::ResultRefused { approval_id, tool_id, reason, result } => {
            ActView::ResultRefused(RefusalActView {
                approval_id: approval_id.to_string(),
                tool_id: tool_id.to_string(),
                reason,
                result: result.to_string(),
            })
        }
        AuditAction::Undone { who, tool_ids, files } => {
            let tool_ids = tool_ids.iter().map(ToString::to_string).collect();
            ActView::Undone(UndoneActView { who, tool_ids, files })
        }
        AuditAction::Masked { calls } => {
            let view = |call: MaskedCall| MaskedCallView {
                approval_id: call.approval_id.to_string(),
                kept: call.kept.to_string(),
            };
            ActView::Masked(MaskedActView { calls: calls.into_iter().map(view).collect() })
        }
    }
}

fn call_act_view(act: CallAuditAction) -> CallActView {
    CallActView {
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
