//! The task that sees the CLI end: by itself, or step by step once nobody wants it any more.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{InFlightRequest, SharedSession};
use crate::process::ProcessExit;
use crate::transport::CliPeer;

/// Starts the task; the exit appears in what it returns.
pub(super) fn spawn_shutdown_task(
    peer: Box<dyn CliPeer>,
    shared: &Arc<SharedSession>,
    grace: Duration,
    writer: JoinHandle<()>,
) -> watch::Receiver<Option<ProcessExit>> {
    let (sender, receiver) = watch::channel(None);
    let shared = shared.clone();
    tokio::spawn(async move {
        let mut peer = peer;
        let exit = tokio::select! {
            exit = peer.wait_for_exit() => exit,
            () = shared.stop.cancelled() => {
                let hears = shared.request_shutdown();
                stop_cli(peer.as_mut(), grace, hears).await
            }
        };
        // It may be stuck in a write that nobody will ever read.
        writer.abort();
        sender.send_replace(Some(exit));
    });
    receiver
}

impl SharedSession {
    /// Stops what the model does, so that it costs no more, and closes the CLI's input. Returns
    /// whether the CLI will go by itself: one at work whose input was closed before hears nothing.
    fn request_shutdown(&self) -> bool {
        let busy = self.run.borrow().is_busy();
        // Nobody waits for the receipt.
        let told = busy
            && self.send_request("interrupt", Map::new()).map(InFlightRequest::abandon).is_ok();
        self.outgoing.close();
        told || !busy
    }
}

/// Ends the CLI: its input is closed already, so it may write its transcript and go; then it is
/// asked to; then it is made to.
async fn stop_cli(peer: &mut dyn CliPeer, grace: Duration, hears: bool) -> ProcessExit {
    if hears && let Ok(exit) = timeout(grace, peer.wait_for_exit()).await {
        return exit;
    }
    peer.terminate();
    if let Ok(exit) = timeout(grace, peer.wait_for_exit()).await {
        return exit;
    }
    peer.kill();
    // What even that does not end (a process stuck in the kernel) is not waited for.
    timeout(grace, peer.wait_for_exit()).await.unwrap_or_default()
}
