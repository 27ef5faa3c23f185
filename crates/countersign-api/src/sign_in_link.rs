//! A fresh one-time link, for a browser that is not signed in yet.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A one-time sign-in link.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NewSignInLink {
    pub success: bool,
    /// What to open. It works once.
    #[schema(example = "http://127.0.0.1:4180/agent?token=46f2ef6b…")]
    pub url: String,
    /// After how many seconds it no longer works.
    pub expires_in_seconds: u64,
}
