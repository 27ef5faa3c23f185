//! `countersign hook`: answers Claude Code, which asks before it uses a tool.
//!
//! It is started for every call, so the way to an answer that the rules give is short: no runtime, no
//! connection but one to a file. Whatever goes wrong, the answer is `ask`: Claude Code's own prompt.

mod answer;
mod backup;
mod choices;
mod event;
mod install;
mod marker;
mod probe;
mod seen;
pub(crate) mod settings;
pub(crate) mod settings_files;

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use anyhow::Context;
use countersign_core::Mode;
use countersign_server::{HookSpool, SpooledLine};

use self::answer::Answer;
pub(crate) use self::choices::HookChoices;
use self::event::{Event, Kind};
use self::marker::Markers;
pub(crate) use self::probe::{probe_inside, run_by_shell};
use super::consent::{AtOnce, Call, Consent, Server, at_once};
use crate::cli::{HookArgs, HookCommand};
use crate::{environment, output, record};

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
    let Reply { answer, seen } = match read {
        Ok(_) => answered(args, &text),
        Err(error) => Answer::ask(&format!("the event could not be read: {error}")).into(),
    };
    if let Some(json) = answer.json() {
        output::whole(&json).context("the answer could not be written")?;
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
struct Reply {
    answer: Answer,
    seen: Option<SpooledLine>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self { answer, seen: None }
    }
}

/// Leaves word of a call for the server, which may be away.
fn leave_word(args: &HookArgs, line: &SpooledLine) -> anyhow::Result<()> {
    let folder = record::data_folder(args.asking.records.data.as_deref())?;
    Ok(HookSpool::in_folder(&folder).append(line)?)
}

fn answered(args: &HookArgs, text: &str) -> Reply {
    let event = match Event::read(text) {
        Ok(event) => event,
        Err(why) => return Answer::ask(&why).into(),
    };
    let kind = event.kind;
    let answering = catch_unwind(AssertUnwindSafe(|| of_event(args, event)));
    let reply = answering.unwrap_or_else(|_| Err(anyhow::anyhow!(BROKEN)));
    reply.unwrap_or_else(|error| Answer::undecided(kind, &format!("{error:#}")).into())
}

fn of_event(args: &HookArgs, event: Event<'_>) -> anyhow::Result<Reply> {
    match event.kind {
        Kind::PermissionRequest if args.again => Ok(again(args, &event).into()),
        Kind::PreToolUse | Kind::PermissionRequest => match probe::answer_to(&event) {
            Some(why) => Ok(Answer::of(event.kind, Consent::Denied { why }).into()),
            None => consent(args, event),
        },
        Kind::PostToolUse | Kind::PostToolUseFailure => {
            // Nothing waits for it: what is wrong with it is only said.
            let seen = report(args, &event).unwrap_or_else(|error| {
                output::note(&format!("Countersign: the result was not recorded: {error:#}"));
                None
            });
            Ok(Reply { answer: Answer::Nothing, seen })
        }
        Kind::Other => Ok(Answer::Nothing.into()),
    }
}

/// Answers whether a tool may be used.
fn consent(args: &HookArgs, event: Event<'_>) -> anyhow::Result<Reply> {
    let kind = event.kind;
    let call = match call(args, event)? {
        Ok(call) => call,
        Err(why) => return Ok(Answer::of(kind, Consent::Denied { why }).into()),
    };
    let (consent, is_known) = match at_once(&call, &args.asking) {
        AtOnce::Answered(consent) => (consent, false),
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
            // What the server has said, it has recorded.
            let is_known = match &consent {
                Consent::Allowed { recorded, .. } => recorded.is_some(),
                Consent::Denied { .. } => true,
                Consent::Undecided { .. } | Consent::NotOurs => false,
            };
            (consent, is_known)
        }
    };
    let seen = if is_known { None } else { Some(seen::call(&call, &consent)) };
    Ok(Reply { answer: Answer::of(kind, consent), seen })
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

/// Tells the server what came of a call that it has approved; of another, returns what it is to hear.
fn report(args: &HookArgs, event: &Event<'_>) -> anyhow::Result<Option<SpooledLine>> {
    let markers = Markers::of(&args.asking.records, &event.session_id);
    let Some(id) = event.tool_use_id.as_deref() else { return Ok(None) };
    let Some(recorded) = markers.take(id)? else { return Ok(seen::result(event)) };
    let server = Server::of(&args.asking).map_err(|why| anyhow::anyhow!("{why}"))?;
    let told = runtime()?.block_on(server.report(&recorded, &event.result()));
    told.map(|()| None).map_err(|why| anyhow::anyhow!("{why}"))
}

/// Returns the call an event is about; the inner error is why it can be no call.
fn call(args: &HookArgs, event: Event<'_>) -> anyhow::Result<Result<Call, String>> {
    let input = match event.input() {
        Ok(input) => input,
        Err(why) => return Ok(Err(why)),
    };
    let agent = event.agent();
    let cwd = event.cwd.context("the event names no folder")?;
    let root = environment::claude_project().unwrap_or_else(|| cwd.clone());
    let mode = mode(args, event.permission_mode.as_deref());
    let Event { tool_name, tool_use_id, session_id: session, .. } = event;
    Ok(Ok(Call { tool_name, input, tool_use_id, session, root, cwd, mode, agent }))
}

/// Returns the mode of a name; one that we do not have must not be taken for one that asks less.
///
/// That Claude Code asks nobody is followed only where the person has said so to us.
fn mode(args: &HookArgs, name: Option<&str>) -> Mode {
    let mode = name.and_then(|name| name.parse().ok()).unwrap_or_default();
    match mode {
        Mode::BypassPermissions
            if environment::approval_is_enforced()
                || !HookChoices::read(args.asking.records.data.as_deref()).follow_bypass =>
        {
            Mode::Default
        }
        mode => mode,
    }
}

/// One thread is enough to wait for one answer.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
