//! Answers in time: whoever asks is told something also while the database says nothing, or while a
//! call takes long to judge.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use countersign_core::{CallPlan, InvalidCall, Planner, Preview, ToolCall};
use tokio::time::timeout;
use tracing::Instrument;

use crate::error::ApiError;

/// How long a client waits for a change. A bit more than the store tries to begin with it, so that
/// what did not happen is said to have not happened.
const PATIENCE: Duration = Duration::from_secs(12);

/// Makes a change and returns what came of it, or after a while that this is not known yet.
///
/// The change is made on a task of its own: once begun with it comes to its end, and wakes who waits
/// for it, whether or not somebody is still there to be told.
pub(crate) async fn with_deadline<T, E>(
    change: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    finish_within(PATIENCE, change).await.unwrap_or_else(|| Err(database_is_silent()))
}

/// The same for a change that judges a call first: what takes too long is named.
pub(crate) async fn judge_with_deadline<T, E, F>(
    planner: Arc<dyn Planner>,
    change: impl FnOnce(Arc<dyn Planner>) -> F,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
    F: Future<Output = Result<T, E>> + Send + 'static,
{
    judge_within(PATIENCE, planner, change).await
}

async fn judge_within<T, E, F>(
    patience: Duration,
    planner: Arc<dyn Planner>,
    change: impl FnOnce(Arc<dyn Planner>) -> F,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
    F: Future<Output = Result<T, E>> + Send + 'static,
{
    let at_work = Arc::new(AtomicUsize::new(0));
    let watched = WatchedPlanner { planner, at_work: at_work.clone() };
    let made = finish_within(patience, change(Arc::new(watched))).await;
    made.unwrap_or_else(|| match at_work.load(Ordering::Relaxed) {
        0 => Err(database_is_silent()),
        _ => Err(judging_is_slow()),
    })
}

/// Returns what came of a change, or none if that is not known yet.
async fn finish_within<T, E>(
    patience: Duration,
    change: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Option<Result<T, ApiError>>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    match timeout(patience, tokio::spawn(change.in_current_span())).await.ok()? {
        Ok(made) => Some(made.map_err(Into::into)),
        Err(error) => {
            tracing::error!(%error, "a change broke off");
            Some(Err(ApiError::internal(
                "broken",
                "the server failed internally; its log says why",
            )))
        }
    }
}

fn database_is_silent() -> ApiError {
    ApiError {
        hint: Some("check that the database is running, then look again"),
        ..ApiError::unavailable(
            "store",
            "the database does not answer; whether the change was recorded shows once it does",
        )
    }
}

fn judging_is_slow() -> ApiError {
    ApiError {
        hint: Some("look again in a while, or make the call smaller"),
        ..ApiError::unavailable(
            "judging",
            "it takes too long to find out what the call would do; it is recorded once that is known, \
             and does not run before",
        )
    }
}

/// A planner of which it is known whether it is at work.
struct WatchedPlanner {
    planner: Arc<dyn Planner>,
    at_work: Arc<AtomicUsize>,
}

/// Counts as work until it is dropped, however that comes.
struct PlannerWork<'a>(&'a AtomicUsize);

impl WatchedPlanner {
    fn begin_work(&self) -> PlannerWork<'_> {
        self.at_work.fetch_add(1, Ordering::Relaxed);
        PlannerWork(&self.at_work)
    }
}

impl Drop for PlannerWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Planner for WatchedPlanner {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let _work = self.begin_work();
        self.planner.plan(call)
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        let _work = self.begin_work();
        self.planner.preview(call)
    }
}

#[cfg(test)]
mod tests;
