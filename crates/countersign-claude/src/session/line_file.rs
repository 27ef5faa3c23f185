//! Files of lines that another process may be appending to.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How much of each end is read where the whole would be too much.
pub(super) const END: u64 = 64 * 1024;

/// What is in a folder.
pub(super) fn list_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

/// Calls `with` for each whole line.
///
/// A line that is no text is passed over: a process that died while writing may leave one.
pub(super) fn for_each_line(path: &Path, mut with: impl FnMut(&str)) -> io::Result<()> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        if let Ok(text) = str::from_utf8(&line) {
            with(text.trim());
        }
        line.clear();
    }
    Ok(())
}

/// The whole lines in the first and in the last part of a file; a short file is all in the first.
pub(super) fn read_both_ends(path: &Path) -> io::Result<(String, String)> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    (&file).take(END).read_to_end(&mut start)?;
    let length = file.seek(SeekFrom::End(0))?;
    if length <= END {
        return Ok((lossy(&start), String::new()));
    }
    file.seek(SeekFrom::Start(length.saturating_sub(END).max(END)))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    start.truncate(start.iter().rposition(|&byte| byte == b'\n').unwrap_or(0));
    let first_whole = end.iter().position(|&byte| byte == b'\n').unwrap_or(end.len());
    Ok((lossy(&start), lossy(end.get(first_whole..).unwrap_or_default())))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Appends a line, in one write: the CLI may be appending too.
pub(super) fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    let mut last = *b"\n";
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    // A process that died while writing may have left half a line.
    let before = if last == *b"\n" { "" } else { "\n" };
    file.write_all(format!("{before}{line}\n").as_bytes())
}

/// Makes a file that was not there, readable by its owner only.
pub(super) fn create(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
