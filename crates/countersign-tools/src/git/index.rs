//! git's index, for one question: which folders in it are repositories of their own.

use std::path::{Path, PathBuf};

/// Larger ones are not read.
const MOST: u64 = 64 * 1024 * 1024;
/// The mode of an entry that is a repository.
const REPOSITORY: u32 = 0o160_000;

/// Returns the repositories that an index names; none if it cannot be told.
///
/// `wide` says that object names have 32 bytes, not 20.
pub(super) fn repositories(file: &Path, wide: bool) -> Option<Vec<PathBuf>> {
    match file.metadata() {
        Ok(metadata) if metadata.len() <= MOST => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(Vec::new()),
        Ok(_) | Err(_) => return None,
    }
    read(&std::fs::read(file).ok()?, wide)
}

fn read(bytes: &[u8], wide: bool) -> Option<Vec<PathBuf>> {
    let hash = if wide { 32 } else { 20 };
    let rest = bytes.strip_prefix(b"DIRC")?;
    let version = number(rest.get(..4)?)?;
    let count = number(rest.get(4..8)?)?;
    // In later versions names are shortened: who sets that up sets more than is known here.
    if !(2..=3).contains(&version) {
        return None;
    }
    let mut found = Vec::new();
    let mut at = 12_usize;
    for _ in 0..count {
        let entry = bytes.get(at..)?;
        let mode = number(entry.get(24..28)?)?;
        let flags = u16::from_be_bytes(entry.get(40 + hash..42 + hash)?.try_into().ok()?);
        let head = 42 + hash + if flags & 0x4000 == 0 { 0 } else { 2 };
        let name = entry.get(head..)?;
        let length = name.iter().position(|byte| *byte == 0)?;
        if mode & 0o170_000 == REPOSITORY {
            found.push(PathBuf::from(std::str::from_utf8(name.get(..length)?).ok()?));
        }
        at += (head + length + 8) & !7;
    }
    // A split index keeps its other half elsewhere.
    (bytes.get(at..at + 4)? != b"link").then_some(found)
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn repositories_are_told_from_files() {
        assert_eq!(read(&with_entry("sub", 0o160_000), false), Some(vec!["sub".into()]));
        assert_eq!(read(&with_entry("a.rs", 0o100_644), false), Some(vec![]));
        assert_eq!(read(b"DIRC\0\0\0\x04\0\0\0\x01", false), None);
        assert_eq!(read(b"", false), None);
    }

    /// An index with one entry.
    pub(in super::super) fn with_entry(name: &str, mode: u32) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
        let mut entry = vec![0; 24];
        entry.extend(mode.to_be_bytes());
        entry.resize(60, 0);
        entry.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        entry.extend(name.as_bytes());
        entry.resize((entry.len() + 8) & !7, 0);
        bytes.extend(entry);
        bytes.extend([0; 20]);
        bytes
    }
}
