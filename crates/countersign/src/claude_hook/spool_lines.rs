//! Word of calls that the hook has seen and answered by itself, for the record of the server.

use std::path::Path;

use countersign_client::consent::{ConsentAnswer, ConsentRequest};
use countersign_gate::{Clock, SystemClock};
use countersign_server::{SpooledCall, SpooledLine, SpooledResult, SpooledVerdict};
use uuid::Uuid;

use super::event::ReceivedHookEvent;
use crate::environment;

/// Returns word of a call and of what was said to it.
pub(crate) fn spooled_call(call: &ConsentRequest, consent: &ConsentAnswer) -> SpooledLine {
    let (verdict, why) = match consent {
        ConsentAnswer::Allowed { why, .. } => (SpooledVerdict::Allowed, why.clone()),
        ConsentAnswer::Denied { why } => (SpooledVerdict::Denied, why.clone()),
        ConsentAnswer::Undecided { why } => (SpooledVerdict::LeftToAgent, why.clone()),
        ConsentAnswer::NotOurs => {
            (SpooledVerdict::LeftToAgent, "Claude Code asks its person itself".to_owned())
        }
    };
    // Without an id of the agent's, no result can be told of it; it is still one call.
    let tool_use_id = call.tool_use_id.clone();
    SpooledLine::Call(SpooledCall {
        at: SystemClock.now(),
        root: resolved(&call.root),
        cwd: resolved(&call.cwd),
        session_id: call.session.clone(),
        tool_use_id: tool_use_id.unwrap_or_else(|| format!("hook-{}", Uuid::now_v7())),
        tool_name: call.tool_name.clone(),
        tool_input: call.input.clone(),
        agent: call.agent.clone(),
        verdict,
        why,
    })
}

/// Returns word of what came of a call; none where the event does not say of which.
pub(crate) fn spooled_result(event: &ReceivedHookEvent<'_>) -> Option<SpooledLine> {
    let root = environment::claude_project().or_else(|| event.cwd.clone())?;
    Some(SpooledLine::Result(SpooledResult {
        root: resolved(&root),
        session_id: event.session_id.clone(),
        tool_use_id: event.tool_use_id.clone()?,
        outcome: event.result(),
    }))
}

fn resolved(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.to_string_lossy().into_owned()
}
