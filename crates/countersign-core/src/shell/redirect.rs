//! Redirections: the files and hosts they read and write.

use brush_parser::ast::{
    IoFileRedirectKind, IoFileRedirectTarget, IoHereDocument, IoRedirect, ProcessSubstitutionKind,
};

use super::canonical::{CanonicalRedirection, CanonicalWord, WordPiece};
use super::lower::{CommandLowerer, PartDraft};
use super::shell_state::ShellState;
use super::word::ExpansionMode;
use super::{WordValue, hard_denial};
use crate::Effect;

/// Files that swallow or give nothing, and the streams a command already has.
const FREE: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];

impl CommandLowerer<'_> {
    /// Adds what a redirection does to the command it stands with.
    pub(super) fn redirect(
        &mut self,
        redirect: &IoRedirect,
        draft: &mut PartDraft,
        state: &ShellState,
    ) {
        match redirect {
            IoRedirect::File(stream, kind, target) => {
                self.file(*stream, kind, target, draft, state);
            }
            IoRedirect::HereDocument(stream, document) => {
                self.only_input(*stream);
                self.document(document, draft, state);
            }
            IoRedirect::HereString(stream, word) => {
                self.only_input(*stream);
                let word = self.single(&word.value, ExpansionMode::Single, draft, state);
                draft.input = Some(word.word.effective_text().to_owned());
                draft.redirections.push(CanonicalRedirection::Text { text: word.canonical });
            }
            IoRedirect::OutputAndError(word, append) => {
                self.write(&word.value, (1, *append), false, draft, state);
                draft.redirections.push(CanonicalRedirection::Duplicate { stream: 2, to: 1 });
            }
        }
    }

    fn file(
        &mut self,
        stream: Option<i32>,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        draft: &mut PartDraft,
        state: &ShellState,
    ) {
        match (kind, target) {
            (_, IoFileRedirectTarget::Fd(other)) => {
                self.duplicate(stream, kind, Some(*other), draft);
            }
            (_, IoFileRedirectTarget::Duplicate(word)) if is_descriptor(&word.value) => {
                self.duplicate(stream, kind, word.value.parse().ok(), draft);
            }
            (IoFileRedirectKind::Read, IoFileRedirectTarget::Filename(word)) => {
                self.only_input(stream);
                self.read(&word.value, draft, state);
            }
            (IoFileRedirectKind::ReadAndWrite, IoFileRedirectTarget::Filename(word)) => {
                self.cannot_express("it reads and writes one file by one stream");
                self.write(&word.value, (1, false), true, draft, state);
            }
            (IoFileRedirectKind::DuplicateInput, IoFileRedirectTarget::Duplicate(_)) => {
                self.cannot_express("it takes its input from another stream");
                draft.opaque("it takes its input from a descriptor that is decided when it runs");
            }
            (
                kind,
                IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word),
            ) => {
                let append = matches!(kind, IoFileRedirectKind::Append);
                let both = matches!(kind, IoFileRedirectKind::DuplicateOutput);
                let stream = self.output_stream(stream);
                self.write(&word.value, (stream, append), false, draft, state);
                // `>&f` is `&>f` in another spelling.
                draft
                    .redirections
                    .extend(both.then_some(CanonicalRedirection::Duplicate { stream: 2, to: 1 }));
            }
            (_, IoFileRedirectTarget::ProcessSubstitution(kind, shell)) => {
                self.process(kind, &shell.list, draft, state);
            }
        }
    }

    /// Only the standard streams are redirected in the canonical language.
    fn output_stream(&mut self, stream: Option<i32>) -> u8 {
        match stream {
            None | Some(1) => 1,
            Some(2) => 2,
            Some(_) => {
                self.cannot_express("it uses streams beside the standard ones");
                1
            }
        }
    }

    fn only_input(&mut self, stream: Option<i32>) {
        if !matches!(stream, None | Some(0)) {
            self.cannot_express("it uses streams beside the standard ones");
        }
    }

    fn duplicate(
        &mut self,
        stream: Option<i32>,
        kind: &IoFileRedirectKind,
        other: Option<i32>,
        draft: &mut PartDraft,
    ) {
        let output = matches!(kind, IoFileRedirectKind::DuplicateOutput);
        match (self.output_stream(stream), other) {
            (stream, Some(to @ (1 | 2))) if output => {
                let to = if to == 1 { 1 } else { 2 };
                draft.redirections.push(CanonicalRedirection::Duplicate { stream, to });
            }
            _ => self.cannot_express("it closes a stream, or uses others than the standard ones"),
        }
    }

    /// `<(..)` and `>(..)`: what runs in them is judged as parts of their own.
    pub(super) fn process(
        &mut self,
        kind: &ProcessSubstitutionKind,
        list: &brush_parser::ast::CompoundList,
        draft: &mut PartDraft,
        state: &ShellState,
    ) {
        self.cannot_express("a command that runs as a file is not run without asking");
        self.subshell(list, state);
        if matches!(kind, ProcessSubstitutionKind::Write) {
            draft.opaque("it writes into another command");
        }
    }

    fn document(&mut self, document: &IoHereDocument, draft: &mut PartDraft, state: &ShellState) {
        let end = document.here_end.value.trim_matches(['\'', '"']);
        if end.is_empty() || !end.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.cannot_express("the end of a here-document is written in an unusual way");
            draft.opaque("the end of a here-document is written in an unusual way");
        }
        let body = &document.doc.value;
        let text = if document.requires_expansion {
            self.single(body, ExpansionMode::Document, draft, state).canonical
        } else {
            CanonicalWord::literal(body)
        };
        draft.input = Some(body.clone());
        match without_last_newline(text) {
            Some(text) => draft.redirections.push(CanonicalRedirection::Text { text }),
            None => self.cannot_express("its here-document does not end with a line"),
        }
    }

    fn read(&mut self, raw: &str, draft: &mut PartDraft, state: &ShellState) {
        let word = self.single(raw, ExpansionMode::Word, draft, state).word;
        match &word.value {
            WordValue::Literal(path) => {
                if is_socket(path) {
                    draft.effects.push(socket(path));
                } else if !FREE.contains(&path.as_str()) {
                    self.touch(path, Effect::Read, draft, state);
                }
                draft.redirections.push(CanonicalRedirection::Read { path: path.clone() });
            }
            WordValue::Glob(_) | WordValue::Text | WordValue::Words => {
                self.cannot_express("which file it reads is decided only when it runs");
                draft.opaque(format!("what `{raw}` names is decided only when it runs"));
            }
        }
    }

    fn write(
        &mut self,
        raw: &str,
        (stream, append): (u8, bool),
        reads: bool,
        draft: &mut PartDraft,
        state: &ShellState,
    ) {
        let word = self.single(raw, ExpansionMode::Word, draft, state).word;
        match &word.value {
            WordValue::Literal(path) => {
                if is_socket(path) {
                    draft.effects.push(socket(path));
                } else if !FREE.contains(&path.as_str()) {
                    self.denials.extend(hard_denial::check_write(path));
                    if reads {
                        self.touch(path, Effect::Read, draft, state);
                    }
                    self.touch(path, Effect::Write, draft, state);
                }
                let path = path.clone();
                draft.redirections.push(CanonicalRedirection::Write { stream, path, append });
            }
            WordValue::Glob(_) | WordValue::Text | WordValue::Words => {
                self.cannot_express("which file it writes is decided only when it runs");
                draft.opaque(format!("what `{raw}` names is decided only when it runs"));
            }
        }
    }

    fn touch(
        &mut self,
        path: &str,
        effect: fn(crate::EffectTarget) -> Effect,
        draft: &mut PartDraft,
        state: &ShellState,
    ) {
        match self.targets(path, state) {
            Ok(targets) => draft.effects.extend(targets.into_iter().map(effect)),
            Err(why) => draft.opaque(why),
        }
    }
}

/// A text that is given to a command gets its last newline back there.
fn without_last_newline(mut text: CanonicalWord) -> Option<CanonicalWord> {
    let WordPiece::Literal(last) = text.0.last_mut()? else { return None };
    last.pop().filter(|c| *c == '\n')?;
    Some(text)
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
