//! What asynchronous work runs on.

use tokio::runtime::{Builder, Runtime};

/// Returns a runtime with a thread per processor.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    Ok(Builder::new_multi_thread().enable_all().build()?)
}

/// Returns one with a single thread: enough to wait for one answer, and sooner there.
pub(crate) fn small_runtime() -> anyhow::Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}
