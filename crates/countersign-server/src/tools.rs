//! Tools over REST: which there are, what was done with them, and calls that are run elsewhere.

pub(crate) mod available;
mod call_backups;
pub(crate) mod calls;
pub(crate) mod executions;
pub(crate) mod lease;
pub(crate) mod preimage;
pub(crate) mod result;

use countersign_core::Execution;

use crate::app::App;
use crate::error::ApiError;
use crate::path_params::{execution_id, unknown_execution};
use crate::project_registry::ProjectHandle;

/// Returns a call of a project.
async fn find_execution(
    app: &App,
    (project, _): &ProjectHandle,
    tool: &str,
) -> Result<Execution, ApiError> {
    let found = app.gate.store().execution(&project.id, execution_id(tool)?).await?;
    found.ok_or_else(|| unknown_execution(tool))
}
