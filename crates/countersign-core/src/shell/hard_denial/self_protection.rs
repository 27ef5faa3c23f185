//! Our own state and approval channel: a call may not decide on itself.

use std::path::Path;

use super::super::{CommandWord, HardDenial, ShellContext, program_traits};
use super::deny;
use crate::{Effect, EffectTarget, WorkspaceSide};

/// Files that hold what was asked and decided, wherever they lie.
const STATE_FILES: &[&str] = &["countersign.db", "countersign.db-wal", "countersign.db-shm"];

pub(super) fn check_effects(
    effects: &[Effect],
    argv: &[CommandWord],
    context: &ShellContext<'_>,
) -> Option<HardDenial> {
    let is_ours = |path: &Path| {
        let kept = context.own.iter().any(|own| path.starts_with(own) || own.starts_with(path));
        kept || path.components().any(|it| is_state_name(&it.as_os_str().to_string_lossy()))
    };
    let touches = effects.iter().any(|effect| match effect {
        // To look at a folder above our state, or at a project's own notes, is no harm.
        Effect::Read(EffectTarget { path, place, .. })
        | Effect::ReadAll(EffectTarget { path, place, .. }) => {
            place.side == WorkspaceSide::Outside
                && is_ours(path)
                && !context.own.iter().any(|own| own.starts_with(path) && own != path)
        }
        Effect::Write(target) | Effect::Delete(target) | Effect::DeleteAll(target) => {
            is_ours(&target.path)
        }
        Effect::Rename { from, to } => is_ours(&from.path) || is_ours(&to.path),
        // What a program does with its words is not known: none of them may name our state.
        Effect::Exec { .. } | Effect::ReadsByName { .. } => {
            argv.iter().any(|word| names_state(word, context))
        }
        _ => false,
    });
    touches.then_some("it touches the state of Countersign itself").map(deny)
}

fn names_state(word: &CommandWord, context: &ShellContext<'_>) -> bool {
    let text = if word.literal().is_some() { word.effective_text() } else { &word.text };
    let named = text.split(|c: char| "/='\":,; ()".contains(c)).any(is_state_name);
    let kept = || context.own.iter().filter_map(|own| own.to_str()).any(|own| text.contains(own));
    (named && (text.contains('/') || is_state_name(text))) || kept()
}

fn is_state_name(name: &str) -> bool {
    name.eq_ignore_ascii_case(".countersign")
        || STATE_FILES.iter().any(|file| name.eq_ignore_ascii_case(file))
}

/// Our own program and our own server decide on calls; a call may not decide on itself.
pub(super) fn check_call(name: &str, args: &[CommandWord]) -> Option<HardDenial> {
    let harmless = ["--version", "-V", "--help", "-h", "help", "policy", "bench", "openapi"];
    let decides = name == "countersign"
        && !args.first().is_some_and(|word| harmless.contains(&word.effective_text()));
    let local = |text: &str| {
        ["localhost", "127.", "[::1]", "0.0.0.0"].iter().any(|host| text.contains(host))
    };
    let ours = |text: &str| {
        [":4180", "/api/approvals", "/api/terminal", "/decision"].iter().any(|it| text.contains(it))
    };
    let channel = program_traits::is_network(name) || program_traits::is_interpreter(name);
    // On whatever host the gate listens, nobody else has such an address.
    let decision = |text: &str| {
        text.contains("/approvals/")
            && ["/approve", "/decision", "/deny"].iter().any(|it| text.contains(it))
    };
    let reaches = channel
        && args
            .iter()
            .map(CommandWord::effective_text)
            .any(|text| decision(text) || (local(text) && ours(text)));
    let shows =
        matches!(name, "printenv" | "env") && args.iter().any(|it| is_key(it.effective_text()));
    (decides || reaches || shows).then_some("it reaches for Countersign's own approvals").map(deny)
}

/// Returns the hard denial of a word that shows one of our own variables.
pub(in super::super) fn check_variable(raw: &str) -> Option<HardDenial> {
    let mut names = raw.split('$').skip(1).map(|name| name.trim_start_matches(['{', '#', '!']));
    names.any(is_key).then_some("it shows what lets one decide on calls").map(deny)
}

fn is_key(name: &str) -> bool {
    name.starts_with("COUNTERSIGN_TOKEN") || name.starts_with("COUNTERSIGN_KEY")
}
