//! Reading a small file of a repository without ever waiting for it, and never more than a bound.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Returns what a regular file holds: `Some(None)` if there is none, `None` if it is a link, a pipe,
/// a device, larger than the bound or cannot be read.
#[expect(clippy::option_option, reason = "no file and no answer are two things here")]
pub(super) fn read_plain_file(file: &Path, most: u64) -> Option<Option<Vec<u8>>> {
    match read_bounded(file, most) {
        Ok(bytes) => Some(Some(bytes)),
        Err(error) if is_absent(&error) => Some(None),
        Err(_) => None,
    }
}

/// Returns the text of a regular file, by the same rules.
#[expect(clippy::option_option, reason = "no file and no answer are two things here")]
pub(super) fn read_plain_text(file: &Path, most: u64) -> Option<Option<String>> {
    match read_plain_file(file, most)? {
        Some(bytes) => String::from_utf8(bytes).ok().map(Some),
        None => Some(None),
    }
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn read_bounded(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    // To open a pipe would wait for somebody who writes, and a link leads anywhere.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(file)?;
    let metadata = opened.metadata()?;
    if !metadata.is_file() || metadata.len() > most {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    // The length that was told may be out of date, or a lie.
    opened.take(most + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_up_to_the_bound_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), 0o600.into()).unwrap();
        assert_eq!(read_plain_text(&at("file"), 4), Some(Some("text".to_owned())));
        assert_eq!(read_plain_text(&at("none"), 4), Some(None));
        assert_eq!(read_plain_text(&at("file/below"), 4), Some(None));
        for name in ["link", "endless", "pipe", "."] {
            assert_eq!(read_plain_file(&at(name), 4), None, "{name}");
        }
        assert_eq!(read_plain_file(&at("file"), 3), None);
        assert_eq!(read_plain_file(Path::new("/dev/zero"), 3), None);
    }
}
