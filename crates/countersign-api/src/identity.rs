//! The server proves who it is, to whoever asks and before any credential is sent.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A client's challenge.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"nonce": "4f1c0a9e6b7d2835c0e4a1f89d3b5c6e7f80912a3b4c5d6e7f8091a2b3c4d5e6"}))]
pub struct IdentityChallenge {
    /// Random hexadecimal digits that nobody has used before.
    #[schema(min_length = 32, max_length = 128, pattern = "^[0-9a-f]+$")]
    pub nonce: String,
}

/// The server's proof.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IdentityProof {
    pub success: bool,
    /// The public half of the key: `ed25519:` and 64 hexadecimal digits.
    pub public_key: String,
    /// The address that the server listens on.
    pub listens_on: String,
    /// The Ed25519 signature, as hexadecimal digits, of four lines without an end of line after the
    /// last: `countersign server identity v1`, the nonce, the request's `Host`, and `listens_on`.
    pub signature: String,
}
