//! Markers: which calls of a conversation the server has approved, until they are done.
//!
//! A hook is a new process for every event. What the one before a call has to tell the one after it lies
//! in the data folder, a small file per call.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use countersign_client::consent::{ConsentRequest, ServerCallRef};
use countersign_core::{Digest, canonical_json};
use countersign_gate::{Clock, SystemClock};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cli::DatabaseArgs;
use crate::data_paths;

/// For how long a person's word holds for a question about the same call.
const JUST: i64 = 30;

/// After this many seconds a conversation that left something behind is forgotten.
const LONG_AGO: i64 = 7 * 24 * 3600;

/// The markers of one conversation.
pub(crate) struct ApprovalMarkers {
    data: Option<PathBuf>,
    /// None where there is no data folder.
    folder: Option<PathBuf>,
}

#[derive(Deserialize, Serialize)]
struct ApprovalMarker {
    project: String,
    tool_id: String,
    /// The digest of tool and input, as approved.
    call: Digest,
    at: Timestamp,
}

impl ApprovalMarkers {
    pub(crate) fn for_session(records: &DatabaseArgs, session: &str) -> Self {
        let data = data_paths::data_path(records.data.as_deref());
        let folder = data.as_ref().map(|data| all(data).join(name(session)));
        Self { data: records.data.clone(), folder }
    }

    /// Keeps that a call was approved, with the input it was approved with.
    pub(crate) fn keep(
        &self,
        call: &ConsentRequest,
        input: &Value,
        recorded: &ServerCallRef,
    ) -> anyhow::Result<()> {
        let (Some(id), Some(folder)) = (&call.tool_use_id, &self.folder) else { return Ok(()) };
        forget_old(&all(&data_paths::data_folder(self.data.as_deref())?));
        fs::create_dir_all(folder)?;
        let ServerCallRef { project, tool_id } = recorded.clone();
        let call = digest(&call.tool_name, input);
        let marker = ApprovalMarker { project, tool_id, call, at: SystemClock.now() };
        fs::write(folder.join(name(id)), serde_json::to_vec(&marker)?)?;
        Ok(())
    }

    /// Forgets what was said to a call like this one.
    pub(crate) fn forget_same(&self, call: &ConsentRequest) {
        let same = digest(&call.tool_name, &call.input);
        for (file, _) in self.read_markers().filter(|(_, marker)| marker.call == same) {
            // It may be gone already.
            let _ = fs::remove_file(file);
        }
    }

    /// Returns whether a person approved exactly this a moment ago.
    pub(crate) fn has_just_approved(&self, tool: &str, input: &Value) -> bool {
        let (call, now) = (digest(tool, input), SystemClock.now());
        self.read_markers().any(|(_, marker)| {
            let age = now.duration_since(marker.at).as_secs();
            marker.call == call && (0..=JUST).contains(&age)
        })
    }

    /// Takes the marker of a call that is done. Mostly there is none: then this costs one look.
    pub(crate) fn take(&self, tool_use_id: &str) -> anyhow::Result<Option<ServerCallRef>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let file = folder.join(name(tool_use_id));
        let marker = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        fs::remove_file(&file)?;
        // The last one takes the folder with it; where there are others, that fails.
        let _ = fs::remove_dir(folder);
        let ApprovalMarker { project, tool_id, .. } = serde_json::from_slice(&marker)?;
        Ok(Some(ServerCallRef { project, tool_id }))
    }

    fn read_markers(&self) -> impl Iterator<Item = (PathBuf, ApprovalMarker)> {
        let files = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        files.into_iter().flatten().filter_map(|file| {
            let file = file.ok()?.path();
            let marker = serde_json::from_slice(&fs::read(&file).ok()?).ok()?;
            Some((file, marker))
        })
    }
}

fn all(data: &Path) -> PathBuf {
    data.join("hook")
}

/// Returns a name for a file that a text of others cannot choose.
fn name(text: &str) -> String {
    Digest::for_bytes(text.as_bytes()).as_str().chars().take(32).collect()
}

fn digest(tool: &str, input: &Value) -> Digest {
    Digest::for_bytes(canonical_json(&json!([tool, input])).as_bytes())
}

/// Removes what calls left behind that never came to an end.
fn forget_old(all: &Path) {
    let Ok(folders) = fs::read_dir(all) else { return };
    for folder in folders.filter_map(Result::ok) {
        if is_old(&folder).unwrap_or(false) {
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

fn is_old(folder: &fs::DirEntry) -> io::Result<bool> {
    let changed = Timestamp::try_from(folder.metadata()?.modified()?).map_err(io::Error::other)?;
    Ok(SystemClock.now().duration_since(changed).as_secs() > LONG_AGO)
}
