//! One thread of a search: opens files, leaves out those that may hold secrets, looks for matches.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use countersign_core::{SecretNames, SensitiveKind};
use grep_matcher::LineTerminator;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::DirEntry;
use tokio_util::sync::CancellationToken;

use super::file_matches::{FileMatches, MatchCollector, MatchDetail};
use super::{GrepSearch, OutputMode};
use crate::files::disk::{FileOpener, split};
use crate::files::workspace::Workspace;

/// Above this many bytes a line, or a file in a search that spans lines, is not searched: it would
/// have to be held as a whole.
const HEAP_LIMIT: usize = 64 * 1024 * 1024;

/// Up to this many bytes a file is read in one piece. In more the searcher would not look for signs of
/// a binary file everywhere.
const PIECE: usize = 64 * 1024;

/// What is common to all threads.
#[derive(Clone, Copy)]
pub(super) struct GrepTask<'a> {
    pub(super) search: &'a GrepSearch,
    pub(super) workspace: &'a Workspace,
    /// Where paths are told from.
    pub(super) cwd: &'a Path,
    pub(super) cancel: &'a CancellationToken,
}

/// What came of a file.
pub(super) enum FileSearchResult {
    /// It was not looked at: it may hold secrets.
    Secret,
    /// There is nothing, or it cannot be read.
    Nothing,
    Something(FileMatches),
}

pub(super) struct GrepWorker<'a> {
    task: GrepTask<'a>,
    wanted: MatchDetail,
    searcher: Searcher,
    opener: FileOpener,
    piece: Vec<u8>,
    /// The folder of the last file, judged.
    judged: Option<(PathBuf, SecretNames)>,
}

impl<'a> GrepWorker<'a> {
    pub(super) fn new(task: GrepTask<'a>) -> Self {
        let input = &task.search.input;
        let wanted = MatchDetail {
            lines: input.output_mode == OutputMode::Content,
            only_whether: input.output_mode == OutputMode::FilesWithMatches,
            numbers: input.numbers.unwrap_or(true),
        };
        let (searcher, piece) = (searcher(task.search, wanted), vec![0; PIECE]);
        Self { task, wanted, searcher, opener: FileOpener::default(), piece, judged: None }
    }

    pub(super) fn search_entry(&mut self, entry: &DirEntry) -> FileSearchResult {
        // Only what is a file: some devices do something when they are opened.
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let Some((folder, name)) = split(entry.path()).filter(|_| is_file) else {
            return FileSearchResult::Nothing;
        };
        if self.is_secret(folder, name) {
            return FileSearchResult::Secret;
        }
        self.search(entry.path(), folder, name)
            .map_or(FileSearchResult::Nothing, FileSearchResult::Something)
    }

    /// Returns whether a file may hold secrets although what was asked for does not look like it.
    fn is_secret(&mut self, folder: &Path, name: &OsStr) -> bool {
        if self.task.search.target.place.special == Some(SensitiveKind::Secret) {
            return false;
        }
        let judged = match self.judged.take() {
            Some(known) if known.0.as_os_str() == folder.as_os_str() => known,
            _ => (folder.to_owned(), self.task.workspace.secret_names(folder)),
        };
        self.judged.insert(judged).1.hold(name)
    }

    fn search(&mut self, path: &Path, folder: &Path, name: &OsStr) -> Option<FileMatches> {
        let opened = self.opener.open(folder, name).ok()?;
        let mut looking = MatchCollector::for_file(path, self.task.cwd, self.wanted);
        let matcher = &self.task.search.matcher;
        let piece = usize::try_from(opened.length()).ok();
        let piece = piece.filter(|length| *length > 0).and_then(|end| self.piece.get_mut(..end));
        let searched = if let Some(piece) = piece {
            fill(&opened.file, piece)
                .and_then(|bytes| self.searcher.search_slice(matcher, bytes, &mut looking))
        } else {
            // A file without a length may be one whose content is made as it is read.
            let reader = InterruptibleFile { file: &opened.file, cancel: self.task.cancel };
            self.searcher.search_reader(matcher, reader, &mut looking)
        };
        if let Err(error) = searched {
            tracing::debug!(path = %path.display(), %error, "a file was not searched to its end");
        }
        looking.found(|| opened.changed())
    }
}

fn searcher(search: &GrepSearch, wanted: MatchDetail) -> Searcher {
    let input = &search.input;
    let mut builder = SearcherBuilder::new();
    builder
        // Counting lines takes time.
        .line_number(wanted.lines && wanted.numbers)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(HEAP_LIMIT));
    if input.multiline {
        builder.multi_line(true);
    } else {
        builder.line_terminator(LineTerminator::crlf());
    }
    if wanted.lines {
        let around = input.context.unwrap_or(0);
        builder.before_context(input.before.unwrap_or(around));
        builder.after_context(input.after.unwrap_or(around));
    }
    builder.build()
}

/// Reads as much as there is room for, or less where there is no more.
fn fill<'b>(mut file: &File, room: &'b mut [u8]) -> io::Result<&'b [u8]> {
    let mut filled = 0;
    while let Some(rest) = room.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(room.get(..filled).unwrap_or_default())
}

/// A file that can be read no further once the search is cancelled.
struct InterruptibleFile<'a> {
    file: &'a File,
    cancel: &'a CancellationToken,
}

impl Read for InterruptibleFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}
