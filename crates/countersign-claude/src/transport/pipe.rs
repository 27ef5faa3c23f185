//! A pipe to a CLI that a test plays.

use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::io::{AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::watch;

use super::{CliConnection, CliLaunch, CliPeer, OutputLine, OutputLineReader, Transport};
use crate::process::{LaunchError, ProcessExit, StderrTail};

/// How much the pipe holds before a writer waits.
const CAPACITY: usize = 64 * 1024;

/// A transport to a CLI that a test plays, over a pipe in memory. It opens once.
#[derive(Debug)]
pub struct PipeTransport(Mutex<Option<PipeSdkEnd>>);

#[derive(Debug)]
struct PipeSdkEnd {
    stream: DuplexStream,
    exited: watch::Receiver<Option<ProcessExit>>,
    asks: watch::Sender<PipeStopRequest>,
}

/// What the near end asked of the far one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PipeStopRequest {
    #[default]
    Nothing,
    ToEnd,
    Killed,
}

/// The end of a [`PipeTransport`] where the CLI would be.
#[derive(Debug)]
pub struct PipeCliEnd {
    lines: OutputLineReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    exit: watch::Sender<Option<ProcessExit>>,
    asked: watch::Receiver<PipeStopRequest>,
}

impl PipeTransport {
    /// Makes a pipe and returns both ends.
    pub fn new() -> (Self, PipeCliEnd) {
        let (stream, far) = tokio::io::duplex(CAPACITY);
        let (exit, exited) = watch::channel(None);
        let (asks, asked) = watch::channel(PipeStopRequest::Nothing);
        let (reader, writer) = tokio::io::split(far);
        let far =
            PipeCliEnd { lines: OutputLineReader::new(reader, usize::MAX), writer, exit, asked };
        (Self(Mutex::new(Some(PipeSdkEnd { stream, exited, asks }))), far)
    }
}

impl PipeCliEnd {
    /// Returns the next line the SDK wrote, or nothing once it has closed the input.
    pub async fn read(&mut self) -> Option<String> {
        match self.lines.next().await {
            Ok(Some(OutputLine::Text(line))) => Some(line),
            _ => None,
        }
    }

    /// Writes bytes as they are, newline or not.
    pub async fn write(&mut self, bytes: &[u8]) {
        // A near end that is gone reads nothing; that is for the test to notice.
        let _ = self.writer.write_all(bytes).await;
    }

    /// Ends as a process would.
    pub async fn exit(mut self, exit: ProcessExit) {
        let _ = self.writer.shutdown().await;
        self.exit.send_replace(Some(exit));
    }

    /// Waits until it is killed.
    pub async fn wait_until_killed(&mut self) {
        let _ = self.asked.wait_for(|asked| *asked == PipeStopRequest::Killed).await;
    }

    /// Waits until it is asked to end, or killed.
    pub async fn wait_for_stop_request(&mut self) {
        let _ = self.asked.wait_for(|asked| *asked != PipeStopRequest::Nothing).await;
    }
}

impl Transport for PipeTransport {
    fn open(&self, _: CliLaunch) -> BoxFuture<'_, Result<CliConnection, LaunchError>> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let PipeSdkEnd { stream, exited, asks } = taken.ok_or_else(|| LaunchError::Spawn {
                program: "pipe".into(),
                source: std::io::Error::other("it was opened before"),
            })?;
            let (output, input) = tokio::io::split(stream);
            Ok(CliConnection {
                input: Box::new(input),
                output: Box::new(output),
                stderr: StderrTail::empty(),
                peer: Box::new(PipePeer { exited, asks }),
            })
        })
    }
}

struct PipePeer {
    exited: watch::Receiver<Option<ProcessExit>>,
    asks: watch::Sender<PipeStopRequest>,
}

impl CliPeer for PipePeer {
    fn pid(&self) -> Option<u32> {
        None
    }

    fn wait_for_exit(&mut self) -> BoxFuture<'_, ProcessExit> {
        Box::pin(async {
            let exit = self.exited.wait_for(Option::is_some).await;
            exit.ok().and_then(|exit| *exit).unwrap_or_default()
        })
    }

    fn terminate(&mut self) {
        self.asks.send_replace(PipeStopRequest::ToEnd);
    }

    fn kill(&mut self) {
        self.asks.send_replace(PipeStopRequest::Killed);
    }
}

impl Drop for PipePeer {
    fn drop(&mut self) {
        self.kill();
    }
}
