//! Retention: a log that is not kept for good is forgotten from its old end.

use std::sync::Weak;
use std::time::Duration;

use jiff::Timestamp;

use crate::gate::{Gate, GateInner};
use crate::store::StoreError;

/// How often to look, and how long to rest between two sweeps that found something.
const LOOK: Duration = Duration::from_hours(1);
const REST: Duration = Duration::from_secs(1);

/// Forgets what is older than `period` until the gate is gone.
pub(crate) async fn enforce_retention(inner: Weak<GateInner>, period: Duration) {
    loop {
        let Some(gate) = inner.upgrade().map(Gate::from_inner) else { return };
        let clock = gate.inner().clock.clone();
        let before = clock.now().checked_sub(period).unwrap_or(Timestamp::MIN);
        let rest = match gate.inner().store.forget_entries(before).await {
            Ok(true) => REST,
            Ok(false) => LOOK,
            Err(error) => {
                let error: &dyn std::error::Error = &error as &StoreError;
                tracing::warn!(error, "old entries of the log could not be forgotten");
                LOOK
            }
        };
        drop(gate);
        clock.sleep(rest).await;
    }
}
