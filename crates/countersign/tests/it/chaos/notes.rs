//! Notes: what clients saw, kept outside of what is tested.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::load::Talk;

/// What everybody writes down.
#[derive(Default)]
pub(super) struct Notes(Mutex<Noted>);

#[derive(Default)]
pub(super) struct Noted {
    /// What must not be.
    pub(super) wrong: Vec<String>,
    pub(super) kills: usize,
    pub(super) pauses: usize,
    pub(super) bus: usize,
    /// How often clients had to come back.
    pub(super) reconnects: usize,
    /// How often a decision came after somebody else's.
    pub(super) too_late: usize,
    /// Every conversation that was begun.
    pub(super) held: Vec<Held>,
    /// What clients read while servers came and went.
    pub(super) readings: Vec<Reading>,
}

/// A conversation that was held.
pub(super) struct Held {
    pub(super) talk: Talk,
    /// The message that ended it; none if it never came.
    pub(super) result: Option<Value>,
    /// What the model was sent, each time.
    pub(super) requests: Vec<Vec<Value>>,
}

impl Notes {
    pub(super) fn wrong(&self, what: String) {
        self.lock().wrong.push(what);
    }

    pub(super) fn begin(&self, talk: Talk) {
        self.lock().held.push(Held { talk, result: None, requests: Vec::new() });
    }

    pub(super) fn end(&self, name: &str, result: Value, requests: Vec<Vec<Value>>) {
        if let Some(held) = self.lock().held.iter_mut().find(|held| held.talk.name == name) {
            held.result = Some(result);
            held.requests = requests;
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one client read of the log, over all its connections.
#[derive(Default)]
pub(super) struct Reading {
    /// The client.
    pub(super) of: String,
    /// The conversation it reads; all if none.
    pub(super) session: Option<String>,
    /// The number after which it resumes.
    pub(super) last: u64,
    /// What stood at each number. Requests are not kept: one that still waits is sent anew on every
    /// connection, without its number, and then not again with it.
    pub(super) entries: BTreeMap<u64, Value>,
}

impl Reading {
    pub(super) fn new(of: impl Into<String>, session: Option<&str>) -> Self {
        Self { of: of.into(), session: session.map(str::to_owned), ..Self::default() }
    }

    /// Takes a message; one that comes twice or after a later one is wrong.
    pub(super) fn take(&mut self, message: &Value, notes: &Notes) {
        let Some(seq) = message["seq"].as_u64() else { return };
        if seq <= self.last {
            notes.wrong(format!("{} got {seq} after {}: {message}", self.of, self.last));
        }
        self.last = self.last.max(seq);
        if message["type"] != "tool_approval_request" && self.is_of(message) {
            self.entries.insert(seq, message.clone());
        }
    }

    /// Returns whether this client is told of what stands in a message.
    pub(super) fn is_of(&self, message: &Value) -> bool {
        self.session.as_ref().is_none_or(|session| message["session_id"] == session.as_str())
    }
}
