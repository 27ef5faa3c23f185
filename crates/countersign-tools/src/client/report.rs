//! What a client's tool gives back: the report that S2 has a client post.

use countersign_core::ToolOutput;
use serde::Serialize;

use crate::files::disk::DiskError;
use crate::files::text::size;
use crate::tool_error::ToolError;

/// The result of one call, as it goes over the wire.
#[derive(Debug, Default, Serialize)]
pub(super) struct ClientToolReport {
    pub(super) success: bool,
    pub(super) stdout: Option<String>,
    pub(super) stderr: Option<String>,
    pub(super) exit_code: Option<i32>,
    /// What is in a folder, where one was listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entries: Option<Vec<ClientFolderEntry>>,
}

/// One thing in a folder.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct ClientFolderEntry {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: ClientEntryKind,
    /// In bytes; none for what is no file.
    pub(super) size: Option<u64>,
}

/// What kind of thing that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientEntryKind {
    File,
    Directory,
    Link,
    /// A FIFO, a socket, a device.
    Other,
}

impl ClientToolReport {
    /// Returns the report of what went well and has a text to give.
    pub(super) fn from_text(text: String) -> Self {
        Self { success: true, stdout: Some(text), ..Self::default() }
    }

    /// Returns the report as its JSON text.
    pub(super) fn output(&self) -> Result<ToolOutput, ToolError> {
        let content = serde_json::to_string(self).map_err(|_| ToolError::Broken)?;
        Ok(ToolOutput { is_error: !self.success, ..ToolOutput::ok(content) })
    }
}

/// Says what the disk said, in the words of the client's tools.
pub(super) fn in_words(error: DiskError, path: &str) -> ToolError {
    match error {
        DiskError::ReadOnly => ToolError::invalid(format!(
            "`{path}` is read-only; ask the user before you change its mode with execute_command"
        )),
        DiskError::TooLarge(bytes) => ToolError::invalid(format!(
            "`{path}` has {}, which is too much to handle at once; take a part of it with \
             execute_command (`head`, `tail`, `sed -n`)",
            size(bytes)
        )),
        other => other.into_tool_error(path),
    }
}
