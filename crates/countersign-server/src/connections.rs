//! Connections: how many may be open, how long one may keep us waiting, and which one gives way.
//!
//! Whoever can reach the port can open connections, with or without a credential. So those that only
//! wait for a request are few, and are closed when one takes too long or a new one needs the place.
//! Event streams, sockets and calls that wait for a person do not count: each showed a credential.

mod accept_loop;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

pub(crate) use self::accept_loop::serve_connections;

/// What connections may cost the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// How long the head of a request may take to come. A connection that is kept open for the next
    /// request is closed after the same time.
    pub head_patience: Duration,
    /// How many connections one address may have, event streams and the like not counted.
    pub per_address: usize,
    /// How many there may be in all, counted in the same way.
    pub in_all: usize,
    /// How long a connection may wait for its next request before a new one may take its place.
    pub undisturbed: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            head_patience: Duration::from_secs(10),
            per_address: 256,
            // Half of the 1,024 files that a process may usually have open.
            in_all: 512,
            undisturbed: Duration::from_millis(250),
        }
    }
}

/// The connections that count.
pub(crate) struct ConnectionTable {
    limits: ConnectionLimits,
    state: Mutex<ConnectionTableState>,
    freed: Notify,
}

#[derive(Default)]
struct ConnectionTableState {
    last_number: u64,
    counted: HashMap<u64, CountedConnection>,
}

struct CountedConnection {
    address: IpAddr,
    /// Since when it waits for a request, or for its answer to be read; none while one is answered.
    quiet_since: Option<Instant>,
    closing: CancellationToken,
}

/// What becomes of a new connection.
enum ConnectionAdmission {
    Admitted(HttpConnection),
    /// Another one may have to give way at that moment.
    NotBefore(Instant),
    /// All the others are being answered.
    Refused,
}

/// An open connection. Dropping it frees its place.
pub(crate) struct HttpConnection {
    table: Arc<ConnectionTable>,
    number: u64,
    address: IpAddr,
    closing: CancellationToken,
}

impl ConnectionTable {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, state: Mutex::default(), freed: Notify::new() })
    }

    /// Finds a place for a new connection, or none if there is none and no other can give way.
    ///
    /// One that has only just come is left the time to say what it wants, so this may take a moment.
    async fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<HttpConnection> {
        let address = counted_address(peer);
        loop {
            match self.try_to_admit(address, Instant::now()) {
                ConnectionAdmission::Admitted(connection) => return Some(connection),
                ConnectionAdmission::NotBefore(moment) => {
                    let _ = timeout_at(moment, self.freed.notified()).await;
                }
                ConnectionAdmission::Refused => return None,
            }
        }
    }

    fn try_to_admit(self: &Arc<Self>, address: IpAddr, now: Instant) -> ConnectionAdmission {
        let mut state = self.lock();
        let of_address = state.counted.values().filter(|it| it.address == address).count();
        let is_own_fault = of_address >= self.limits.per_address;
        if is_own_fault || state.counted.len() >= self.limits.in_all {
            let rivals = state.counted.iter();
            let rivals = rivals.filter(|(_, it)| !is_own_fault || it.address == address);
            let quiet = rivals.filter_map(|(number, it)| Some((it.quiet_since?, *number)));
            let Some((since, number)) = quiet.min() else { return ConnectionAdmission::Refused };
            let moment = since + self.limits.undisturbed;
            if now < moment {
                return ConnectionAdmission::NotBefore(moment);
            }
            if let Some(oldest) = state.counted.remove(&number) {
                oldest.closing.cancel();
                metrics::counter!("countersign_connections_displaced_total").increment(1);
            }
        }
        state.last_number += 1;
        let (number, closing) = (state.last_number, CancellationToken::new());
        let counted =
            CountedConnection { address, quiet_since: Some(now), closing: closing.clone() };
        state.counted.insert(number, counted);
        ConnectionAdmission::Admitted(HttpConnection {
            table: self.clone(),
            number,
            address,
            closing,
        })
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionTableState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpConnection {
    /// Notes that a request has come: nobody takes this place while it is answered.
    fn begin_request(&self) {
        if let Some(counted) = self.table.lock().counted.get_mut(&self.number) {
            counted.quiet_since = None;
        }
    }

    /// Notes that the answer to a request goes out, and that the connection then waits for the next.
    fn finish_request(&self) {
        let (address, closing) = (self.address, self.closing.clone());
        let quiet = CountedConnection { address, quiet_since: Some(Instant::now()), closing };
        self.table.lock().counted.insert(self.number, quiet);
    }

    /// Stops counting a connection whose request has shown a credential and lasts, until it is answered.
    pub(crate) fn set_aside(&self) {
        self.table.lock().counted.remove(&self.number);
        self.table.freed.notify_one();
    }
}

impl Drop for HttpConnection {
    fn drop(&mut self) {
        self.set_aside();
    }
}

/// Returns what an address is counted as: of IPv6 the network, within which anybody has all addresses.
fn counted_address(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests;
