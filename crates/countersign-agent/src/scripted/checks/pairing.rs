//! Each call is answered, once, at the start of the message after it.

use std::collections::HashSet;

use super::{IndexedBlock, MergedMessage, ScriptedApiError};

pub(super) fn check(turns: &[MergedMessage<'_>]) -> Result<(), ScriptedApiError> {
    let mut seen = HashSet::new();
    let mut open: Option<(usize, Vec<&str>)> = None;
    for turn in turns {
        if turn.is_user {
            answers(turn, open.take())?;
        } else {
            open = Some((turn.number, calls(turn, &mut seen)?));
        }
    }
    Ok(())
}

/// Returns the ids of the calls in an answer.
fn calls<'a>(
    turn: &'a MergedMessage<'_>,
    seen: &mut HashSet<&'a str>,
) -> Result<Vec<&'a str>, ScriptedApiError> {
    let mut ids = Vec::new();
    for block in turn.blocks.iter().filter(|block| block.kind() == "tool_use") {
        let id = block.text("id").unwrap_or_default();
        if !seen.insert(id) {
            return Err(block.refuse(": `tool_use` ids must be unique"));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// Checks the results in a message against the calls before it.
fn answers(
    turn: &MergedMessage<'_>,
    calls: Option<(usize, Vec<&str>)>,
) -> Result<(), ScriptedApiError> {
    let (number, calls) = calls.unwrap_or_default();
    let is_result = |block: &&IndexedBlock<'_>| block.kind() == "tool_result";
    let mut answered = HashSet::new();
    for block in turn.blocks.iter().filter(is_result) {
        let id = block.text("tool_use_id").unwrap_or_default();
        if !calls.contains(&id) {
            return Err(block.refuse(&format!(
                ": unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
                 block must have a corresponding `tool_use` block in the previous message."
            )));
        }
        if !answered.insert(id) {
            return Err(block.refuse(&format!(
                ": each tool_use must have a single result. Found multiple `tool_result` blocks \
                 with id: {id}"
            )));
        }
    }
    // Whatever comes before the results hides them.
    let first: HashSet<&str> = turn
        .blocks
        .iter()
        .take_while(is_result)
        .filter_map(|block| block.text("tool_use_id"))
        .collect();
    let missing: Vec<&str> = calls.into_iter().filter(|id| !first.contains(id)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(ScriptedApiError::invalid(format!(
        "messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately \
         after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next \
         message.",
        missing.join(", ")
    )))
}
