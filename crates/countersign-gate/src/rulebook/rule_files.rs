//! Reading one file of rules with what it imports, and knowing when that must be done again.

use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use countersign_core::rule::{PatternAnchors, RuleFile, RuleFileFormat, RuleLayer, RuleSource};
use countersign_core::{Digest, Rule};

/// No file of rules is longer.
const MOST_BYTES: u64 = 1024 * 1024;

/// How many files one file may import.
const MOST_IMPORTS: usize = 32;

/// A file younger than this may change again without its times telling: clocks of disks are coarse.
const YOUNG: Duration = Duration::from_secs(2);

/// Which files have to lie below the folder of the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathConfinement {
    /// Itself too: what belongs to a workspace lies in it.
    All,
    /// Those it imports; a user's own file may be a link to wherever they keep it.
    Imports,
}

/// What tells one version of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// What a look at a file found: its stamp, none if it is not there, or why one cannot tell.
type StampLookup = Result<Option<FileStamp>, ErrorKind>;

/// What a file said when it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleFileContent {
    pub(super) present: bool,
    pub(super) digest: Option<Digest>,
    pub(super) broken: Option<String>,
    /// Empty while it is broken.
    pub(super) file: RuleFile,
}

/// One file of rules, as it was read last.
pub(super) struct CachedRuleFile {
    /// Itself first, then what it imports, each as it stood.
    seen: Vec<(PathBuf, StampLookup)>,
    confine: PathConfinement,
    /// Whether what was seen was old enough for its stamps to tell the next change.
    settled: bool,
    pub(super) reading: Arc<RuleFileContent>,
    /// What it said when it could last be read.
    good: Vec<Rule>,
}

impl CachedRuleFile {
    pub(super) fn new(path: PathBuf, confine: PathConfinement) -> Self {
        let seen = vec![(path, Ok(None))];
        Self { seen, confine, settled: false, reading: Arc::default(), good: Vec::new() }
    }

    pub(super) fn path(&self) -> &Path {
        self.seen.first().map_or(Path::new(""), |(path, _)| path.as_path())
    }

    /// Reads it again if it, or what it imports, may have changed.
    pub(super) fn refresh(&mut self, anchors: &PatternAnchors) {
        let same = |(path, seen): &(PathBuf, StampLookup)| stat_file(path) == *seen;
        if self.settled && self.seen.iter().all(same) {
            return;
        }
        let path = self.path().to_owned();
        let mut files =
            RuleFileReader { confine: self.confine, seen: Vec::new(), bytes: Vec::new() };
        let read = read_all(&path, &mut files, anchors);
        let digest = files.digest();
        let reading = match read {
            Ok(None) => RuleFileContent::default(),
            Ok(Some(file)) => RuleFileContent { present: true, digest, broken: None, file },
            Err(why) => RuleFileContent {
                present: true,
                digest,
                broken: Some(why),
                file: RuleFile::default(),
            },
        };
        if reading.broken.is_none() {
            self.good.clone_from(&reading.file.rules);
        }
        self.settled = files.stamps_are_reliable();
        self.seen = files.seen;
        let old = &self.reading;
        // The same content again is the same reading: whoever compiled it need not do so again.
        if reading.digest != old.digest
            || reading.broken != old.broken
            || reading.present != old.present
        {
            self.reading = Arc::new(reading);
        }
    }

    /// Returns its layer; none where there is no file.
    pub(super) fn layer(&self, source: RuleSource, trusted: bool) -> Option<RuleLayer> {
        let reading = &self.reading;
        match &reading.broken {
            Some(why) => Some(RuleLayer::for_unreadable_file(source, why.clone(), &self.good)),
            None if reading.present => {
                Some(RuleLayer::from_file(source, trusted, reading.file.clone()))
            }
            None => None,
        }
    }
}

/// The files that one reading took in.
struct RuleFileReader {
    confine: PathConfinement,
    seen: Vec<(PathBuf, StampLookup)>,
    bytes: Vec<(PathBuf, Vec<u8>)>,
}

