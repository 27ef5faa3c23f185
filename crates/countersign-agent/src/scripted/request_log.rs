//! The requests that a scripted model got.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// Older ones are forgotten.
const MOST: usize = 1000;

/// And so are those that would take more room than this, in bytes of JSON.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The requests that a scripted model got, oldest first.
#[derive(Debug, Default)]
pub struct RequestLog {
    kept: Mutex<RequestBuffer>,
}

#[derive(Debug, Default)]
struct RequestBuffer {
    /// With the length of each.
    requests: VecDeque<(RecordedRequest, usize)>,
    bytes: usize,
}

/// A request that a scripted model got. Keys are not kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedRequest {
    /// When it came.
    pub at: Timestamp,
    /// What was asked for, such as `/v1/messages`.
    pub path: String,
    /// What it was answered with.
    pub status: u16,
    /// The place in the scenario that it led to, if it led to one.
    pub place: Option<String>,
    /// What it said; null if it was not JSON.
    pub body: Value,
}

impl RequestLog {
    /// Returns all requests, oldest first.
    pub fn all(&self) -> Vec<RecordedRequest> {
        self.lock().requests.iter().map(|(request, _)| request.clone()).collect()
    }

    /// Returns those that fit, oldest first.
    pub fn filter(&self, fits: impl Fn(&RecordedRequest) -> bool) -> Vec<RecordedRequest> {
        let kept = self.lock();
        kept.requests.iter().map(|(request, _)| request).filter(|it| fits(it)).cloned().collect()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.lock().requests.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the newest one.
    pub fn last(&self) -> Option<RecordedRequest> {
        self.lock().requests.back().map(|(request, _)| request.clone())
    }

    /// Keeps a request whose body has about this many bytes.
    pub(super) fn push(&self, request: RecordedRequest, bytes: usize) {
        let mut kept = self.lock();
        kept.requests.push_back((request, bytes));
        kept.bytes += bytes;
        // The newest one stays, however long it is.
        while kept.requests.len() > MOST || (kept.bytes > MOST_BYTES && kept.requests.len() > 1) {
            let forgotten = kept.requests.pop_front().map_or(0, |(_, bytes)| bytes);
            kept.bytes -= forgotten;
        }
    }

    fn lock(&self) -> MutexGuard<'_, RequestBuffer> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_old_is_forgotten() {
        let recorded = RequestLog::default();
        (0..MOST + 5).for_each(|n| recorded.push(numbered(n), 10));
        assert_eq!((recorded.len(), first(&recorded)), (MOST, "5".to_owned()));
        recorded.push(numbered(0), MOST_BYTES - 20);
        assert_eq!(recorded.len(), 3);
        recorded.push(numbered(1), MOST_BYTES + 1);
        assert_eq!((recorded.len(), first(&recorded)), (1, "1".to_owned()));
    }

    fn numbered(n: usize) -> RecordedRequest {
        let at = Timestamp::UNIX_EPOCH;
        RecordedRequest { at, path: n.to_string(), status: 200, place: None, body: Value::Null }
    }

    fn first(recorded: &RequestLog) -> String {
        recorded.all().into_iter().next().unwrap().path
    }
}
