//! Work that may block, off the runtime.

use crate::store::StoreError;

/// Opens something where that may block.
pub(crate) async fn run_blocking<T: Send + 'static>(
    open: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(open).await.map_err(|_| StoreError::Closed)?
}