impl RuleFileReader {
    /// Reads a file; none if it is not there.
    fn read_text(&mut self, path: &Path, below: Option<&Path>) -> Result<Option<String>, String> {
        let shown = path.display();
        // Taken before the bytes: a change in between is seen the next time.
        let found = stat_file(path);
        self.seen.push((path.to_owned(), found));
        match found {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(None),
            Err(error) => return Err(format!("`{shown}`: {error}")),
        }
        if let Some(folder) = below {
            ensure_below(path, folder)?;
        }
        let bytes = read_bounded(path).map_err(|error| format!("`{shown}`: {error}"))?;
        let text = String::from_utf8(bytes.clone());
        self.bytes.push((path.to_owned(), bytes));
        text.map(Some).map_err(|_| format!("`{shown}` is not UTF-8 text"))
    }

    fn digest(&self) -> Option<Digest> {
        let parts = self
            .bytes
            .iter()
            .flat_map(|(path, bytes)| [path.as_os_str().as_encoded_bytes(), bytes.as_slice()]);
        (!self.bytes.is_empty()).then(|| Digest::for_parts(parts))
    }

    /// Whether every file that is there is old enough for its stamp to tell the next change.
    #[expect(clippy::disallowed_methods, reason = "compared with the disk's times, not ours")]
    fn stamps_are_reliable(&self) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let old = now.saturating_sub(YOUNG).as_secs();
        let stamps = self.seen.iter().filter_map(|(_, found)| found.ok().flatten());
        stamps
            .map(|stamp| stamp.changed.0.max(stamp.modified.0))
            .all(|at| u64::try_from(at).is_ok_and(|at| at < old))
    }
}

/// Reads a file of rules and what it imports; the text says what cannot be read.
fn read_all(
    path: &Path,
    files: &mut RuleFileReader,
    anchors: &PatternAnchors,
) -> Result<Option<RuleFile>, String> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let confined = (files.confine == PathConfinement::All).then_some(folder);
    let Some(text) = files.read_text(path, confined)? else { return Ok(None) };
    let mut whole = parse_rule_file(path, &text, anchors)?;
    let imports = std::mem::take(&mut whole.imports);
    if imports.len() > MOST_IMPORTS {
        return Err(format!("it imports {} files, more than {MOST_IMPORTS}", imports.len()));
    }
    for import in imports {
        let path = folder.join(&import);
        let Some(text) = files.read_text(&path, Some(folder))? else {
            return Err(format!("it imports `{import}`, which is not there"));
        };
        let RuleFile { rules, problems, mode, imports } = parse_rule_file(&path, &text, anchors)?;
        if !imports.is_empty() {
            return Err(format!(
                "`{import}` imports further files: import them all from one place"
            ));
        }
        whole.rules.extend(rules);
        whole.problems.extend(problems);
        whole.mode = whole.mode.or(mode);
    }
    Ok(Some(whole))
}

fn parse_rule_file(path: &Path, text: &str, anchors: &PatternAnchors) -> Result<RuleFile, String> {
    let json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let format = if json { RuleFileFormat::Json } else { RuleFileFormat::Toml };
    RuleFile::parse(text, format, anchors).map_err(|error| format!("`{}`: {error}", path.display()))
}

fn ensure_below(path: &Path, folder: &Path) -> Result<(), String> {
    let shown = path.display();
    let real = |path: &Path| path.canonicalize().map_err(|error| format!("`{shown}`: {error}"));
    if real(path)?.starts_with(real(folder)?) {
        Ok(())
    } else {
        Err(format!("`{shown}` leads out of `{}`", folder.display()))
    }
}

fn stat_file(path: &Path) -> StampLookup {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(FileStamp {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })),
        // A link that leads nowhere is there, and cannot be read.
        Err(error)
            if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() =>
        {
            Ok(None)
        }
        Err(error) => Err(error.kind()),
    }
}

/// Returns what is in a regular file of bounded length.
pub(super) fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    // Looked at before it is opened: opening a pipe would wait for its other end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let file = fs::File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(bytes)
}
