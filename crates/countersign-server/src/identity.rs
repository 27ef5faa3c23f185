//! `POST /identity`: the server proves who it is, to whoever asks and before any credential is sent.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};

use countersign_api::identity::{IdentityChallenge, IdentityProof};

use crate::app::App;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::error_responses::WriteErrorResponses;

/// How long a challenge may be.
const NONCE: std::ops::RangeInclusive<usize> = 32..=128;

/// `POST /identity`: signs a client's challenge with the key that all servers of this database share.
/// A client that knows the public key compares before it sends its token. The request's `Host` is
/// signed, too, and is refused unless it is this server's: nobody else's port can pass for it.
#[utoipa::path(post, operation_id = "prove_identity", tag = "description", path = "/identity", request_body = IdentityChallenge, responses(
    (status = 200, body = IdentityProof),
    WriteErrorResponses,
))]
pub(crate) async fn prove(
    State(app): State<App>,
    headers: HeaderMap,
    JsonBody(challenge): JsonBody<IdentityChallenge, 1024>,
) -> Result<Json<IdentityProof>, ApiError> {
    let nonce = challenge.nonce;
    let is_hex = nonce.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it));
    if !is_hex || !NONCE.contains(&nonce.len()) {
        let why = "`nonce` has 32 to 128 lower-case hexadecimal digits";
        return Err(ApiError::bad_request("bad_nonce", why));
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let listens_on = app.address.to_string();
    let signature = app.identity.sign_challenge(&nonce, host, &listens_on);
    let public_key = app.identity.public_key().to_string();
    Ok(Json(IdentityProof { success: true, public_key, listens_on, signature }))
}
