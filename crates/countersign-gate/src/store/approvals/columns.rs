//! The columns that a call is made of again: without secrets in its own row, in clear beside it.

use std::borrow::Cow;

use countersign_core::shell::{Canonical, Part};
use countersign_core::{
    Approval, Attachment, Basis, Digest, Effect, Preview, Secrets, State, ToolCall, Verdict,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json as object};

use crate::store::{StoreError, from_json, json};

/// From this length on a result has a place of its own.
pub(super) const LONG: usize = 4096;

/// The part of an approval that never changes, as it stands in the `request` column.
#[derive(Serialize, Deserialize)]
pub(super) struct Request<'a> {
    pub(super) call: Cow<'a, ToolCall>,
    pub(super) effects: Cow<'a, [Effect]>,
    pub(super) summary: Cow<'a, str>,
    pub(super) verdict: Cow<'a, Verdict>,
    pub(super) created_at: Timestamp,
    #[serde(default)]
    pub(super) commands: Cow<'a, [Part]>,
    #[serde(default)]
    pub(super) basis: Cow<'a, Basis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) canonical: Option<Cow<'a, Canonical>>,
}

/// A result that has a place of its own: a text, or what was shown beside it as well.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Long<'a> {
    Text(Cow<'a, str>),
    Whole { result: Cow<'a, str>, attachments: Cow<'a, [Attachment]> },
}

/// One text of a row: as it is kept, and in clear where that is another.
pub(super) struct Kept {
    pub(super) text: String,
    pub(super) clear: Option<String>,
}

impl Kept {
    fn new(text: String, clear: String) -> Self {
        Self { clear: (clear != text).then_some(clear), text }
    }
}

/// What the row of a call says of its request, which stays as it is until a person changes it.
pub(super) struct RequestColumns {
    pub(super) request: Kept,
    pub(super) preview: Option<Kept>,
}

impl RequestColumns {
    pub(super) fn of(approval: &Approval, secrets: &Secrets) -> Result<Self, StoreError> {
        let request = request(approval, secrets)?;
        let preview = approval.preview.as_ref().map(|it| preview(it, secrets)).transpose()?;
        Ok(Self { request, preview })
    }

    pub(super) fn has_secrets(&self) -> bool {
        self.request.clear.is_some() || self.preview.as_ref().is_some_and(|it| it.clear.is_some())
    }

    pub(super) fn length(&self) -> usize {
        self.request.text.len() + self.preview.as_ref().map_or(0, |it| it.text.len())
    }
}

/// Returns the secrets that a call gives away.
pub(in crate::store) fn secrets_of(approval: &Approval) -> Secrets {
    let mut secrets = Secrets::found_in(&approval.call.input);
    if let Some(original) = &approval.basis.edited_from {
        secrets.learn(original);
    }
    secrets
}

fn request(approval: &Approval, secrets: &Secrets) -> Result<Kept, StoreError> {
    let request = Request {
        call: Cow::Borrowed(&approval.call),
        effects: Cow::Borrowed(&approval.effects),
        summary: Cow::Borrowed(&approval.summary),
        verdict: Cow::Borrowed(&approval.verdict),
        created_at: approval.created_at,
        commands: Cow::Borrowed(&approval.commands),
        basis: Cow::Borrowed(&approval.basis),
        canonical: approval.canonical.as_ref().map(Cow::Borrowed),
    };
    let clear = to_value(&request)?;
    let mut kept = clear.clone();
    for (name, part) in kept.as_object_mut().into_iter().flatten() {
        match name.as_str() {
            // The ids of a call are others' to choose, and found by.
            "call" => part.get_mut("input").into_iter().for_each(|it| *it = secrets.hide_in(it)),
            "created_at" => {}
            _ => *part = secrets.hide_in(part),
        }
    }
    let text = json(&request)?;
    if kept == clear {
        return Ok(Kept { text, clear: None });
    }
    Ok(Kept::new(readable_request(kept)?, text))
}

