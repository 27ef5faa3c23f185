//! `/my/projects`: which there are, a new one, and what each has settled.

use countersign_api::project::{NewProject, OneProject, ProjectChange, ProjectList, ProjectView};
mod view;

use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_gate::{Project, StoredProject};
use serde::Deserialize;
use utoipa::IntoParams;

use self::view::{EffectiveSettings, apply_settings_change, check_settings_change, project_view};
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::{ReadErrorResponses, WriteErrorResponses};
use crate::path_params::PathParams;
use crate::query::{QueryParams, limit};
use crate::with_deadline::with_deadline;

/// How long a name may be.
const LONGEST_NAME: usize = 200;

/// Which page of the projects.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProjectListQuery {
    /// Where the page before it ended: its `next_cursor`.
    #[param(pattern = "^[0-9]{1,9}$")]
    cursor: Option<String>,
    /// How many, 50 unless said; a page has 1,000 at the most.
    #[serde(default, deserialize_with = "limit")]
    #[param(minimum = 1)]
    limit: Option<usize>,
}

/// `GET /my/projects`: the projects that this server serves, the default one first.
#[utoipa::path(get, operation_id = "list_projects", tag = "projects", path = "/my/projects", params(ProjectListQuery), responses(
    (status = 200, body = ProjectList),
    ReadErrorResponses,
))]
pub(crate) async fn list(
    _: SignedInPerson,
    State(app): State<App>,
    QueryParams(page): QueryParams<ProjectListQuery>,
) -> Result<Json<ProjectList>, ApiError> {
    let skipped = match page.cursor.as_deref() {
        Some(cursor) => cursor.parse().map_err(|_| ApiError::bad_cursor())?,
        None => 0_usize,
    };
    app.projects.load().await?;
    let (ids, limit) = (app.projects.ids(), page.limit.unwrap_or(50).min(1000));
    let mut projects = Vec::new();
    for id in ids.iter().skip(skipped).take(limit) {
        projects.push(load_view(&app, id.as_str()).await?);
    }
    let end = skipped.saturating_add(projects.len());
    let next_cursor = (end < ids.len()).then(|| end.to_string());
    Ok(Json(ProjectList { success: true, projects, next_cursor }))
}

/// `GET /my/projects/{project_id}`: a project, its root and its settings.
#[utoipa::path(get, operation_id = "get_project", tag = "projects", path = "/my/projects/{project_id}", params(("project_id" = String, Path, description = "`default` stands for the first")), responses(
    (status = 200, body = OneProject),
    ReadErrorResponses,
))]
pub(crate) async fn get(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
) -> Result<Json<OneProject>, ApiError> {
    let project = load_view(&app, &project).await?;
    Ok(Json(OneProject { success: true, project }))
}

/// `POST /my/projects`: makes a project of a folder inside one of the server's roots. A folder has
/// one project: where it has one already, that one is the answer, as it stands.
#[utoipa::path(post, operation_id = "make_project", tag = "projects", path = "/my/projects", request_body = NewProject, responses(
    (status = 201, description = "It is there now.", body = OneProject),
    (status = 200, description = "It was there already, and stays as it was.", body = OneProject),
    WriteErrorResponses,
))]
pub(crate) async fn make(
    SignedInPerson(person): SignedInPerson,
    State(app): State<App>,
    JsonBody(wanted): JsonBody<NewProject>,
) -> Result<(StatusCode, Json<OneProject>), ApiError> {
    let settings = check_settings_change(wanted.settings)?;
    let name = wanted.name.map(name).transpose()?;
    let project = project_for_folder(&app, &wanted.root)?;
    let (gate, now, kept) = (app.gate.clone(), app.gate.clock().now(), project.clone());
    let is_new = with_deadline(async move {
        let is_new = gate.store().register_project(kept.clone(), now).await?;
        if is_new {
            let change = move |it: &mut StoredProject| {
                apply_settings_change(settings, &mut it.settings);
                it.project.name = name.clone().unwrap_or_else(|| it.project.name.clone());
            };
            gate.change_project(&kept.id, &person, change).await?;
        }
        Ok::<_, countersign_gate::StoreError>(is_new)
    });
    let status = if is_new.await? { StatusCode::CREATED } else { StatusCode::OK };
    let project = load_view(&app, project.id.as_str()).await?;
    Ok((status, Json(OneProject { success: true, project })))
}

/// `PATCH /my/projects/{project_id}`: changes the name or settings. What is left out stays, null
/// goes back to what the server has. Requests that wait already keep their deadline.
#[utoipa::path(patch, operation_id = "change_project", tag = "projects", path = "/my/projects/{project_id}", params(("project_id" = String, Path)), request_body = ProjectChange, responses(
    (status = 200, body = OneProject),
    WriteErrorResponses,
))]
pub(crate) async fn change(
    SignedInPerson(person): SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    JsonBody(wanted): JsonBody<ProjectChange>,
) -> Result<Json<OneProject>, ApiError> {
    let id = app.projects.get(&project).await?.0.id.clone();
    let settings = check_settings_change(wanted.settings)?;
    let name = wanted.name.map(name).transpose()?;
    let gate = app.gate.clone();
    let changed = with_deadline(async move {
        let change = move |it: &mut StoredProject| {
            apply_settings_change(settings, &mut it.settings);
            it.project.name = name.clone().unwrap_or_else(|| it.project.name.clone());
        };
        gate.change_project(&id, &person, change).await
    });
    changed.await?;
    let project = load_view(&app, &project).await?;
    Ok(Json(OneProject { success: true, project }))
}

async fn load_view(app: &App, id: &str) -> Result<ProjectView, ApiError> {
    let id = app.projects.get(id).await?.0.id.clone();
    let unknown = || ApiError::not_found(format!("no project has the id `{id}`"));
    let stored = app.gate.store().project(&id).await?.ok_or_else(unknown)?;
    let standing = EffectiveSettings {
        timeouts: app.gate.timeouts(&id).await?,
        approvals: app.approval_policy(&id).await?,
        servers: app.gate.default_timeouts(),
        switch: app.approval_switch,
        sandbox: &app.sandbox,
    };
    Ok(project_view(stored, standing))
}

/// Returns the project that a folder is, if it may be one.
fn project_for_folder(app: &App, folder: &str) -> Result<Project, ApiError> {
    let refused = || {
        ApiError::bad_request(
            "bad_root",
            format!("`{folder}` is not a folder inside one of the server's roots"),
        )
    };
    if folder.is_empty() || folder.contains('\0') {
        return Err(refused());
    }
    let first = app.projects.find("default").ok_or_else(refused)?;
    let whole = Path::new(&first.0.root).join(folder);
    let workspace = app.projects.workspace(&whole).ok_or_else(refused)?;
    let root = workspace.roots().first().and_then(|root| root.to_str()).ok_or_else(refused)?;
    Ok(Project::from_root(root))
}

fn name(name: String) -> Result<String, ApiError> {
    let is_one = !name.trim().is_empty()
        && name.chars().count() <= LONGEST_NAME
        && !name.chars().any(char::is_control);
    if is_one {
        Ok(name)
    } else {
        let why = format!("a name has 1 to {LONGEST_NAME} characters, none of them control codes");
        Err(ApiError::bad_request("bad_name", why))
    }
}
