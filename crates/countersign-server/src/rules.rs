//! Rules of a project: shown, replaced, revoked, tried out. All of it is the gate's doing.

pub(crate) mod check;
pub(crate) mod simulate;
pub(crate) mod view;

use axum::Json;
use axum::extract::State;
use countersign_api::rule::{NewRule, NewRules, RuleList, TriedRule, TrustedContent};
use countersign_core::{Digest, ProjectId, RuleId};
use countersign_gate::{RuleDraft, RulesError, TrustError};

use crate::app::App;
use crate::body::JsonBody;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::{ConflictErrorResponses, ReadErrorResponses, WriteErrorResponses};
use crate::path_params::PathParams;
use crate::with_deadline::with_deadline;

/// `GET /my/projects/{project_id}/rules`: everything that holds, and where it comes from.
#[utoipa::path(get, operation_id = "list_rules", tag = "rules", path = "/my/projects/{project_id}/rules", params(("project_id" = String, Path)), responses(
    (status = 200, body = RuleList),
    ReadErrorResponses,
))]
pub(crate) async fn list(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
) -> Result<Json<RuleList>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    view::rules(&app, &project.id).await
}

/// `PUT /my/projects/{project_id}/rules`: replaces the project's own rules.
#[utoipa::path(put, operation_id = "replace_rules", tag = "rules", path = "/my/projects/{project_id}/rules", params(("project_id" = String, Path)), request_body = NewRules, responses(
    (status = 200, body = RuleList),
    ConflictErrorResponses,
))]
pub(crate) async fn replace(
    SignedInPerson(person): SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    JsonBody(wanted): JsonBody<NewRules>,
) -> Result<Json<RuleList>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let drafts = wanted.rules.into_iter().map(rule_draft).collect::<Result<Vec<_>, _>>()?;
    let version = wanted.version.map(Digest::from);
    let (gate, id) = (app.gate.clone(), project.id.clone());
    with_deadline(async move { gate.replace_rules(&id, version, drafts, &person).await }).await?;
    view::rules(&app, &project.id).await
}

/// `DELETE /my/projects/{project_id}/rules/{rule_id}`: revokes a rule of the project or a grant.
#[utoipa::path(delete, operation_id = "revoke_rule", tag = "rules", path = "/my/projects/{project_id}/rules/{rule_id}", params(
    ("project_id" = String, Path),
    ("rule_id" = String, Path),
), responses(
    (status = 200, body = RuleList),
    WriteErrorResponses,
))]
pub(crate) async fn revoke(
    SignedInPerson(person): SignedInPerson,
    State(app): State<App>,
    PathParams((project, rule)): PathParams<(String, String)>,
) -> Result<Json<RuleList>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let (gate, id, rule) = (app.gate.clone(), project.id.clone(), rule_id(&rule)?);
    with_deadline(async move { gate.revoke_rule(&id, rule, &person).await }).await?;
    view::rules(&app, &project.id).await
}

/// `POST /my/projects/{project_id}/rules/trust`: trusts what the workspace's file says now.
#[utoipa::path(post, operation_id = "trust_rules", tag = "rules", path = "/my/projects/{project_id}/rules/trust", params(("project_id" = String, Path)), request_body = TrustedContent, responses(
    (status = 200, body = RuleList),
    ConflictErrorResponses,
))]
pub(crate) async fn trust(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    JsonBody(content): JsonBody<TrustedContent>,
) -> Result<Json<RuleList>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let id = project.id.clone();
    run_blocking(&app, &id, move |book, id| book.trust(id, &Digest::from(content.digest)))
        .await??;
    view::rules(&app, &project.id).await
}

/// Looks at the files of a project, off the runtime.
async fn run_blocking<T: Send + 'static>(
    app: &App,
    project: &ProjectId,
    look: impl FnOnce(&countersign_gate::Rulebook, &ProjectId) -> T + Send + 'static,
) -> Result<T, ApiError> {
    let (book, project) = (app.gate.rulebook().clone(), project.clone());
    let looking = tokio::task::spawn_blocking(move || look(&book, &project));
    looking.await.map_err(|error| {
        tracing::error!(%error, "the rule files could not be looked at");
        ApiError::internal("rule_files", "the rule files could not be looked at")
    })
}

fn rule_id(text: &str) -> Result<RuleId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found(format!("no rule has the id `{text}`")))
}

fn rule_draft(rule: NewRule) -> Result<RuleDraft, ApiError> {
    let NewRule { id, effect, rule, why, expires_at } = rule;
    let id = id.as_deref().map(rule_id).transpose()?;
    Ok(RuleDraft { id, effect: effect.into(), rule, why, expires_at })
}

/// Reads a rule that is to be tried out.
fn parse_tried_rule(tried: TriedRule) -> Result<countersign_core::Rule, RulesError> {
    let TriedRule { effect, rule } = tried;
    RuleDraft { id: None, effect: effect.into(), rule, why: None, expires_at: None }.parse()
}

impl From<RulesError> for ApiError {
    fn from(error: RulesError) -> Self {
        match error {
            RulesError::Bad { .. } | RulesError::TooMany => {
                Self::bad_request("bad_rule", error.to_string())
            }
            RulesError::Changed => Self {
                hint: Some("read the rules again and repeat the change"),
                ..Self::conflict("rules_changed", error.to_string())
            },
            RulesError::Unknown(_) => Self::not_found(error.to_string()),
            RulesError::Store(error) => error.into(),
        }
    }
}

impl From<TrustError> for ApiError {
    fn from(error: TrustError) -> Self {
        match error {
            TrustError::Changed | TrustError::Broken(_) => {
                Self::conflict("changed", error.to_string())
            }
            TrustError::Unknown | TrustError::Absent => Self::not_found(error.to_string()),
            TrustError::Nowhere => Self::internal("no_trust_file", error.to_string()),
            TrustError::Io(ref cause) => {
                tracing::error!(%cause, "a workspace could not be trusted");
                Self::internal("trust", error.to_string())
            }
        }
    }
}