/// Returns a masked request as text. What cannot be read again without its secrets is left out.
fn readable_request(mut kept: Value) -> Result<String, StoreError> {
    if Request::deserialize(&kept).is_ok() {
        return json(&kept);
    }
    let bare = [("effects", object!([])), ("commands", object!([])), ("canonical", Value::Null)];
    let bare = bare.into_iter().chain([("basis", object!({}))]);
    if let Some(fields) = kept.as_object_mut() {
        fields.extend(bare.map(|(name, value)| (name.to_owned(), value)));
    }
    Request::deserialize(&kept).map_err(|error| StoreError::corrupt("request", error))?;
    json(&kept)
}

fn preview(preview: &Preview, secrets: &Secrets) -> Result<Kept, StoreError> {
    let clear = to_value(preview)?;
    let kept = secrets.hide_in(&clear);
    let text = json(preview)?;
    if kept == clear {
        return Ok(Kept { text, clear: None });
    }
    if Preview::deserialize(&kept).is_ok() {
        return Ok(Kept::new(json(&kept)?, text));
    }
    let bare = Preview::Generic { input: object!({}), preimages: Vec::new() };
    Ok(Kept::new(json(&bare)?, text))
}

/// What the row of a call says of its state, and where a long result has its place.
pub(super) struct StateColumns {
    /// The state without secrets, whole.
    pub(super) shown: State,
    pub(super) state: String,
    pub(super) long: Option<String>,
    /// The whole state, where it has secrets.
    pub(super) clear: Option<String>,
}

impl StateColumns {
    pub(super) fn of(state: &State, secrets: &Secrets) -> Result<Self, StoreError> {
        let shown = state.without_secrets(secrets);
        let clear = (shown != *state).then(|| json(state)).transpose()?;
        Ok(Self { state: state_text(&shown)?, long: long_result(&shown)?, shown, clear })
    }
}

/// The state as its column has it: without a result that has a place of its own.
fn state_text(state: &State) -> Result<String, StoreError> {
    match state {
        State::Completed { by, approved_at, since, at, is_error, reported, .. }
            if is_long(state) =>
        {
            json(&State::Completed {
                by: by.clone(),
                approved_at: *approved_at,
                since: *since,
                at: *at,
                is_error: *is_error,
                result: String::new(),
                attachments: Vec::new(),
                reported: *reported,
            })
        }
        state => json(state),
    }
}

pub(super) fn is_long(state: &State) -> bool {
    match state {
        State::Completed { result, attachments, .. } => {
            result.len() > LONG || !attachments.is_empty()
        }
        _ => false,
    }
}

fn long_result(state: &State) -> Result<Option<String>, StoreError> {
    let State::Completed { result, attachments, .. } = state else { return Ok(None) };
    if !is_long(state) {
        return Ok(None);
    }
    let result = Cow::Borrowed(result.as_str());
    let body = if attachments.is_empty() {
        Long::Text(result)
    } else {
        Long::Whole { result, attachments: attachments.into() }
    };
    json(&body).map(Some)
}

/// Puts a long result back into its state.
pub(super) fn put_back(state: &mut State, long: Option<&str>) -> Result<(), StoreError> {
    if let (State::Completed { result, attachments, .. }, Some(long)) = (state, long) {
        (*result, *attachments) = match from_json("result", long)? {
            Long::Text(text) => (text.into_owned(), Vec::new()),
            Long::Whole { result, attachments } => (result.into_owned(), attachments.into_owned()),
        };
    }
    Ok(())
}

/// Returns the digest of what is left of a call whose secrets are masked, as its columns have it.
pub(in crate::store) fn digest_of(
    request: &str,
    preview: Option<&str>,
    state: &str,
    long: Option<&str>,
) -> Digest {
    let parts = [request, preview.unwrap_or_default(), state, long.unwrap_or_default()];
    Digest::of_parts(parts.map(str::as_bytes))
}

fn to_value(value: &impl Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|error| StoreError::corrupt("value", error))
}
