//! A pipe to a CLI that a test plays.

use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::io::{AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::watch;

use super::{Launch, Line, Lines, Peer, Transport, Wire};
use crate::process::{Exit, LaunchError, StderrTail};

/// How much the pipe holds before a writer waits.
const CAPACITY: usize = 64 * 1024;

/// A transport to a CLI that a test plays, over a pipe in memory. It opens once.
#[derive(Debug)]
pub struct Pipe(Mutex<Option<NearEnd>>);

#[derive(Debug)]
struct NearEnd {
    stream: DuplexStream,
    exited: watch::Receiver<Option<Exit>>,
    asks: watch::Sender<Asked>,
}

/// What the near end asked of the far one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Asked {
    #[default]
    Nothing,
    ToEnd,
    Killed,
}

/// The end of a [`Pipe`] where the CLI would be.
#[derive(Debug)]
pub struct FarEnd {
    lines: Lines<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    exit: watch::Sender<Option<Exit>>,
    asked: watch::Receiver<Asked>,
}

impl Pipe {
    /// Makes a pipe and returns both ends.
    pub fn new() -> (Self, FarEnd) {
        let (stream, far) = tokio::io::duplex(CAPACITY);
        let (exit, exited) = watch::channel(None);
        let (asks, asked) = watch::channel(Asked::Nothing);
        let (reader, writer) = tokio::io::split(far);
        let far = FarEnd { lines: Lines::new(reader, usize::MAX), writer, exit, asked };
        (Self(Mutex::new(Some(NearEnd { stream, exited, asks }))), far)
    }
}

impl FarEnd {
    /// Returns the next line the SDK wrote, or nothing once it has closed the input.
    pub async fn read(&mut self) -> Option<String> {
        match self.lines.next().await {
            Ok(Some(Line::Text(line))) => Some(line),
            _ => None,
        }
    }

    /// Writes bytes as they are, newline or not.
    pub async fn write(&mut self, bytes: &[u8]) {
        // A near end that is gone reads nothing; that is for the test to notice.
        let _ = self.writer.write_all(bytes).await;
    }

    /// Ends as a process would.
    pub async fn exit(mut self, exit: Exit) {
        let _ = self.writer.shutdown().await;
        self.exit.send_replace(Some(exit));
    }

    /// Waits until it is killed.
    pub async fn killed(&mut self) {
        let _ = self.asked.wait_for(|asked| *asked == Asked::Killed).await;
    }

    /// Waits until it is asked to end, or killed.
    pub async fn asked_to_end(&mut self) {
        let _ = self.asked.wait_for(|asked| *asked != Asked::Nothing).await;
    }
}

impl Transport for Pipe {
    fn open(&self, _: Launch) -> BoxFuture<'_, Result<Wire, LaunchError>> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let NearEnd { stream, exited, asks } = taken.ok_or_else(|| LaunchError::Spawn {
                program: "pipe".into(),
                source: std::io::Error::other("it was opened before"),
            })?;
            let (output, input) = tokio::io::split(stream);
            Ok(Wire {
                input: Box::new(input),
                output: Box::new(output),
                stderr: StderrTail::none(),
                peer: Box::new(Played { exited, asks }),
            })
        })
    }
}

struct Played {
    exited: watch::Receiver<Option<Exit>>,
    asks: watch::Sender<Asked>,
}

impl Peer for Played {
    fn pid(&self) -> Option<u32> {
        None
    }

    fn exited(&mut self) -> BoxFuture<'_, Exit> {
        Box::pin(async {
            let exit = self.exited.wait_for(Option::is_some).await;
            exit.ok().and_then(|exit| *exit).unwrap_or_default()
        })
    }

    fn terminate(&mut self) {
        self.asks.send_replace(Asked::ToEnd);
    }

    fn kill(&mut self) {
        self.asks.send_replace(Asked::Killed);
    }
}

impl Drop for Played {
    fn drop(&mut self) {
        self.kill();
    }
}
