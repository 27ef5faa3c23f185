//! Word of calls that the hook has seen and answered by itself, for the record of the server.

use std::path::Path;

use countersign_gate::{Clock, SystemClock};
use countersign_server::{SpooledCall, SpooledLine, SpooledResult, SpooledVerdict};
use uuid::Uuid;

use super::event::Event;
use crate::commands::consent::{Call, Consent};
use crate::environment;

/// Returns word of a call and of what was said to it.
pub(super) fn call(call: &Call, consent: &Consent) -> SpooledLine {
    let (verdict, why) = match consent {
        Consent::Allowed { why, .. } => (SpooledVerdict::Allowed, why.clone()),
        Consent::Denied { why } => (SpooledVerdict::Denied, why.clone()),
        Consent::Undecided { why } => (SpooledVerdict::LeftToAgent, why.clone()),
        Consent::NotOurs => {
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
pub(super) fn result(event: &Event<'_>) -> Option<SpooledLine> {
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
