//! Membership: this process as one of the servers on a database, and its watch over the others.
//!
//! A server that writes is alive; one that has nothing to write signs all the same. Whoever has not
//! moved for a whole lease, by the watcher's own clock and while the database answered, is taken for
//! dead: it is fenced, so that nothing it writes counts any more, and what it drove is taken over.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use crate::clock::time_after;
use crate::gate::{Gate, GateInner};
use crate::store::{ServerHeartbeat, StoreError};

/// How long a server may be silent before it is taken for dead.
const LEASE: Duration = Duration::from_secs(10);

/// How often a server shows that it is alive, and looks at the others.
const BEAT: Duration = Duration::from_secs(2);

/// For how long after a write that held nobody can have taken over, with room for a slow look.
const SURE: Duration = Duration::from_secs(5);

impl Gate {
    /// Joins the servers on this database, under a new name each time.
    ///
    /// What an earlier server in the same place was driving is left behind by that.
    pub async fn join(&self) -> Result<(), StoreError> {
        let inner = self.inner();
        // In a file there is one server at a time: all others are dead.
        let in_file = "file".to_owned();
        let shared = inner.store.is_shared();
        let place = if shared { inner.membership.place_id().await? } else { in_file };
        let server = Uuid::now_v7().to_string();
        inner.store.join(&server, &place, inner.clock.now()).await?;
        inner.membership.changed.notify_waiters();
        Ok(())
    }

    /// Leaves, so that others can take over at once.
    pub async fn leave(&self) -> Result<(), StoreError> {
        self.inner().store.leave().await
    }

    /// Returns whether another server has taken over from this one: nothing it does counts until it
    /// joins again.
    pub fn is_fenced(&self) -> bool {
        self.inner().store.is_fenced()
    }

    /// Returns whether a server is at work on this database: looks for as long as one can be silent.
    pub async fn has_live_server(&self) -> Result<bool, StoreError> {
        let before = self.inner().store.other_servers().await?;
        if before.is_empty() {
            return Ok(false);
        }
        self.inner().clock.sleep(2 * BEAT).await;
        let now = self.inner().store.other_servers().await?;
        Ok(now.iter().any(|server| !before.contains(server)))
    }

    /// Returns when runs may have been left behind, or this server was fenced.
    pub async fn wait_for_membership_change(&self) {
        self.inner().membership.changed.notified().await;
    }

    /// Makes sure that no other server has taken over, as far as that can be known: right before
    /// something is done that cannot be taken back.
    pub async fn ensure_not_fenced(&self) -> Result<(), StoreError> {
        let inner = self.inner();
        if !inner.store.is_shared() || inner.store.server().is_none() {
            return Ok(());
        }
        // By both clocks: one may be set, the other stands still while the machine sleeps.
        let recently = |(at, running): (Timestamp, Duration)| {
            time_after(at, SURE) > inner.clock.now()
                && inner.clock.running_for().saturating_sub(running) < SURE
        };
        if inner.store.signed_at().is_some_and(recently) {
            return Ok(());
        }
        inner.store.write_heartbeat().await
    }

    /// Keeps showing that this server is alive, and watches the others, as long as the gate is there.
    ///
    /// Alone on a database there is nobody to show it to.
    pub fn spawn_membership_watch(&self) {
        if self.inner().store.is_shared() {
            tokio::spawn(watch_peers(Arc::downgrade(self.arc())));
        }
    }
}

async fn watch_peers(inner: Weak<GateInner>) {
    let mut watched = PeerWatch::default();
    loop {
        let Some(gate) = inner.upgrade().map(Gate::from_inner) else { return };
        let clock = gate.inner().clock.clone();
        if let Err(error) = watched.check_peers(&gate).await {
            // Who could not be asked may be alive: the time counts from when they are seen again.
            watched = PeerWatch::default();
            let told: &dyn std::error::Error = &error;
            tracing::warn!(error = told, "the other servers could not be watched");
            if matches!(error, StoreError::Fenced) {
                gate.inner().membership.changed.notify_waiters();
            }
        }
        drop(gate);
        clock.sleep(BEAT).await;
    }
}

/// The other servers, and since when each has not moved, by the clock that cannot be set.
#[derive(Default)]
struct PeerWatch {
    others: HashMap<String, (i64, Duration)>,
    /// When they were last seen.
    looked_at: Option<Duration>,
}

impl PeerWatch {
    async fn check_peers(&mut self, gate: &Gate) -> Result<(), StoreError> {
        let inner = gate.inner();
        inner.store.write_heartbeat().await?;
        let others = inner.store.other_servers().await?;
        let now = inner.clock.running_for();
        // After a gap of our own nobody knows what the others could have shown meanwhile.
        if self.looked_at.is_none_or(|last| now.saturating_sub(last) > LEASE / 2) {
            self.others.clear();
        }
        self.looked_at = Some(now);
        self.others.retain(|server, _| others.iter().any(|other| other.server == *server));
        for other in others {
            let seen = self.others.entry(other.server.clone()).or_insert((other.beat, now));
            if seen.0 != other.beat {
                *seen = (other.beat, now);
            } else if now.saturating_sub(seen.1) >= LEASE {
                self.fence_dead_peer(gate, other).await?;
            }
        }
        // Also those that left, or that somebody else fenced, may have left something behind.
        inner.membership.changed.notify_waiters();
        Ok(())
    }

    async fn fence_dead_peer(
        &mut self,
        gate: &Gate,
        dead: ServerHeartbeat,
    ) -> Result<(), StoreError> {
        let server = dead.server.clone();
        self.others.remove(&server);
        if gate.inner().store.fence(dead).await? {
            metrics::counter!("countersign_servers_fenced_total").increment(1);
            tracing::warn!(server, "a server does not move any more; what it drove is taken over");
        }
        Ok(())
    }
}
