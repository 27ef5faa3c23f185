//! A start becomes a permit after its commit, and only the gate can say that there was one.

use countersign_core::{Permit, StartedExecution};

fn forge(started: StartedExecution) -> Permit {
    Permit::from_committed(countersign_seal::CommittedWrite::after_commit(started))
}

fn main() {}
