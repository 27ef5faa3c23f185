//! Deadlines: requests that nobody decided in time are settled as timed out.
//!
//! One task for all of them, woken when a request with a deadline is made. It only tidies up: a late
//! decision is refused by the transition itself, whether or not this task was there first.

use std::sync::Weak;
use std::time::Duration;

use crate::clock::time_after;
use crate::gate::{Gate, GateInner};

/// How long to rest after the store failed.
const REST: Duration = Duration::from_secs(1);

/// How often to look where there are other servers.
const LOOK: Duration = Duration::from_secs(5);

/// Settles what is due until the gate is gone.
pub(crate) async fn enforce_deadlines(inner: Weak<GateInner>) {
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
                Some(time_after(clock.now(), REST))
            }
        };
        // Of what is asked for at other servers nobody tells: a look now and then finds it.
        let next = if gate.inner().store.is_shared() {
            let latest = time_after(clock.now(), LOOK);
            Some(next.map_or(latest, |next| next.min(latest)))
        } else {
            next
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
    let (due, next) = gate.inner().store.find_due(now).await?;
    if !due.is_empty() {
        for (prior, expired) in gate.inner().store.expire(due, now).await? {
            gate.log_step(prior, &expired);
            gate.wake_waiters(expired.id());
        }
    }
    Ok(next)
}
