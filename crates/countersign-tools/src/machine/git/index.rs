//! git's index: which files git tracks, and which folders in it are repositories of their own.
//!
//! Read as git reads it, and stricter: an index that git itself would not write has no answer, since
//! git could find other names in it.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::plain_file::read_plain_file;

/// Larger ones are not read.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// The mode of an entry that is a repository.
const REPOSITORY: u32 = 0o160_000;

/// The files and repositories that an index names.
#[derive(Debug, Default)]
pub(crate) struct TrackedFiles {
    bytes: Vec<u8>,
    names: Vec<Range<usize>>,
    repositories: Vec<Range<usize>>,
}

impl TrackedFiles {
    /// Returns the repositories among them.
    pub(super) fn repositories(&self) -> impl Iterator<Item = &Path> {
        self.repositories.iter().filter_map(|range| self.path(range))
    }

    /// Returns all of them, in the order of the index: those of one folder mostly stand together.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.names.iter().filter_map(|range| self.path(range))
    }

    /// Returns every folder that one of them lies in; none if there are more than the bound.
    pub(crate) fn folders(&self, most: usize) -> Option<HashSet<&Path>> {
        let mut folders = HashSet::new();
        for path in self.paths() {
            // Whatever is above a folder that is known is known as well.
            for folder in path.ancestors().skip(1) {
                if folder.as_os_str().is_empty() || !folders.insert(folder) {
                    break;
                }
            }
            if folders.len() > most {
                return None;
            }
        }
        Some(folders)
    }

    fn path(&self, range: &Range<usize>) -> Option<&Path> {
        self.bytes.get(range.clone()).map(|name| Path::new(OsStr::from_bytes(name)))
    }
}

/// Reads an index; no answer if it cannot be told what it names.
///
/// `wide_names` says that objects have names of 32 bytes, not 20.
pub(super) fn read_index(file: &Path, wide_names: bool) -> Option<TrackedFiles> {
    match read_plain_file(file, MOST_BYTES)? {
        Some(bytes) => read_entries(bytes, wide_names),
        None => Some(TrackedFiles::default()),
    }
}

fn read_entries(bytes: Vec<u8>, wide_names: bool) -> Option<TrackedFiles> {
    let hash = if wide_names { 32 } else { 20 };
    let rest = bytes.strip_prefix(b"DIRC")?;
    let version = number(rest.get(..4)?)?;
    let count = number(rest.get(4..8)?)?;
    // In later versions names are shortened: who sets that up sets more than is known here.
    if !(2..=3).contains(&version) {
        return None;
    }
    let mut found = TrackedFiles::default();
    let mut at = 12_usize;
    for _ in 0..count {
        let entry = bytes.get(at..)?;
        let mode = number(entry.get(24..28)?)?;
        let flags = u16::from_be_bytes(entry.get(40 + hash..42 + hash)?.try_into().ok()?);
        let head = 42 + hash + if flags & 0x4000 == 0 { 0 } else { 2 };
        let length = name_length(entry.get(head..)?, flags)?;
        let name = at + head..at + head + length;
        if !is_plain_name(bytes.get(name.clone())?) {
            return None;
        }
        if mode & 0o170_000 == REPOSITORY {
            found.repositories.push(name.clone());
        }
        found.names.push(name);
        at += (head + length + 8) & !7;
    }
    let end = bytes.len().checked_sub(hash)?;
    let plain = has_plain_extensions(bytes.get(at..end)?)?;
    plain.then_some(TrackedFiles { bytes, ..found })
}

/// Returns how long an entry's name is; none where its flags and its end do not agree.
fn name_length(name: &[u8], flags: u16) -> Option<usize> {
    const LONG: usize = 0xfff;
    let length = memchr::memchr(0, name)?;
    let told = usize::from(flags) & LONG;
    (told == length.min(LONG)).then_some(length)
}

/// Whether a name leads nowhere but to a file of the tree.
fn is_plain_name(name: &[u8]) -> bool {
    let mut parts = name.split(|byte| *byte == b'/');
    parts.all(|part| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git"))
}

/// Whether none of the extensions changes what the entries mean, as a split or sparse index does.
fn has_plain_extensions(mut bytes: &[u8]) -> Option<bool> {
    while !bytes.is_empty() {
        let (head, rest) = bytes.split_at_checked(8)?;
        // Those that a reader has to know start with a small letter.
        if !head.first()?.is_ascii_uppercase() {
            return Some(false);
        }
        let size = usize::try_from(number(head.get(4..)?)?).ok()?;
        bytes = rest.get(size..)?;
    }
    Some(true)
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn repositories_are_told_from_files() {
        assert_eq!(read(&with_entries(&[("a.rs", 0o100_644)])), Some((names(&["a.rs"]), vec![])));
        let both = with_entries(&[("a.rs", 0o100_644), ("sub", REPOSITORY)]);
        assert_eq!(read(&both), Some((names(&["a.rs", "sub"]), names(&["sub"]))));
        assert_eq!(read(b"DIRC\0\0\0\x04\0\0\0\x01"), None);
        assert_eq!(read(b""), None);
    }

    #[test]
    fn an_index_that_git_would_not_write_has_no_answer() {
        for name in ["../x", "/etc/passwd", "a//b", "a/./b", "a/.git/b", ".GIT/config", ""] {
            assert_eq!(read(&with_entries(&[(name, 0o100_644)])), None, "{name}");
        }
        let good = with_entries(&[("a.rs", 0o100_644)]);
        let mut short = good.clone();
        short[12 + 61] = 2;
        assert_eq!(read(&short), None, "the length and the end of a name differ");
        for (extension, reads) in [(b"TREE", true), (b"link", false), (b"sdir", false)] {
            let mut more = good.clone();
            let end = more.len() - 20;
            more.splice(end..end, extension.iter().copied().chain([0, 0, 0, 0]));
            assert_eq!(read(&more).is_some(), reads, "{extension:?}");
        }
        assert_eq!(read(&good[..good.len() - 1]), None);
    }

    #[test]
    fn folders_are_named_once_and_bounded() {
        let file = 0o100_644;
        let bytes = with_entries(&[("a/b/c", file), ("a/b/d", file), ("a/e", file), ("f", file)]);
        let tracked = read_entries(bytes, false).unwrap();
        let expected = HashSet::from([Path::new("a"), Path::new("a/b")]);
        assert_eq!(tracked.folders(2), Some(expected));
        assert_eq!(tracked.folders(1), None);
    }

    fn read(bytes: &[u8]) -> Option<(Vec<PathBuf>, Vec<PathBuf>)> {
        let found = read_entries(bytes.to_vec(), false)?;
        let owned = |paths: &mut dyn Iterator<Item = &Path>| paths.map(Path::to_owned).collect();
        Some((owned(&mut found.paths()), owned(&mut found.repositories())))
    }

    fn names(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    /// An index with these names and modes.
    pub(in super::super) fn with_entries(entries: &[(&str, u32)]) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0\x02".to_vec();
        bytes.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
        for (name, mode) in entries {
            let mut entry = vec![0; 24];
            entry.extend(mode.to_be_bytes());
            entry.resize(60, 0);
            entry.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
            entry.extend(name.as_bytes());
            entry.resize((entry.len() + 8) & !7, 0);
            bytes.extend(entry);
        }
        bytes.extend([0; 20]);
        bytes
    }
}
