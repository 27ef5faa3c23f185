//! The task that writes to the CLI, one line after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Where lines to the CLI are handed in. The order is kept; nobody waits.
#[derive(Clone)]
pub(crate) struct CliWriter {
    orders: mpsc::UnboundedSender<WriterCommand>,
    closed: Arc<AtomicBool>,
}

enum WriterCommand {
    Line(String),
    Close,
}

impl CliWriter {
    /// Starts the task that writes.
    pub(super) fn start(input: Box<dyn AsyncWrite + Send + Unpin>) -> (Self, JoinHandle<()>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let outgoing = Self { orders: sender, closed: Arc::default() };
        (outgoing, tokio::spawn(write(input, receiver)))
    }

    /// Sends a line. To a CLI that is gone it goes nowhere; the reader tells everyone of that.
    pub(crate) fn send(&self, line: &Value) {
        let mut line = line.to_string();
        line.push('\n');
        let _ = self.orders.send(WriterCommand::Line(line));
    }

    /// Closes the CLI's input once all lines before are written.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let _ = self.orders.send(WriterCommand::Close);
    }

    /// Whether the input is closed, or will be before another line could be written.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

async fn write(
    mut input: Box<dyn AsyncWrite + Send + Unpin>,
    mut orders: mpsc::UnboundedReceiver<WriterCommand>,
) {
    while let Some(WriterCommand::Line(line)) = orders.recv().await {
        let written = async {
            input.write_all(line.as_bytes()).await?;
            if orders.is_empty() { input.flush().await } else { Ok(()) }
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "the CLI no longer reads");
            break;
        }
    }
    let _ = input.shutdown().await;
}
