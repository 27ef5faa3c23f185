//! `POST /sign-in/links`: a fresh one-time link, for a browser that is not signed in yet.

use axum::Json;
use axum::extract::State;

use countersign_api::sign_in_link::NewSignInLink;

use crate::app::App;
use crate::error::ApiError;
use crate::error_responses::ReadErrorResponses;
use crate::sign_in::LINK_LIFE;

/// `POST /sign-in/links`: makes a link that signs one browser in, once, as an admin. It leads to the
/// server's public address, where one was given.
#[utoipa::path(post, operation_id = "make_sign_in_link", tag = "description", path = "/sign-in/links", responses(
    (status = 200, body = NewSignInLink),
    ReadErrorResponses,
))]
pub(crate) async fn make(State(app): State<App>) -> Result<Json<NewSignInLink>, ApiError> {
    let link = app.sign_ins.new_link();
    let link = link.map_err(|_| ApiError::internal("no_randomness", "there is no randomness"))?;
    let base = match &app.host_names.public_url {
        Some(url) => url.to_string(),
        None => format!("http://{}", app.address),
    };
    let url = format!("{base}/agent?token={}", link.secret());
    Ok(Json(NewSignInLink { success: true, url, expires_in_seconds: LINK_LIFE.as_secs() }))
}
