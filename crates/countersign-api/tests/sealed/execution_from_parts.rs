//! What an execution was taken apart into makes no execution again without the token of the gate.

use countersign_core::{Execution, ExecutionParts};

fn forge(parts: ExecutionParts) -> Execution {
    Execution::from_row(parts, ())
}

fn main() {}
