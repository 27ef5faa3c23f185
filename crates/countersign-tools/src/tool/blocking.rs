//! Work that blocks, kept off the runtime.

use tokio_util::sync::CancellationToken;

use crate::tool_error::ToolError;

/// Runs blocking work on a thread of its own.
///
/// The token the work looks at is cancelled by `cancel`, and also when the caller goes away.
pub(crate) async fn blocking<T, W>(cancel: &CancellationToken, work: W) -> Result<T, ToolError>
where
    T: Send + 'static,
    W: FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
{
    let token = cancel.child_token();
    let _cancels_when_dropped = token.clone().drop_guard();
    if token.is_cancelled() {
        return Err(ToolError::Interrupted);
    }
    match tokio::task::spawn_blocking(move || work(&token)).await {
        Ok(result) => result,
        Err(error) => {
            tracing::error!(%error, "a tool panicked");
            Err(ToolError::Broken)
        }
    }
}
