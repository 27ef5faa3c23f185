//! Read: shows a part of a text file with its line numbers; pictures, documents and notebooks as such.

mod media;
mod missing_file;
mod notebook;
mod pdf;
mod picture;
mod window;

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::num::NonZeroUsize;

use countersign_core::{CallPlan, EffectTarget, InvalidCall, ToolCall, ToolOutput};
use encoding_rs::{CoderResult, Decoder, UTF_8, UTF_16BE, UTF_16LE};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

pub(crate) use self::media::MediaKind;
use self::window::LineWindow;
use crate::files::disk::{self, DiskError};
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::text::{TextEncoding, size};
use crate::files::workspace::Workspace;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Reads a file from the local filesystem.

- `file_path` is absolute, or relative to the working directory.
- By default it reads the first 2000 lines. With `offset` (the first line, counted from 1) and `limit` \
(how many lines) you read any part of a long file; the answer says how to go on.
- Lines longer than 2000 characters are cut, and the cut is marked.
- The answer has the form of `cat -n`: the line number, a tab, the line. Numbers and tabs are not part \
of the file.
- UTF-8 and UTF-16 (with a byte order mark) are read as text; other binary files are not shown.
- Pictures (PNG, JPEG, GIF, WebP) and PDF files are shown to you as such.
- A Jupyter notebook (`.ipynb`) is shown by its cells, with their ids and outputs; with `offset` or \
`limit`, as the text it is.
- It reads files only. To see what is in a folder, use ListDir, Glob, or `ls` with Bash.
- Read several files at once when you will likely need them all.";

/// How many lines are shown unless the call says otherwise.
const LINES: usize = 2000;

/// How much of a file is read at once, and looked at to tell text from binary.
const CHUNK: usize = 64 * 1024;

/// The tool that reads files.
pub type Read = ToolAdapter<ReadTool>;

/// How [`Read`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct ReadTool {
    workspace: Workspace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadInput {
    /// The path of the file to read, absolute or relative to the working directory.
    file_path: String,
    /// The number of the first line to read, counted from 1. Only for files too long to read at once.
    offset: Option<NonZeroUsize>,
    /// How many lines to read. Only for files too long to read at once.
    limit: Option<NonZeroUsize>,
}

impl ReadInput {
    fn wants_all(&self) -> bool {
        self.offset.is_none() && self.limit.is_none()
    }
}

impl Read {
    /// Returns the tool, not asking before it runs.
    pub fn new(workspace: Workspace) -> Self {
        Self::for_tool(ReadTool { workspace }, false)
    }
}

impl TypedTool for ReadTool {
    const NAME: &'static str = "Read";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = ReadInput;
    type CheckedInput = (ReadInput, EffectTarget);

    fn check(&self, input: ReadInput, call: &ToolCall) -> Result<Self::CheckedInput, InvalidCall> {
        let target = self.workspace.find(&call.cwd, &input.file_path)?;
        Ok((input, target))
    }

