//! The tests of the wire contract, in one binary.

mod sealed;
