//! A copy of the transcript in a store of the caller's, written before the result it leads to.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout};

/// How many entries, and how many bytes of them, are gathered before they are written anyway.
const BATCH_ENTRIES: usize = 500;
const BATCH_BYTES: usize = 1024 * 1024;

/// How long one write may take.
const WRITE_TIMEOUT: Duration = Duration::from_mins(1);

/// How long to wait before the second and the third attempt.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// Where transcripts are copied to.
pub trait TranscriptStore: Send + Sync + 'static {
    /// Appends entries of one transcript file, in order.
    ///
    /// A failure is tried again twice, a timeout is not: what was written then is unknown.
    fn append(&self, batch: TranscriptBatch) -> BoxFuture<'_, Result<(), String>>;
}

/// Entries that go to one transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptBatch {
    /// The file the CLI itself keeps them in: session and subagents each have one.
    pub file_path: String,
    /// The entries.
    pub entries: Vec<Value>,
}

/// Entries that wait to be written.
pub(crate) struct TranscriptMirror {
    store: Arc<dyn TranscriptStore>,
    waiting: Vec<TranscriptBatch>,
    entries: usize,
    bytes: usize,
}

impl TranscriptMirror {
    pub(crate) fn new(store: Arc<dyn TranscriptStore>) -> Self {
        Self { store, waiting: Vec::new(), entries: 0, bytes: 0 }
    }

    /// Takes entries in; returns why some were lost, if the batch was full and had to be written.
    pub(crate) async fn add(&mut self, batch: TranscriptBatch, bytes: usize) -> Vec<MirrorLoss> {
        self.entries += batch.entries.len();
        self.bytes += bytes;
        match self.waiting.last_mut().filter(|last| last.file_path == batch.file_path) {
            Some(last) => last.entries.extend(batch.entries),
            None => self.waiting.push(batch),
        }
        if self.entries >= BATCH_ENTRIES || self.bytes >= BATCH_BYTES {
            return self.flush().await;
        }
        Vec::new()
    }

    /// Writes all that waits; what cannot be written is lost, and said so.
    pub(crate) async fn flush(&mut self) -> Vec<MirrorLoss> {
        (self.entries, self.bytes) = (0, 0);
        let mut losses = Vec::new();
        for batch in std::mem::take(&mut self.waiting) {
            let (file_path, entries) = (batch.file_path.clone(), batch.entries.len());
            if let Err(reason) = self.write(batch).await {
                losses.push(MirrorLoss { file_path, entries, reason });
            }
        }
        losses
    }

    async fn write(&self, batch: TranscriptBatch) -> Result<(), String> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let Ok(written) = timeout(WRITE_TIMEOUT, self.store.append(batch.clone())).await else {
                return Err(format!("not written within {} s", WRITE_TIMEOUT.as_secs()));
            };
            match (written, pauses.next()) {
                (Ok(()), _) => return Ok(()),
                (Err(_), Some(pause)) => sleep_until(Instant::now() + pause).await,
                (Err(reason), None) => return Err(reason),
            }
        }
    }
}

/// Entries the store did not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MirrorLoss {
    pub(crate) file_path: String,
    pub(crate) entries: usize,
    pub(crate) reason: String,
}

impl MirrorLoss {
    /// Returns the message that tells the caller of it, in the form the official SDKs give it.
    pub(crate) fn to_line(&self) -> String {
        serde_json::json!({
            "type": "system",
            "subtype": "mirror_error",
            "error": self.reason,
            "key": { "file_path": self.file_path },
            "entries": self.entries,
        })
        .to_string()
    }
}