    fn plan(
        &self,
        (input, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<CallPlan, InvalidCall> {
        let summary = format!("Read `{}`", escape_to_line(&input.file_path));
        Ok(CallPlan::new(vec![path_effects::read_effect(&input.file_path, target)?], summary))
    }
}

impl BlockingTool for ReadTool {
    fn run_blocking(
        &self,
        (input, target): Self::CheckedInput,
        permit: &VerifiedPermit,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        permit.check_reach(&target)?;
        show(&input, &target, cancel)
    }
}

/// Returns what was asked for, and what there is to know about the rest.
fn show(
    input: &ReadInput,
    target: &EffectTarget,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let path = &input.file_path;
    let (mut file, metadata) = match disk::open(&target.path) {
        Ok(opened) => opened,
        Err(DiskError::Missing) => return Err(missing_file::missing_file_error(path, target)),
        Err(DiskError::Folder) => {
            return Err(ToolError::invalid(format!(
                "`{path}` is a folder; list it with Glob or ListDir, or with `ls` in Bash"
            )));
        }
        Err(error) => return Err(error.into_tool_error(path)),
    };
    let mut buffer = vec![0; CHUNK];
    let first = fill(&mut file, &mut buffer)
        .map_err(|error| DiskError::Io("read", error).into_tool_error(path))?;
    let start = buffer.get(..first).unwrap_or_default();
    if let Some(media) = MediaKind::from_first_bytes(start) {
        return media.show(path, start, file, metadata.len());
    }
    if input.wants_all() && notebook::is_one(&target.path) {
        let shown = notebook::show(start, &mut file);
        if let Some(shown) =
            shown.map_err(|error| DiskError::Io("read", error).into_tool_error(path))?
        {
            return Ok(shown);
        }
        // What is no notebook is shown as what it is, from the start.
        file.rewind().map_err(|error| DiskError::Io("read", error).into_tool_error(path))?;
    }
    let encoding = TextEncoding::at_start_of(start);
    if is_binary(start, encoding) {
        let bytes = size(metadata.len());
        return Err(ToolError::invalid(format!(
            "`{path}` is a binary file ({bytes}) and cannot be shown as text; look at it with a \
             program in Bash (`file`, `xxd`, `strings`)"
        )));
    }
    file.rewind().map_err(|error| DiskError::Io("read", error).into_tool_error(path))?;
    lines(input, encoding, &mut file, &mut buffer, cancel).map(ToolOutput::ok)
}

/// Returns the lines that were asked for.
fn lines(
    input: &ReadInput,
    encoding: TextEncoding,
    file: &mut File,
    buffer: &mut [u8],
    cancel: &CancellationToken,
) -> Result<String, ToolError> {
    let path = &input.file_path;
    let from = input.offset.map_or(1, NonZeroUsize::get);
    let limit = input.limit.map_or(LINES, NonZeroUsize::get);
    let mut window = LineWindow::new(from, limit);
    let mut decoding = ChunkDecoder::new(encoding);
    loop {
        let filled = fill(file, buffer)
            .map_err(|error| DiskError::Io("read", error).into_tool_error(path))?;
        let bytes = buffer.get(..filled).unwrap_or_default();
        let last = bytes.is_empty();
        decoding.push(bytes, last, &mut window);
        if last || window.has_enough() {
            break;
        }
        if cancel.is_cancelled() {
            return Err(ToolError::Interrupted);
        }
    }
    window.into_answer(path, decoding.had_faults).map_err(ToolError::invalid)
}

fn fill(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Bytes to text, chunk by chunk.
struct ChunkDecoder {
    decoder: Decoder,
    had_faults: bool,
    text: String,
}

impl ChunkDecoder {
    fn new(encoding: TextEncoding) -> Self {
        let decoder = match encoding {
            TextEncoding::Utf8 | TextEncoding::Utf8Bom => UTF_8,
            TextEncoding::Utf16Le => UTF_16LE,
            TextEncoding::Utf16Be => UTF_16BE,
        };
        Self {
            decoder: decoder.new_decoder_with_bom_removal(),
            had_faults: false,
            text: String::with_capacity(CHUNK * 3),
        }
    }

    fn push(&mut self, mut bytes: &[u8], last: bool, window: &mut LineWindow) {
        loop {
            self.text.clear();
            let (result, read, faults) = self.decoder.decode_to_string(bytes, &mut self.text, last);
            self.had_faults |= faults;
            window.push(&self.text);
            bytes = bytes.get(read..).unwrap_or_default();
            if result == CoderResult::InputEmpty {
                break;
            }
        }
    }
}

/// Guesses from its start whether a file is something else than text.
fn is_binary(start: &[u8], encoding: TextEncoding) -> bool {
    match encoding {
        TextEncoding::Utf16Le | TextEncoding::Utf16Be => false,
        TextEncoding::Utf8 | TextEncoding::Utf8Bom => {
            if start.contains(&0) {
                return true;
            }
            if std::str::from_utf8(start).is_ok() {
                return false;
            }
            let text = String::from_utf8_lossy(start);
            let odd = |c: &char| *c == '\u{fffd}' || (c.is_control() && !c.is_whitespace());
            // Old eight-bit texts have a few odd characters, not a third of them.
            text.chars().filter(odd).count() * 3 > text.chars().count()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_a_few_odd_bytes_is_text() {
        assert!(!is_binary(b"caf\xe9 au lait\n", TextEncoding::Utf8));
        assert!(is_binary(b"\x7fELF\x02\x01\0", TextEncoding::Utf8));
        assert!(is_binary(b"\x89\xfa\xcc\xfe\x01\x02\x03", TextEncoding::Utf8));
    }
}
