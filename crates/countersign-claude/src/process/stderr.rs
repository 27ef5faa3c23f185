//! The end of what the CLI wrote to its error output, for the errors that need it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::options::StderrCallback;
use crate::transport::{OutputLine, OutputLineReader};

/// How much is kept.
const KEPT: usize = 8 * 1024;

/// The longest line that is handed on.
const LINE_LIMIT: usize = 256 * 1024;

/// How long the last words are waited for once the process is gone.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The end of what a process wrote to its error output.
#[derive(Clone, Debug)]
pub struct StderrTail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    over: watch::Receiver<bool>,
}

impl StderrTail {
    /// Returns the tail of a peer that has no error output.
    pub fn empty() -> Self {
        Self { kept: Arc::default(), over: watch::channel(true).1 }
    }

    /// Reads an error output to its end, in a task of its own.
    pub(crate) fn spawn_reader<R>(output: R, each: Option<StderrCallback>) -> Self
    where
        R: AsyncRead + Unpin + Send + 'static,
    {
        let (over, is_over) = watch::channel(false);
        let tail = Self { kept: Arc::default(), over: is_over };
        let kept = tail.clone();
        tokio::spawn(async move {
            let mut lines = OutputLineReader::new(output, LINE_LIMIT);
            while let Ok(Some(line)) = lines.next().await {
                let text = match line {
                    OutputLine::Text(text) => text,
                    OutputLine::Oversize { bytes } => format!("[a line of {bytes} bytes]"),
                    OutputLine::NotText { bytes } => format!("[{bytes} bytes that are not text]"),
                };
                kept.keep(&text);
                // A caller's function that panics must not stop the reading: the pipe would fill.
                if let Some(StderrCallback(each)) = &each
                    && catch_unwind(AssertUnwindSafe(|| each(&text))).is_err()
                {
                    tracing::warn!("the function given for stderr lines panicked");
                }
            }
            over.send_replace(true);
        });
        tail
    }

    fn keep(&self, line: &str) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(line.as_bytes());
        kept.push_back(b'\n');
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }

    /// Returns what there is so far.
    pub fn text(&self) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).trim().to_owned()
    }

    /// Returns it once the output has ended, or a moment has passed: a grandchild may hold it open.
    pub(crate) async fn text_after_exit(&mut self) -> String {
        let _ = timeout(LAST_WORDS, self.over.wait_for(|over| *over)).await;
        self.text()
    }
}
