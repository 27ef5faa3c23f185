//! Changes to a session: like the CLI's own, they are lines that are added.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::place::SessionFile;
use super::{SessionError, file};

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
        std::fs::write(&beside, text).map_err(SessionError::at(&beside))?;
    }
    Ok(())
}

pub(super) fn tag(session: &SessionFile, id: &str, tag: Option<&str>) -> Result<(), SessionError> {
    let tag = tag.map(str::trim).unwrap_or_default();
    append(session, &json!({"type": "tag", "tag": tag, "sessionId": id}))
}

pub(super) fn delete(session: &SessionFile) -> Result<(), SessionError> {
    let folder = session.folder();
    gone(std::fs::remove_file(&session.path), &session.path)?;
    gone(std::fs::remove_dir_all(&folder), &folder)
}

fn gone(removed: io::Result<()>, path: &Path) -> Result<(), SessionError> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(SessionError::at(path)),
    }
}

fn append(session: &SessionFile, entry: &Value) -> Result<(), SessionError> {
    file::append(&session.path, &entry.to_string()).map_err(SessionError::at(&session.path))
}
