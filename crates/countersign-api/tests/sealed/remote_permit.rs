//! A client's permit comes from a signal of its server, and not from the call alone.

use countersign_core::{RemotePermit, SignalledCall};

fn forge(call: SignalledCall) -> RemotePermit {
    RemotePermit::from_signal(call, Vec::new())
}

fn main() {}
