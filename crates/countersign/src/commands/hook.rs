//! `countersign hook`: answers Claude Code, which asks before it uses a tool.
//!
//! It is started for every call, so the way to an answer that the rules give is short: no runtime, no
//! connection but one to a file. Whatever goes wrong, the answer is `ask`: Claude Code's own prompt.

mod install;

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use anyhow::Context;
use countersign_client::consent::{ConsentAnswer, ConsentRequest, RulesAnswer, answer_from_rules};
use countersign_core::PermissionMode;
use countersign_server::{HookSpool, SpooledLine};

use crate::claude_hook::answer::HookAnswer;
use crate::claude_hook::choices::HookChoices;
use crate::claude_hook::event::{ReceivedHookEvent, ReceivedHookKind};
use crate::claude_hook::marker::ApprovalMarkers;
use crate::claude_hook::{probe, spool_lines};
use crate::cli::{HookArgs, HookCommand};
use crate::consent_setup::{ask_server, consent_client, local_rules_place};
use crate::runtime::small_runtime;
use crate::{data_paths, environment, output};

/// Above this many bytes an event is not read.
const LONGEST: u64 = 64 * 1024 * 1024;

/// What is said when something of ours breaks.
const BROKEN: &str = "Countersign could not judge this call: this is a fault of its own";

pub(crate) fn run(args: &HookArgs) -> anyhow::Result<()> {
    match &args.what {
        None => answer(args),
        Some(HookCommand::Install(install)) => install::install(install),
        Some(HookCommand::Uninstall(uninstall)) => install::uninstall(uninstall),
    }
}

/// Reads an event and answers it. Only an answer that cannot be written is an error.
fn answer(args: &HookArgs) -> anyhow::Result<()> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(LONGEST).read_to_string(&mut text);
    let HookEventReply { answer, seen } = match read {
        Ok(_) => reply_to_text(args, &text),
        Err(error) => HookAnswer::ask(&format!("the event could not be read: {error}")).into(),
    };
    if let Some(json) = answer.json() {
        output::write_line(&json).context("the answer could not be written")?;
    }
    // The answer is out: nobody waits for the record of it.
    if let Some(line) = seen
        && let Err(error) = leave_word(args, &line)
    {
        output::note(&format!("Countersign: the call will not be recorded: {error:#}"));
    }
    Ok(())
}

/// What is said to an event, and what the server is to hear of it.
struct HookEventReply {
    answer: HookAnswer,
    seen: Option<SpooledLine>,
}

impl From<HookAnswer> for HookEventReply {
    fn from(answer: HookAnswer) -> Self {
        Self { answer, seen: None }
    }
}

/// Leaves word of a call for the server, which may be away.
fn leave_word(args: &HookArgs, line: &SpooledLine) -> anyhow::Result<()> {
    let folder = data_paths::data_folder(args.asking.records.data.as_deref())?;
    Ok(HookSpool::in_folder(&folder).append(line)?)
}

fn reply_to_text(args: &HookArgs, text: &str) -> HookEventReply {
    let event = match ReceivedHookEvent::read(text) {
        Ok(event) => event,
        Err(why) => return HookAnswer::ask(&why).into(),
    };
    let kind = event.kind;
    let answering = catch_unwind(AssertUnwindSafe(|| reply_to_event(args, event)));
    let reply = answering.unwrap_or_else(|_| Err(anyhow::anyhow!(BROKEN)));
    reply.unwrap_or_else(|error| HookAnswer::undecided(kind, &format!("{error:#}")).into())
}

fn reply_to_event(args: &HookArgs, event: ReceivedHookEvent<'_>) -> anyhow::Result<HookEventReply> {
    match event.kind {
        ReceivedHookKind::PermissionRequest if args.again => {
            Ok(repeat_approval(args, &event).into())
        }
        ReceivedHookKind::PreToolUse | ReceivedHookKind::PermissionRequest => {
            match probe::answer_to(&event) {
                Some(why) => {
                    Ok(HookAnswer::from_consent(event.kind, ConsentAnswer::Denied { why }).into())
                }
                None => consent(args, event),
            }
        }
        ReceivedHookKind::PostToolUse | ReceivedHookKind::PostToolUseFailure => {
            // Nothing waits for it: what is wrong with it is only said.
            let seen = report(args, &event).unwrap_or_else(|error| {
                output::note(&format!("Countersign: the result was not recorded: {error:#}"));
                None
            });
            Ok(HookEventReply { answer: HookAnswer::Nothing, seen })
        }
        ReceivedHookKind::Other => Ok(HookAnswer::Nothing.into()),
    }
}

