//! Copies of sessions.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::session_files::SessionFile;
use super::transcript_entry::TranscriptEntry;
use super::{SessionError, info, line_file};

/// How a session is copied.
#[derive(Clone, Debug, Default)]
pub struct ForkSessionOptions {
    up_to: Option<String>,
    title: Option<String>,
}

impl ForkSessionOptions {
    /// All of it, under its title and `(fork)`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Up to a message and with it, by its `uuid`.
    #[must_use]
    pub fn up_to(mut self, message: impl Into<String>) -> Self {
        self.up_to = Some(message.into());
        self
    }

    /// Under a title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

/// Fields that hold the `uuid` of another entry.
const LINKS: [&str; 4] = ["parentUuid", "logicalParentUuid", "sourceToolAssistantUUID", "leafUuid"];

pub(super) fn fork_session(
    session: &SessionFile,
    id: &str,
    fork: &ForkSessionOptions,
) -> Result<Uuid, SessionError> {
    let mut copied = TranscriptCopy {
        from: id,
        new: Uuid::new_v4(),
        uuids: HashMap::new(),
        text: String::new(),
    };
    let mut is_complete = false;
    let mut add = |line: &str| {
        if !is_complete {
            is_complete = copied.add(line).is_some_and(|uuid| Some(&uuid) == fork.up_to.as_ref());
        }
    };
    line_file::for_each_line(&session.path, &mut add)
        .map_err(SessionError::disk_error(&session.path))?;
    if let (Some(message), false) = (&fork.up_to, is_complete) {
        return Err(SessionError::NoMessage { id: id.to_owned(), message: message.clone() });
    }
    if copied.uuids.is_empty() {
        return Err(SessionError::Empty(id.to_owned()));
    }
    let title = if let Some(title) = &fork.title {
        title.trim().to_owned()
    } else {
        let info =
            info::read_session_info(session).map_err(SessionError::disk_error(&session.path))?;
        format!("{} (fork)", info.summary)
    };
    copied.push(&json!({"type": "custom-title", "customTitle": title, "sessionId": copied.new}));
    let path = session.path.with_file_name(format!("{}.jsonl", copied.new));
    line_file::create(&path, &copied.text).map_err(SessionError::disk_error(&path))?;
    Ok(copied.new)
}

struct TranscriptCopy<'a> {
    from: &'a str,
    new: Uuid,
    /// Old ids and new ones: no two entries anywhere share one.
    uuids: HashMap<String, String>,
    text: String,
}

impl TranscriptCopy<'_> {
    /// Copies an entry that is part of the conversation; returns what its id was.
    fn add(&mut self, line: &str) -> Option<String> {
        let entry = TranscriptEntry::parse(line)?;
        let is_link = matches!(entry.kind.as_str(), "user" | "assistant" | "attachment" | "system");
        let is_kept = is_link && entry.uuid.is_some() || entry.kind == "content-replacement";
        if !is_kept || entry.is_sidechain {
            return None;
        }
        let mut fields: Map<String, Value> = serde_json::from_str(line).ok()?;
        if let Some(uuid) = &entry.uuid {
            let new = Uuid::new_v4().to_string();
            self.uuids.insert(uuid.clone(), new.clone());
            fields.insert("uuid".to_owned(), json!(new));
            let from = json!({"sessionId": self.from, "messageUuid": uuid});
            fields.insert("forkedFrom".to_owned(), from);
        }
        for link in LINKS {
            if let Some(Value::String(old)) = fields.get_mut(link)
                && let Some(new) = self.uuids.get(old)
            {
                old.clone_from(new);
            }
        }
        fields.insert("sessionId".to_owned(), json!(self.new));
        self.push(&Value::Object(fields));
        entry.uuid
    }

    fn push(&mut self, entry: &Value) {
        self.text.push_str(&entry.to_string());
        self.text.push('\n');
    }
}
