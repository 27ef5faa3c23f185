//! Sessions that are started before they are needed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use crate::client::ClaudeClient;
use crate::error::ConnectError;
use crate::options::Options;
use crate::transport::{SubprocessTransport, Transport};

/// How many sessions are kept ready, and for how long. An idle one takes some 250 MB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmLimits {
    /// How many are kept ready.
    pub ready: usize,
    /// How long one may wait before it is closed.
    pub idle: Duration,
    /// How many there may be in all, ready or in use; who wants one more waits.
    pub live: usize,
}

impl Default for WarmLimits {
    fn default() -> Self {
        Self { ready: 1, idle: Duration::from_mins(5), live: 8 }
    }
}

/// Sessions with the same options, started before they are needed.
///
/// Starting a CLI takes most of a second; one from the pool answers at once. Each is used by one
/// caller only and ends with it, so no conversation leaks into another. Its place is free again
/// once its CLI is gone.
#[derive(Clone)]
pub struct WarmPool(Arc<WarmPoolInner>);

struct WarmPoolInner {
    options: Options,
    transport: Box<dyn Transport>,
    limits: WarmLimits,
    places: Arc<Semaphore>,
    state: Mutex<WarmPoolState>,
}

#[derive(Default)]
struct WarmPoolState {
    ready: VecDeque<WarmSession>,
    starting: usize,
    /// Whether one was taken since the last one waited in vain.
    wanted: bool,
    next: u64,
}

struct WarmSession {
    number: u64,
    client: ClaudeClient,
}

impl WarmPool {
    /// Makes a pool and begins to fill it.
    pub fn new(options: Options, limits: WarmLimits) -> Self {
        Self::with_transport(SubprocessTransport, options, limits)
    }

    /// Makes a pool of sessions that are started by other means.
    pub fn with_transport(transport: impl Transport, options: Options, limits: WarmLimits) -> Self {
        let pool = Self(Arc::new(WarmPoolInner {
            options,
            transport: Box::new(transport),
            limits,
            places: Arc::new(Semaphore::new(limits.live)),
            state: Mutex::default(),
        }));
        pool.0.refill();
        pool
    }

    /// Takes a session: a ready one, or a new one if there is none.
    pub async fn take(&self) -> Result<ClaudeClient, ConnectError> {
        let ready = self.0.take_ready();
        let client = match ready {
            Some(client) => client,
            None => self.0.start(self.0.acquire_slot().await).await?,
        };
        self.0.refill();
        Ok(client)
    }

    /// Returns how many are ready.
    pub fn ready_count(&self) -> usize {
        self.0.state().ready.len()
    }
}

impl WarmPoolInner {
    fn take_ready(&self) -> Option<ClaudeClient> {
        let mut state = self.state();
        state.wanted = true;
        while let Some(WarmSession { client, .. }) = state.ready.pop_front() {
            // One that died while it waited is of no use.
            if client.end_reason().is_none() {
                return Some(client);
            }
        }
        None
    }

    async fn acquire_slot(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().acquire_owned().await.ok()
    }

    async fn start(
        self: &Arc<Self>,
        place: Option<OwnedSemaphorePermit>,
    ) -> Result<ClaudeClient, ConnectError> {
        let client =
            ClaudeClient::connect_with_transport(&*self.transport, self.options.clone()).await?;
        let (gone, pool) = (client.wait_until_exited(), Arc::downgrade(self));
        tokio::spawn(async move {
            gone.await;
            drop(place);
            if let Some(pool) = pool.upgrade().filter(|pool| pool.state().wanted) {
                pool.refill();
            }
        });
        Ok(client)
    }

    /// Starts what is missing, as far as there is room.
    fn refill(self: &Arc<Self>) {
        loop {
            let mut state = self.state();
            if state.ready.len() + state.starting >= self.limits.ready {
                return;
            }
            let Ok(place) = self.places.clone().try_acquire_owned() else { return };
            state.starting += 1;
            drop(state);
            let inner = self.clone();
            tokio::spawn(async move {
                let started = inner.start(Some(place)).await;
                let mut state = inner.state();
                state.starting -= 1;
                match started {
                    Ok(client) => {
                        let number = state.next;
                        state.next += 1;
                        state.ready.push_back(WarmSession { number, client });
                        drop(state);
                        tokio::spawn(expire(Arc::downgrade(&inner), number, inner.limits.idle));
                    }
                    // Whoever takes one next starts it itself, and learns why that fails.
                    Err(error) => tracing::warn!(%error, "no session could be started ahead"),
                }
            });
        }
    }

    fn state(&self) -> MutexGuard<'_, WarmPoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a session that has waited too long. It is not replaced: nobody seems to want one.
async fn expire(pool: Weak<WarmPoolInner>, number: u64, idle: Duration) {
    sleep_until(Instant::now() + idle).await;
    let Some(pool) = pool.upgrade() else { return };
    let expired = {
        let mut state = pool.state();
        let place = state.ready.iter().position(|ready| ready.number == number);
        let expired = place.and_then(|place| state.ready.remove(place));
        state.wanted &= expired.is_none();
        expired
    };
    drop(expired);
}
