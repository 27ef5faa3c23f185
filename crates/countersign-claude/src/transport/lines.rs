//! Framing: bytes in, one line at a time out, with a size limit that costs the line and not the session.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// How much is asked of the pipe at once.
const CHUNK: usize = 64 * 1024;

/// One line of the peer's output, without its line ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputLine {
    /// A line that fits.
    Text(String),
    /// A line longer than the limit. It was read to its end and thrown away, so the next is whole.
    Oversize {
        /// How long it was.
        bytes: usize,
    },
    /// A line that is not UTF-8.
    NotText {
        /// How long it was.
        bytes: usize,
    },
}

/// Reads lines from a byte stream.
///
/// Only newlines split, and only a whole line is trimmed: white space at the seam of two reads is
/// part of the line. A last line without a newline counts.
#[derive(Debug)]
pub struct OutputLineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// How long the current line is so far, kept or not.
    seen: usize,
    limit: usize,
}

impl<R: AsyncRead + Unpin> OutputLineReader<R> {
    /// Reads from `input`; lines over `limit` bytes are reported by their size only.
    pub fn new(input: R, limit: usize) -> Self {
        Self { input: BufReader::with_capacity(CHUNK, input), line: Vec::new(), seen: 0, limit }
    }

    /// Returns the next line that is not blank, or nothing at the end.
    ///
    /// May be dropped at any time: what was read so far stays for the next call.
    pub async fn next(&mut self) -> io::Result<Option<OutputLine>> {
        loop {
            if let Some(line) = self.next_buffered() {
                return Ok(Some(line));
            }
            if self.input.fill_buf().await?.is_empty() {
                return Ok(if self.seen == 0 { None } else { self.take() });
            }
        }
    }

    /// Returns the next line that is not blank if all of it has been read already.
    pub fn next_buffered(&mut self) -> Option<OutputLine> {
        loop {
            let chunk = self.input.buffer();
            let end = memchr::memchr(b'\n', chunk);
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let used = part.len() + usize::from(end.is_some());
            self.seen += part.len();
            if self.seen <= self.limit {
                self.line.extend_from_slice(part);
            } else {
                self.line = Vec::new();
            }
            self.input.consume(used);
            end?;
            if let Some(line) = self.take() {
                return Some(line);
            }
        }
    }

    /// Takes the finished line; a blank one is none.
    fn take(&mut self) -> Option<OutputLine> {
        let bytes = std::mem::take(&mut self.seen);
        let line = std::mem::take(&mut self.line);
        if bytes > self.limit {
            return Some(OutputLine::Oversize { bytes });
        }
        let Ok(mut text) = String::from_utf8(line) else {
            return Some(OutputLine::NotText { bytes });
        };
        let kept = text.trim_end().len();
        text.truncate(kept);
        (!text.trim_start().is_empty()).then_some(OutputLine::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn the_seams_of_the_reads_leave_no_trace() {
        let text =
            "{\"a\":\"x  y\"}\r\n\n  {\"b\":\"äöü 漢字 \u{1f600}\"}\nlast without end".as_bytes();
        let whole = vec![
            OutputLine::Text("{\"a\":\"x  y\"}".into()),
            OutputLine::Text("  {\"b\":\"äöü 漢字 \u{1f600}\"}".into()),
            OutputLine::Text("last without end".into()),
        ];
        for size in 1..=text.len() {
            assert_eq!(read_in_chunks(text, size, 1024).await, whole, "chunks of {size}");
        }
    }

    #[tokio::test]
    async fn a_line_over_the_limit_costs_only_itself() {
        let text = [b"ok\n".as_slice(), &[b'x'; 300], b"\nfine\n"].concat();
        for size in [1, 7, 64, 400] {
            let expected = vec![
                OutputLine::Text("ok".into()),
                OutputLine::Oversize { bytes: 300 },
                OutputLine::Text("fine".into()),
            ];
            assert_eq!(read_in_chunks(&text, size, 100).await, expected, "chunks of {size}");
        }
    }

    #[tokio::test]
    async fn a_line_that_is_not_text_costs_only_itself() {
        let text = [b"\xff\xfe\n".as_slice(), b"fine\n"].concat();
        let expected = vec![OutputLine::NotText { bytes: 2 }, OutputLine::Text("fine".into())];
        assert_eq!(read_in_chunks(&text, 3, 100).await, expected);
    }

    async fn read_in_chunks(text: &[u8], size: usize, limit: usize) -> Vec<OutputLine> {
        let (mut near, far) = tokio::io::duplex(size);
        let text = text.to_vec();
        let writer = tokio::spawn(async move { near.write_all(&text).await.unwrap() });
        let mut lines = OutputLineReader::new(far, limit);
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(line);
        }
        writer.await.unwrap();
        read
    }
}
