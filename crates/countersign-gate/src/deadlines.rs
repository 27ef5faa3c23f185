//! Deadlines: requests that nobody decided in time are settled as timed out.
//!
//! One task for all of them, woken when a request with a deadline is made. It only tidies up: a late
//! decision is refused by the transition itself, whether or not this task was there first.

use std::sync::Weak;
use std::time::Duration;

use countersign_core::Approval;

use crate::clock::after;
use crate::gate::{Gate, Inner};

/// How long to rest after the store failed.
const REST: Duration = Duration::from_secs(1);

/// Settles what is due until the gate is gone.
pub(crate) async fn keep(inner: Weak<Inner>) {
    loop {
        let Some(gate) = inner.upgrade().map(Gate::from_inner) else { return };
        let asked = gate.inner().asked.clone();
        let clock = gate.inner().clock.clone();
        // Taken before looking, so that a request made meanwhile wakes us.
        let woken = asked.notified();
        let next = match settle_due(&gate).await {
            Ok(next) => next,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "deadlines not kept");
                Some(after(clock.now(), REST))
            }
        };
        drop(gate);
        match next {
            Some(at) => {
                tokio::select! { () = clock.sleep_until(at) => {}, () = woken => {} }
            }
            None => woken.await,
        }
    }
}

async fn settle_due(gate: &Gate) -> Result<Option<jiff::Timestamp>, crate::StoreError> {
    let now = gate.inner().clock.now();
    let (due, next) = gate.inner().store.due(now).await?;
    for id in due {
        // One that was decided meanwhile is no longer ours to settle.
        let _ = gate.transition(id, move |approval: Approval| approval.expire(now)).await?;
    }
    Ok(next)
}
