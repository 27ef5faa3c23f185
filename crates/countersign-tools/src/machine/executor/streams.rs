//! Streams: where standard input, output and error of a command lead.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use countersign_core::shell::CanonicalRedirection;

use super::shell::CanonicalShell;

/// The three streams of a command.
#[derive(Clone)]
pub(super) struct CommandStreams {
    input: StreamTarget,
    output: StreamTarget,
    error: StreamTarget,
}

/// Where one stream leads.
#[derive(Clone)]
enum StreamTarget {
    /// To where this process's own stream of that number leads.
    Own(u8),
    Open(Arc<OwnedFd>),
}

impl StreamTarget {
    fn open(file: impl Into<OwnedFd>) -> Self {
        Self::Open(Arc::new(file.into()))
    }

    fn duplicate(&self) -> io::Result<OwnedFd> {
        match self {
            Self::Own(0) => io::stdin().as_fd().try_clone_to_owned(),
            Self::Own(1) => io::stdout().as_fd().try_clone_to_owned(),
            Self::Own(_) => io::stderr().as_fd().try_clone_to_owned(),
            Self::Open(descriptor) => descriptor.try_clone(),
        }
    }
}

impl CommandStreams {
    /// Returns the streams of this process.
    pub(super) fn from_process() -> Self {
        Self {
            input: StreamTarget::Own(0),
            output: StreamTarget::Own(1),
            error: StreamTarget::Own(2),
        }
    }

    /// Returns the same, reading from a pipe.
    pub(super) fn reading(self, pipe: PipeReader) -> Self {
        Self { input: StreamTarget::open(pipe), ..self }
    }

    /// Returns the same, writing into a pipe.
    pub(super) fn writing(self, pipe: PipeWriter) -> Self {
        Self { output: StreamTarget::open(pipe), ..self }
    }

    /// Returns the streams after redirections, set up one after the other.
    pub(super) fn redirect(
        &self,
        redirections: &[CanonicalRedirection],
        shell: &mut CanonicalShell,
    ) -> Result<Self, String> {
        let mut streams = self.clone();
        for redirection in redirections {
            match redirection {
                CanonicalRedirection::Read { path } => {
                    streams.input = streams.read_from(path, shell)?;
                }
                CanonicalRedirection::Write { stream, path, append } => {
                    let open = streams.write_to(path, *append, shell)?;
                    *streams.output_of(*stream) = open;
                }
                CanonicalRedirection::Duplicate { stream, to } => {
                    let other = streams.output_of(*to).clone();
                    *streams.output_of(*stream) = other;
                }
                CanonicalRedirection::Text { text } => {
                    let mut text = shell.expand(text, &streams)?;
                    text.push('\n');
                    streams.input = text_stream(text).map_err(|error| error.to_string())?;
                }
            }
        }
        Ok(streams)
    }

    fn output_of(&mut self, stream: u8) -> &mut StreamTarget {
        if stream == 2 { &mut self.error } else { &mut self.output }
    }

    fn read_from(&self, path: &str, shell: &CanonicalShell) -> Result<StreamTarget, String> {
        if path == "/dev/stdin" {
            return Ok(self.input.clone());
        }
        let file = File::open(shell.path(path));
        file.map(StreamTarget::open).map_err(|error| failure(path, &error))
    }

    fn write_to(
        &self,
        path: &str,
        append: bool,
        shell: &CanonicalShell,
    ) -> Result<StreamTarget, String> {
        match path {
            "/dev/stdout" => return Ok(self.output.clone()),
            "/dev/stderr" => return Ok(self.error.clone()),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.create(true).append(append).write(true).truncate(!append);
        let file = options.open(shell.path(path));
        file.map(StreamTarget::open).map_err(|error| failure(path, &error))
    }

    /// Returns the streams as a child gets them.
    pub(super) fn to_stdio(&self) -> io::Result<[Stdio; 3]> {
        let stdio = |stream: &StreamTarget| stream.duplicate().map(Stdio::from);
        Ok([stdio(&self.input)?, stdio(&self.output)?, stdio(&self.error)?])
    }

    /// Writes to standard output.
    pub(super) fn print(&self, text: &str) -> io::Result<()> {
        File::from(self.output.duplicate()?).write_all(text.as_bytes())
    }

    /// Writes a line to standard error, as bash would.
    pub(super) fn complain(&self, text: &str) {
        let line = format!("/bin/bash: line 1: {text}\n");
        self.write_error(&line);
    }

    /// Writes to standard error as it is.
    pub(super) fn write_error(&self, text: &str) {
        // Whoever closed standard error does not want to hear of it.
        let _ = self.error.duplicate().map(|error| File::from(error).write_all(text.as_bytes()));
    }

    /// Reads one line, byte by byte: what follows belongs to whoever reads next. Also returns whether the
    /// line had an end.
    pub(super) fn read_line(&self) -> io::Result<(String, bool)> {
        let mut input = File::from(self.input.duplicate()?);
        let mut line = Vec::new();
        let mut byte = [0];
        loop {
            match input.read(&mut byte)? {
                0 => return Ok((text_of(&line), false)),
                _ if byte == *b"\n" => return Ok((text_of(&line), true)),
                _ => line.extend_from_slice(&byte),
            }
        }
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a stream that holds a text.
fn text_stream(text: String) -> io::Result<StreamTarget> {
    let (reader, mut writer) = io::pipe()?;
    // A text may be longer than a pipe holds; whoever stops reading ends this too.
    std::thread::spawn(move || writer.write_all(text.as_bytes()));
    Ok(StreamTarget::open(reader))
}

/// Says why a file cannot be opened, as a shell does.
pub(super) fn failure(path: &str, error: &io::Error) -> String {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
        io::ErrorKind::NotADirectory => "Not a directory".to_owned(),
        io::ErrorKind::ArgumentListTooLong => "Argument list too long".to_owned(),
        _ => error.to_string(),
    };
    format!("{path}: {why}")
}

/// Returns a folder as it is shown.
pub(super) fn display_folder(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
