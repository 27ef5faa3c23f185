//! Patience: what must be recorded is tried until the database is there again.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::gate_error::TransientError;

/// How long to rest between two tries.
const REST: Duration = Duration::from_secs(1);

/// Does something that must not be given up because the database is away, or its disk full, for now:
/// again and again until it succeeds, or fails for a reason that does not pass.
///
/// `what` says in the log what has to wait. When `unless` is done it is given up between two tries,
/// never in the middle of one.
pub async fn retry_until_available<T, E, F>(
    clock: &Arc<dyn Clock>,
    what: &'static str,
    unless: impl Future<Output = ()>,
    try_it: impl Fn() -> F,
) -> Result<T, E>
where
    E: TransientError,
    F: Future<Output = Result<T, E>>,
{
    tokio::pin!(unless);
    let mut waits = false;
    loop {
        let error = match try_it().await {
            Err(error) if error.is_transient() => error,
            done => {
                if waits && done.is_ok() {
                    tracing::info!(what, "the database is usable again; this goes on");
                }
                return done;
            }
        };
        if !waits {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, what, "the database is not usable now; this waits for it");
        }
        waits = true;
        tokio::select! {
            () = clock.sleep(REST) => {}
            () = &mut unless => return Err(error),
        }
    }
}
