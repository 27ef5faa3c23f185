//! The two output streams of a child, read together and kept within bounds.

use encoding_rs::{Decoder, UTF_8};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::ProcessLaunch;
use crate::files::truncate::HeadTailBuffer;

/// One stream of a child and what is kept of it.
pub(super) struct OutputPipe<'a> {
    source: Option<Box<dyn AsyncRead + Send + Unpin>>,
    buffer: Vec<u8>,
    pub(super) kept: HeadTailBuffer,
    listener: Option<&'a (dyn Fn(&str) + Send + Sync)>,
    /// A character may come in two pieces.
    decoder: Decoder,
}

impl<'a> OutputPipe<'a> {
    pub(super) fn new(
        source: Option<impl AsyncRead + Send + Unpin + 'static>,
        launch: &ProcessLaunch<'a>,
    ) -> Self {
        Self {
            source: source.map(|source| Box::new(source) as _),
            buffer: vec![0; 64 * 1024],
            kept: HeadTailBuffer::new(launch.keep),
            listener: launch.listener,
            decoder: UTF_8.new_decoder_without_bom_handling(),
        }
    }

    /// Reads until the end. May be dropped and called again: nothing read is lost.
    async fn read_on(&mut self) {
        while let Some(source) = &mut self.source {
            match source.read(&mut self.buffer).await {
                Ok(0) | Err(_) => self.source = None,
                Ok(length) => {
                    let bytes = self.buffer.get(..length).unwrap_or_default();
                    self.kept.push(bytes);
                    if let Some(listener) = self.listener {
                        let room = self.decoder.max_utf8_buffer_length(bytes.len());
                        let mut text = String::with_capacity(room.unwrap_or_default());
                        let _ = self.decoder.decode_to_string(bytes, &mut text, false);
                        listener(&text);
                    }
                }
            }
        }
    }
}

/// Both streams, read together.
pub(super) struct ChildOutputReader<'a, 'l> {
    stdout: &'a mut OutputPipe<'l>,
    stderr: &'a mut OutputPipe<'l>,
}

impl<'a, 'l> ChildOutputReader<'a, 'l> {
    pub(super) fn new(stdout: &'a mut OutputPipe<'l>, stderr: &'a mut OutputPipe<'l>) -> Self {
        Self { stdout, stderr }
    }

    /// Reads both to their end.
    pub(super) async fn read_on(&mut self) {
        tokio::join!(self.stdout.read_on(), self.stderr.read_on());
    }

    /// Reads on until something else is done.
    pub(super) async fn during<T>(&mut self, other: impl Future<Output = T>) -> T {
        tokio::pin!(other);
        tokio::select! {
            done = &mut other => return done,
            () = self.read_on() => {}
        }
        other.await
    }
}
