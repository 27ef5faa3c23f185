//! `POST /identity`: the server proves who it is, to whoever asks and before any credential is sent.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::error_responses::WriteErrorResponses;

/// How long a challenge may be.
const NONCE: std::ops::RangeInclusive<usize> = 32..=128;

/// A client's challenge.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"nonce": "4f1c0a9e6b7d2835c0e4a1f89d3b5c6e7f80912a3b4c5d6e7f8091a2b3c4d5e6"}))]
pub(crate) struct IdentityChallenge {
    /// Random hexadecimal digits that nobody has used before.
    #[schema(min_length = 32, max_length = 128, pattern = "^[0-9a-f]+$")]
    nonce: String,
}

/// The server's proof.
#[derive(Serialize, ToSchema)]
pub(crate) struct IdentityProof {
    success: bool,
    /// The public half of the key: `ed25519:` and 64 hexadecimal digits.
    public_key: String,
    /// The address that the server listens on.
    listens_on: String,
    /// The Ed25519 signature, as hexadecimal digits, of four lines without an end of line after the
    /// last: `countersign server identity v1`, the nonce, the request's `Host`, and `listens_on`.
    signature: String,
}

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