/// Answers whether a tool may be used.
fn consent(args: &HookArgs, event: ReceivedHookEvent<'_>) -> anyhow::Result<HookEventReply> {
    let kind = event.kind;
    let call = match call(args, event)? {
        Ok(call) => call,
        Err(why) => return Ok(HookAnswer::from_consent(kind, ConsentAnswer::Denied { why }).into()),
    };
    let (consent, is_known) = match answer_from_rules(&call, &local_rules_place(&args.asking)) {
        RulesAnswer::Answered(consent) => (consent, false),
        RulesAnswer::Open(open) => {
            let markers = ApprovalMarkers::for_session(&args.asking.records, &call.session);
            // What was said to the same call before is not said of this one.
            markers.forget_same(&call);
            let wait = Duration::from_secs(args.wait);
            let consent = small_runtime()?.block_on(ask_server(*open, &call, &args.asking, wait));
            if let ConsentAnswer::Allowed { input, recorded: Some(recorded), .. } = &consent {
                let input = input.as_ref().unwrap_or(&call.input);
                if let Err(error) = markers.keep(&call, input, recorded) {
                    output::note(&format!("Countersign: the result will not be recorded: {error}"));
                }
            }
            // What the server has said, it has recorded.
            let is_known = match &consent {
                ConsentAnswer::Allowed { recorded, .. } => recorded.is_some(),
                ConsentAnswer::Denied { .. } => true,
                ConsentAnswer::Undecided { .. } | ConsentAnswer::NotOurs => false,
            };
            (consent, is_known)
        }
    };
    let seen = if is_known { None } else { Some(spool_lines::spooled_call(&call, &consent)) };
    Ok(HookEventReply { answer: HookAnswer::from_consent(kind, consent), seen })
}

/// Repeats what a person has just said to the same call.
fn repeat_approval(args: &HookArgs, event: &ReceivedHookEvent<'_>) -> HookAnswer {
    let markers = ApprovalMarkers::for_session(&args.asking.records, &event.session_id);
    let input = event.input().ok();
    match input.filter(|input| markers.has_just_approved(&event.tool_name, input)) {
        Some(_) => {
            let (why, input, recorded) = ("approved in Countersign".to_owned(), None, None);
            HookAnswer::from_consent(event.kind, ConsentAnswer::Allowed { why, input, recorded })
        }
        None => HookAnswer::Nothing,
    }
}

/// Tells the server what came of a call that it has approved; of another, returns what it is to hear.
fn report(args: &HookArgs, event: &ReceivedHookEvent<'_>) -> anyhow::Result<Option<SpooledLine>> {
    let markers = ApprovalMarkers::for_session(&args.asking.records, &event.session_id);
    let Some(id) = event.tool_use_id.as_deref() else { return Ok(None) };
    let Some(recorded) = markers.take(id)? else { return Ok(spool_lines::spooled_result(event)) };
    let server = consent_client(&args.asking).map_err(|why| anyhow::anyhow!("{why}"))?;
    let told = small_runtime()?.block_on(server.report(&recorded, &event.result()));
    told.map(|()| None).map_err(|why| anyhow::anyhow!("{why}"))
}

/// Returns the call an event is about; the inner error is why it can be no call.
fn call(
    args: &HookArgs,
    event: ReceivedHookEvent<'_>,
) -> anyhow::Result<Result<ConsentRequest, String>> {
    let input = match event.input() {
        Ok(input) => input,
        Err(why) => return Ok(Err(why)),
    };
    let agent = event.agent();
    let cwd = event.cwd.context("the event names no folder")?;
    let root = environment::claude_project().unwrap_or_else(|| cwd.clone());
    let agent_decides = event.permission_mode.as_deref() == Some(AUTO_MODE);
    let mode = mode(args, event.permission_mode.as_deref());
    let ReceivedHookEvent { tool_name, tool_use_id, session_id: session, .. } = event;
    Ok(Ok(ConsentRequest {
        tool_name,
        input,
        tool_use_id,
        session,
        root,
        cwd,
        mode,
        agent_decides,
        agent,
    }))
}

/// The mode in which Claude Code decides by a model of its own. It is no mode of ours: denials hold, the
/// few calls that a person should see are asked about, and the rest is left to Claude Code.
const AUTO_MODE: &str = "auto";

/// Returns the mode of a name; one that we do not have must not be taken for one that asks less.
///
/// That Claude Code asks nobody is followed only where the person has said so to us.
fn mode(args: &HookArgs, name: Option<&str>) -> PermissionMode {
    let mode = name.and_then(|name| name.parse().ok()).unwrap_or_default();
    match mode {
        PermissionMode::BypassPermissions
            if environment::approval_is_enforced()
                || !HookChoices::read(args.asking.records.data.as_deref()).follow_bypass =>
        {
            PermissionMode::Default
        }
        mode => mode,
    }
}
