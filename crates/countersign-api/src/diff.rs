//! The rest of a diff that is too long to go with its request.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Some lines of a diff.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DiffPage {
    pub success: bool,
    pub lines: Vec<String>,
    /// How many lines the whole diff has.
    pub total: usize,
    /// Where the next stretch begins; none after the last.
    #[schema(required)]
    pub next: Option<usize>,
}
