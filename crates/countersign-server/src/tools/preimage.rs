//! `POST …/tools/{tool_id}/preimage`: the client that would run a call says what is on its machine.

use axum::Json;
use axum::extract::State;
use countersign_api::preimage::{PreimageBody, PreimageTaken};
use countersign_core::{ClientFile, ClientLook, ClientReadCommand, Digest, Effect};

use crate::app::App;
use crate::body::{JsonBody, RESULT_LIMIT};
use crate::caller::AuthenticatedCaller;
use crate::error::ApiError;
use crate::error_responses::ConflictErrorResponses;
use crate::path_params::{PathParams, execution_id};
use crate::with_deadline::with_deadline;

/// The longest folder or path that is taken, in bytes.
const LONGEST: usize = 4096;

/// The largest text that is taken, in bytes.
const CONTENT_LIMIT: usize = 10 * 1024 * 1024;

/// How much a client has to say of what a command reads.
const MOST_EFFECTS: usize = 256;

/// `POST /my/projects/{project_id}/tools/{tool_id}/preimage`: answers `tool.preview_request`. Only the
/// client that was asked can, once, and only while the answer is waited for (3 seconds): then people see
/// the change against that file, and their decision is bound to it.
#[utoipa::path(post, operation_id = "showPreimage", tag = "tools", path = "/my/projects/{project_id}/tools/{tool_id}/preimage", params(("project_id" = String, Path), ("tool_id" = String, Path)), request_body = PreimageBody, responses(
    (status = 200, body = PreimageTaken),
    ConflictErrorResponses,
))]
pub(crate) async fn show(
    caller: AuthenticatedCaller,
    State(app): State<App>,
    PathParams((project, tool)): PathParams<(String, String)>,
    JsonBody(body): JsonBody<PreimageBody, RESULT_LIMIT>,
) -> Result<Json<PreimageTaken>, ApiError> {
    let place = app.projects.get(&project).await?;
    let execution = execution_id(&tool)?;
    let holder = caller.holder_name(&body.client_id);
    let look = client_look(body)?;
    let (gate, project) = (app.gate.clone(), place.0.id.clone());
    let taken =
        with_deadline(
            async move { gate.answer_client_look(&project, execution, holder, look).await },
        );
    if !taken.await? {
        let why = "nobody waits for what is on this client's machine: it came too late, was said \
                   before, or another client was asked";
        return Err(ApiError::conflict("not_asked", why));
    }
    Ok(Json(PreimageTaken { success: true, tool_id: tool }))
}

fn client_look(body: PreimageBody) -> Result<ClientLook, ApiError> {
    let bad = |why: &str| ApiError::bad_request("bad_preimage", why.to_owned());
    let PreimageBody { root, path, digest, content, program, effects, refusal, .. } = body;
    let names = [Some(&root), path.as_ref(), program.as_ref(), digest.as_ref()];
    let fits = |name: &String| name.len() <= LONGEST && !name.chars().any(char::is_control);
    if root.is_empty() || !names.into_iter().flatten().all(fits) {
        return Err(bad(
            "`root`, `path`, `digest` and `program` are one line of at most 4096 bytes, and \
             `root` is not empty",
        ));
    }
    if refusal.as_ref().is_some_and(|why| why.len() > LONGEST) {
        return Err(bad("`refusal` has more than 4096 bytes: say it in a sentence"));
    }
    if content.as_ref().is_some_and(|text| text.len() > CONTENT_LIMIT) {
        return Err(bad("`content` has more than 10 MiB: leave it out, `digest` is enough"));
    }
    if content.is_some() && digest.is_none() {
        return Err(bad("`content` without `digest`: by what is the file known again?"));
    }
    if effects.as_ref().is_some_and(|effects| effects.len() > MOST_EFFECTS) {
        return Err(bad("`effects` has more than 256 entries: leave `program` out"));
    }
    let effects = effects.into_iter().flatten().map(serde_json::from_value::<Effect>);
    let effects: Vec<_> = effects
        .collect::<Result<_, _>>()
        .map_err(|error| bad(&format!("`effects` cannot be read: {error}")))?;
    let digest = digest.map(Digest::from);
    let file = path.map(|path| ClientFile { path, digest, content });
    let command = program.map(|program| ClientReadCommand { program, effects });
    Ok(ClientLook { root, file, command, refusal })
}
