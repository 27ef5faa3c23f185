//! What a session is about, from the two ends of its file.

use std::io;
use std::time::SystemTime;

use serde::Deserialize;
use uuid::Uuid;

use super::line_file;
use super::session_files::SessionFile;
use super::transcript_entry::TranscriptEntry;
use crate::message::{ContentBlock, MessageContent};

/// As much of a prompt as makes a title.
const LONGEST_TITLE: usize = 200;

/// What a session is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// What `resume` takes.
    pub id: Uuid,
    /// What to call it: the title it was given, else one that the CLI made, else a prompt. Empty if
    /// there is none of these.
    pub summary: String,
    /// The title it was given.
    pub custom_title: Option<String>,
    /// What it began with.
    pub first_prompt: Option<String>,
    /// Where it began.
    pub cwd: Option<String>,
    /// The git branch it began on.
    pub git_branch: Option<String>,
    /// Its tag.
    pub tag: Option<String>,
    /// When it began, in RFC 3339.
    pub created_at: Option<String>,
    /// When something was last added.
    pub last_modified: SystemTime,
    /// The size of its file.
    pub file_size: u64,
    pub(super) is_sidechain: bool,
}

/// Reads what a session is about.
pub(super) fn read_session_info(session: &SessionFile) -> io::Result<SessionInfo> {
    let (start, end) = line_file::read_both_ends(&session.path)?;
    let mut found = SessionInfoScan::default();
    for line in start.lines().chain(end.lines()) {
        found.add(line.trim());
    }
    if found.summary().is_none() && session.size > line_file::END {
        // The lines at both ends are longer than what was read of them.
        found = SessionInfoScan::default();
        line_file::for_each_line(&session.path, |line| found.add(line))?;
    }
    // Newer CLIs keep the title beside the file too, for when it is in the middle of it.
    found.custom_title = found.custom_title.or_else(|| read_custom_title_file(session));
    Ok(SessionInfo {
        id: session.id,
        summary: found.summary().unwrap_or_default(),
        custom_title: found.custom_title,
        first_prompt: found.first_prompt,
        cwd: found.cwd,
        git_branch: found.git_branch,
        tag: found.tag.filter(|tag| !tag.is_empty()),
        created_at: found.created_at,
        last_modified: session.modified,
        file_size: session.size,
        is_sidechain: found.is_sidechain,
    })
}

#[derive(Default)]
struct SessionInfoScan {
    custom_title: Option<String>,
    ai_title: Option<String>,
    last_prompt: Option<String>,
    summary: Option<String>,
    first_prompt: Option<String>,
    cwd: Option<String>,
    git_branch: Option<String>,
    tag: Option<String>,
    created_at: Option<String>,
    is_sidechain: bool,
    has_said: bool,
}

impl SessionInfoScan {
    fn add(&mut self, line: &str) {
        let Some(entry) = TranscriptEntry::parse(line) else { return };
        if entry.is_conversation() && !self.has_said {
            self.has_said = true;
            self.is_sidechain = entry.is_sidechain;
        }
        if self.first_prompt.is_none() {
            self.first_prompt = typed_prompt(&entry);
        }
        // Where and when it began does not change; the rest is as it was last said.
        set_if_unset(&mut self.cwd, entry.cwd);
        set_if_unset(&mut self.git_branch, entry.git_branch);
        set_if_unset(&mut self.created_at, entry.timestamp);
        set_if_some(&mut self.custom_title, entry.custom_title);
        set_if_some(&mut self.ai_title, entry.ai_title);
        set_if_some(&mut self.last_prompt, entry.last_prompt);
        if entry.kind == "summary" {
            set_if_some(&mut self.summary, entry.summary);
        }
        if entry.kind == "tag" {
            set_if_some(&mut self.tag, entry.tag);
        }
    }

    fn summary(&self) -> Option<String> {
        let titles = [
            &self.custom_title,
            &self.ai_title,
            &self.last_prompt,
            &self.summary,
            &self.first_prompt,
        ];
        let title = titles.into_iter().flatten().find(|title| !title.trim().is_empty())?;
        Some(shorten_title(title))
    }
}

fn set_if_unset(known: &mut Option<String>, said: Option<String>) {
    if known.is_none() {
        *known = said;
    }
}

fn set_if_some(known: &mut Option<String>, said: Option<String>) {
    if said.is_some() {
        *known = said;
    }
}

/// What somebody typed; results of tools and what the CLI wraps commands in is not typed.
fn typed_prompt(entry: &TranscriptEntry<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct UserPromptBody {
        content: MessageContent,
    }

    if entry.kind != "user" || entry.is_meta {
        return None;
    }
    let said: UserPromptBody = serde_json::from_str(entry.message?.get()).ok()?;
    if said.content.blocks().iter().any(|block| matches!(block, ContentBlock::ToolResult(_))) {
        return None;
    }
    let text = said.content.text();
    let is_wrapped = ["<command-", "<local-command-", "<bash-", "<task-notification", "[Request"]
        .iter()
        .any(|start| text.trim_start().starts_with(start));
    (!is_wrapped && !text.trim().is_empty()).then(|| shorten_title(&text))
}

fn shorten_title(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_TITLE {
        return line;
    }
    let start: String = line.chars().take(LONGEST_TITLE).collect();
    format!("{}…", start.trim_end())
}

fn read_custom_title_file(session: &SessionFile) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct CustomTitleFile {
        custom_title: String,
    }

    let text = std::fs::read_to_string(session.folder().join("custom-title.json")).ok()?;
    Some(serde_json::from_str::<CustomTitleFile>(&text).ok()?.custom_title)
}
