//! The conversation in a session's file: a tree of entries, of which one branch counts.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use super::line_file;
use super::transcript_entry::TranscriptEntry;
use crate::message::{ContentBlock, Message};

/// Reads the branch that a resumed session would go on with.
///
/// The entries of a subagent's own file are all sidechain; in the session's file such are left out.
pub(super) fn read_conversation(path: &Path, is_subagent: bool) -> io::Result<Vec<Message>> {
    let mut tree = ConversationTree::default();
    line_file::for_each_line(path, |line| tree.add(line, is_subagent))?;
    Ok(tree.into_conversation())
}

#[derive(Default)]
struct ConversationTree {
    /// Every entry's parent, also of what is not said: attachments are links in the chain.
    parents: HashMap<String, Option<String>>,
    /// What was said, in the order it was written.
    said: Vec<ConversationNode>,
}

struct ConversationNode {
    uuid: String,
    is_meta: bool,
    message: Message,
}

impl ConversationTree {
    fn add(&mut self, line: &str, is_subagent: bool) {
        let Some(entry) = TranscriptEntry::parse(line) else { return };
        let Some(uuid) = entry.uuid.clone() else { return };
        if entry.is_sidechain != is_subagent || entry.team_name.is_some() {
            return;
        }
        if entry.is_conversation()
            && let Ok(message) = Message::parse(line)
        {
            self.said.push(ConversationNode {
                uuid: uuid.clone(),
                is_meta: entry.is_meta,
                message,
            });
        }
        self.parents.insert(uuid, entry.parent_uuid);
    }

    fn into_conversation(self) -> Vec<Message> {
        let mut kept = self.collect_active_branch();
        self.add_parallel_calls(&mut kept);
        let said = self.said.into_iter();
        // Lines are written as things happen, so their order is that of the conversation.
        said.filter(|said| kept.contains(&said.uuid) && !said.is_meta)
            .map(|said| said.message)
            .collect()
    }

    /// The way back from what was said last.
    fn collect_active_branch(&self) -> HashSet<String> {
        let mut kept = HashSet::new();
        let mut next = self.said.iter().rfind(|said| !said.is_meta).map(|said| said.uuid.clone());
        while let Some(uuid) = next {
            next = self.parents.get(&uuid).cloned().flatten();
            // A file that was tampered with could go round in a circle.
            if !kept.insert(uuid) {
                break;
            }
        }
        kept
    }

    /// Calls of one answer run at once: each result hangs on its own call, and only one of them is
    /// on the way back.
    fn add_parallel_calls(&self, kept: &mut HashSet<String>) {
        let answers: HashSet<&str> = self.messages_in(kept).filter_map(answer_id).collect();
        let blocks = self
            .said
            .iter()
            .filter(|said| answer_id(&said.message).is_some_and(|id| answers.contains(id)));
        let blocks: Vec<&ConversationNode> = blocks.collect();
        let calls: HashSet<&str> = blocks
            .iter()
            .flat_map(|said| said.message.tool_uses())
            .map(|call| call.id.as_str())
            .collect();
        let answered: HashSet<&str> = self.messages_in(kept).flat_map(result_ids).collect();
        let results = self.said.iter().filter(|said| {
            result_ids(&said.message).iter().any(|id| calls.contains(id) && !answered.contains(id))
        });
        let uuids: Vec<String> =
            blocks.iter().copied().chain(results).map(|said| said.uuid.clone()).collect();
        kept.extend(uuids);
    }

    fn messages_in<'a>(&'a self, kept: &'a HashSet<String>) -> impl Iterator<Item = &'a Message> {
        self.said.iter().filter(|said| kept.contains(&said.uuid)).map(|said| &said.message)
    }
}

fn answer_id(message: &Message) -> Option<&str> {
    Some(message.as_assistant()?.message.id.as_str()).filter(|id| !id.is_empty())
}

fn result_ids(message: &Message) -> Vec<&str> {
    let Message::User(said) = message else { return Vec::new() };
    let results = said.message.content.blocks().iter().filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(result.tool_use_id.as_str()),
        _ => None,
    });
    results.collect()
}
