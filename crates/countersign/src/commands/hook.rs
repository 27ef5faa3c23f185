//! `countersign hook`: answers Claude Code, which asks before it uses a tool.
//!
//! It is started for every call, so the way to an answer that the rules give is short: no runtime, no
//! connection but one to a file. Whatever goes wrong, the answer is `ask`: Claude Code's own prompt.

mod answer;
mod event;
mod install;
mod marker;
mod settings;

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use anyhow::Context;
use countersign_core::Mode;

use self::answer::Answer;
use self::event::{Event, Kind};
use self::marker::Markers;
use super::consent::{AtOnce, Call, Consent, Server, at_once};
use crate::cli::{HookArgs, HookCommand};
use crate::{environment, output};

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
    let answer = match read {
        Ok(_) => answered(args, &text),
        Err(error) => Answer::ask(&format!("the event could not be read: {error}")),
    };
    match answer.json() {
        Some(json) => output::whole(&json).context("the answer could not be written"),
        None => Ok(()),
    }
}

fn answered(args: &HookArgs, text: &str) -> Answer {
    let event = match Event::read(text) {
        Ok(event) => event,
        Err(why) => return Answer::ask(&why),
    };
    let kind = event.kind;
    let answering = catch_unwind(AssertUnwindSafe(|| of_event(args, event)));
    let answer = answering.unwrap_or_else(|_| Err(anyhow::anyhow!(BROKEN)));
    answer.unwrap_or_else(|error| Answer::undecided(kind, &format!("{error:#}")))
}

fn of_event(args: &HookArgs, event: Event<'_>) -> anyhow::Result<Answer> {
    match event.kind {
        Kind::PermissionRequest if args.again => Ok(again(args, &event)),
        Kind::PreToolUse | Kind::PermissionRequest => consent(args, event),
        Kind::PostToolUse | Kind::PostToolUseFailure => {
            // Nothing waits for it: what is wrong with it is only said.
            if let Err(error) = report(args, &event) {
                output::note(&format!("Countersign: the result was not recorded: {error:#}"));
            }
            Ok(Answer::Nothing)
        }
        Kind::Other => Ok(Answer::Nothing),
    }
}

/// Answers whether a tool may be used.
fn consent(args: &HookArgs, event: Event<'_>) -> anyhow::Result<Answer> {
    let kind = event.kind;
    let call = match call(event)? {
        Ok(call) => call,
        Err(why) => return Ok(Answer::of(kind, Consent::Denied { why })),
    };
    let consent = match at_once(&call, &args.asking) {
        AtOnce::Answered(consent) => consent,
        AtOnce::Open(open) => {
            let markers = Markers::of(&args.asking.records, &call.session);
            // What was said to the same call before is not said of this one.
            markers.forget_same(&call);
            let wait = Duration::from_secs(args.wait);
            let consent = runtime()?.block_on(open.ask(&call, &args.asking, wait));
            if let Consent::Allowed { input, recorded: Some(recorded), .. } = &consent {
                let input = input.as_ref().unwrap_or(&call.input);
                if let Err(error) = markers.keep(&call, input, recorded) {
                    output::note(&format!("Countersign: the result will not be recorded: {error}"));
                }
            }
            consent
        }
    };
    Ok(Answer::of(kind, consent))
}

/// Repeats what a person has just said to the same call.
fn again(args: &HookArgs, event: &Event<'_>) -> Answer {
    let markers = Markers::of(&args.asking.records, &event.session_id);
    let input = event.input().ok();
    match input.filter(|input| markers.has_just_approved(&event.tool_name, input)) {
        Some(_) => {
            let (why, input, recorded) = ("approved in Countersign".to_owned(), None, None);
            Answer::of(event.kind, Consent::Allowed { why, input, recorded })
        }
        None => Answer::Nothing,
    }
}

/// Tells the server what came of a call that it has approved.
fn report(args: &HookArgs, event: &Event<'_>) -> anyhow::Result<()> {
    let markers = Markers::of(&args.asking.records, &event.session_id);
    let Some(id) = event.tool_use_id.as_deref() else { return Ok(()) };
    let Some(recorded) = markers.take(id)? else { return Ok(()) };
    let server = Server::of(&args.asking).map_err(|why| anyhow::anyhow!("{why}"))?;
    let told = runtime()?.block_on(server.report(&recorded, &event.result()));
    told.map_err(|why| anyhow::anyhow!("{why}"))
}

/// Returns the call an event is about; the inner error is why it can be no call.
fn call(event: Event<'_>) -> anyhow::Result<Result<Call, String>> {
    let input = match event.input() {
        Ok(input) => input,
        Err(why) => return Ok(Err(why)),
    };
    let agent = event.agent();
    let cwd = event.cwd.context("the event names no folder")?;
    let root = environment::claude_project().unwrap_or_else(|| cwd.clone());
    let mode = mode(event.permission_mode.as_deref());
    let Event { tool_name, tool_use_id, session_id: session, .. } = event;
    Ok(Ok(Call { tool_name, input, tool_use_id, session, root, cwd, mode, agent }))
}

/// Returns the mode of a name; one that we do not have must not be taken for one that asks less.
fn mode(name: Option<&str>) -> Mode {
    let mode = name.and_then(|name| name.parse().ok()).unwrap_or_default();
    match mode {
        Mode::BypassPermissions if environment::approval_is_enforced() => Mode::Default,
        mode => mode,
    }
}

/// One thread is enough to wait for one answer.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
