//! Tokens that say where a value comes from. `countersign-core` gives leave to run a call only for one
//! of them.
//!
//! Anybody who can name this crate can make a token, so the dependency edge is the right to make one.
//! `[workspace.metadata.house.may-use]` lists who has it, a test keeps that list, and nobody re-exports
//! what is here.

/// A value that a transaction has written: its commit is durable.
#[derive(Debug)]
pub struct CommittedWrite<T>(T);

impl<T> CommittedWrite<T> {
    /// Marks what a write returned. To be called where the commit is known to be durable, and only there.
    pub fn after_commit(value: T) -> Self {
        Self(value)
    }

    /// Returns the value.
    pub fn get(&self) -> &T {
        &self.0
    }

    /// Returns the value for good.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// A value that the server sent to the client which runs its calls.
#[derive(Debug)]
pub struct ServerSignal<T>(T);

impl<T> ServerSignal<T> {
    /// Marks what arrived on the client's own connection to its server.
    pub fn from_connection(value: T) -> Self {
        Self(value)
    }

    /// Returns the value for good.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// The right of the gate to make executions, to read them from its store and to change their state.
#[derive(Clone, Copy, Debug)]
pub struct GateToken(());

impl GateToken {
    /// Returns the token of the gate.
    pub const fn for_gate() -> Self {
        Self(())
    }
}
