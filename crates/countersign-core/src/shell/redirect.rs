//! Redirections: the files and hosts they read and write.

use brush_parser::ast::{
    IoFileRedirectKind, IoFileRedirectTarget, IoHereDocument, IoRedirect, ProcessSubstitutionKind,
};

use super::lower::{Draft, Lowering};
use super::state::State;
use super::word::Mode;
use super::{Value, floor};
use crate::Effect;

/// Files that swallow or give nothing, and the streams a command already has.
const FREE: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];

impl Lowering<'_> {
    /// Adds what a redirection does to the command it stands with.
    pub(super) fn redirect(&mut self, redirect: &IoRedirect, draft: &mut Draft, state: &State) {
        match redirect {
            IoRedirect::File(_, kind, target) => self.file(kind, target, draft, state),
            IoRedirect::HereDocument(_, document) => self.document(document, draft, state),
            IoRedirect::HereString(_, word) => {
                let word = self.word(&word.value, Mode::Word, draft, state);
                draft.input = Some(word.shown().to_owned());
            }
            IoRedirect::OutputAndError(word, _) => self.write(&word.value, false, draft, state),
        }
    }

    fn file(
        &mut self,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        draft: &mut Draft,
        state: &State,
    ) {
        match (kind, target) {
            (_, IoFileRedirectTarget::Fd(_)) => {}
            (_, IoFileRedirectTarget::Duplicate(word)) if is_descriptor(&word.value) => {}
            (IoFileRedirectKind::Read, IoFileRedirectTarget::Filename(word)) => {
                self.read(&word.value, draft, state);
            }
            (IoFileRedirectKind::ReadAndWrite, IoFileRedirectTarget::Filename(word)) => {
                self.write(&word.value, true, draft, state);
            }
            (IoFileRedirectKind::DuplicateInput, IoFileRedirectTarget::Duplicate(_)) => {
                draft.opaque("it takes its input from a descriptor that is decided when it runs");
            }
            (_, IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word)) => {
                self.write(&word.value, false, draft, state);
            }
            (_, IoFileRedirectTarget::ProcessSubstitution(kind, shell)) => {
                self.process(kind, &shell.list, draft, state);
            }
        }
    }

    /// `<(..)` and `>(..)`: what runs in them is judged as parts of their own.
    pub(super) fn process(
        &mut self,
        kind: &ProcessSubstitutionKind,
        list: &brush_parser::ast::CompoundList,
        draft: &mut Draft,
        state: &State,
    ) {
        self.subshell(list, state);
        if matches!(kind, ProcessSubstitutionKind::Write) {
            draft.opaque("it writes into another command");
        }
    }

    fn document(&mut self, document: &IoHereDocument, draft: &mut Draft, state: &State) {
        let end = document.here_end.value.trim_matches(['\'', '"']);
        if end.is_empty() || !end.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            draft.opaque("the end of a here-document is written in an unusual way");
        }
        let body = &document.doc.value;
        if document.requires_expansion {
            self.word(body, Mode::Document, draft, state);
        }
        draft.input = Some(body.clone());
    }

    fn read(&mut self, raw: &str, draft: &mut Draft, state: &State) {
        let word = self.word(raw, Mode::Word, draft, state);
        match &word.value {
            Value::Literal(path) if FREE.contains(&path.as_str()) => {}
            Value::Literal(path) if is_socket(path) => draft.effects.push(socket(path)),
            Value::Literal(path) => self.touch(path, Effect::Read, draft, state),
            Value::Glob(_) | Value::Text | Value::Words => {
                draft.opaque(format!("what `{raw}` names is decided only when it runs"));
            }
        }
    }

    fn write(&mut self, raw: &str, reads: bool, draft: &mut Draft, state: &State) {
        let word = self.word(raw, Mode::Word, draft, state);
        match &word.value {
            Value::Literal(path) if FREE.contains(&path.as_str()) => {}
            Value::Literal(path) if is_socket(path) => draft.effects.push(socket(path)),
            Value::Literal(path) => {
                self.floors.extend(floor::of_write(path));
                if reads {
                    self.touch(path, Effect::Read, draft, state);
                }
                self.touch(path, Effect::Write, draft, state);
            }
            Value::Glob(_) | Value::Text | Value::Words => {
                draft.opaque(format!("what `{raw}` names is decided only when it runs"));
            }
        }
    }

    fn touch(
        &mut self,
        path: &str,
        effect: fn(crate::Target) -> Effect,
        draft: &mut Draft,
        state: &State,
    ) {
        match self.targets(path, state) {
            Ok(targets) => draft.effects.extend(targets.into_iter().map(effect)),
            Err(why) => draft.opaque(why),
        }
    }
}

fn is_descriptor(word: &str) -> bool {
    let digits = word.strip_suffix('-').unwrap_or(word);
    word == "-" || (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Bash opens a connection for these names; they are no files.
fn is_socket(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

fn socket(path: &str) -> Effect {
    Effect::Net { host: path.split('/').nth(3).map(str::to_owned) }
}
