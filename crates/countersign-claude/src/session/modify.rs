//! Changes to a session: like the CLI's own, they are lines that are added.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::session_files::SessionFile;
use super::{SessionError, line_file};

pub(super) fn rename(session: &SessionFile, id: &str, title: &str) -> Result<(), SessionError> {
    let title = title.trim();
    if title.is_empty() {
        return Err(SessionError::NoTitle);
    }
    append(session, &json!({"type": "custom-title", "customTitle": title, "sessionId": id}))?;
    // Where the CLI keeps the title a second time, the old one must not stay.
    let beside = session.folder().join("custom-title.json");
    if beside.exists() {
        let text = json!({"customTitle": title}).to_string();
        std::fs::write(&beside, text).map_err(SessionError::disk_error(&beside))?;
    }
    Ok(())
}

pub(super) fn tag(session: &SessionFile, id: &str, tag: Option<&str>) -> Result<(), SessionError> {
    let tag = tag.map(str::trim).unwrap_or_default();
    append(session, &json!({"type": "tag", "tag": tag, "sessionId": id}))
}

pub(super) fn delete(session: &SessionFile) -> Result<(), SessionError> {
    let folder = session.folder();
    ignore_missing(std::fs::remove_file(&session.path), &session.path)?;
    ignore_missing(std::fs::remove_dir_all(&folder), &folder)
}

fn ignore_missing(removed: io::Result<()>, path: &Path) -> Result<(), SessionError> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(SessionError::disk_error(path)),
    }
}

fn append(session: &SessionFile, entry: &Value) -> Result<(), SessionError> {
    line_file::append_line(&session.path, &entry.to_string())
        .map_err(SessionError::disk_error(&session.path))
}
