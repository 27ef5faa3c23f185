//! Answers in time: whoever asks is told something also while the database says nothing.

use std::future::Future;
use std::time::Duration;

use tokio::time::timeout;

use crate::error::ApiError;

/// How long a client waits for a change. A bit more than the store tries to begin with it, so that
/// what did not happen is said to have not happened.
const PATIENCE: Duration = Duration::from_secs(12);

/// Makes a change and returns what came of it, or after a while that this is not known yet.
///
/// The change is made on a task of its own: once begun with it comes to its end, and wakes who waits
/// for it, whether or not somebody is still there to be told.
pub(crate) async fn in_time<T, E>(
    change: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    match timeout(PATIENCE, tokio::spawn(change)).await {
        Ok(Ok(made)) => made.map_err(Into::into),
        Ok(Err(error)) => {
            tracing::error!(%error, "a change broke off");
            Err(ApiError::internal("broken", "something went wrong inside the server"))
        }
        Err(_) => Err(ApiError {
            hint: Some("see that the database is running, then look again"),
            ..ApiError::unavailable(
                "store",
                "the database does not answer; whether this counts is seen when it does",
            )
        }),
    }
}
