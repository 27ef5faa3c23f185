//! The columns that a call is made of again: without secrets in its own row, in clear beside it.

use std::borrow::Cow;

use countersign_core::shell::{CanonicalCommandLine, CommandPart};
use countersign_core::{
    Attachment, DecisionContext, Digest, Effect, Execution, ExecutionState, Preview, Secrets,
    ToolCall, Verdict,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json as object};

use crate::store::{StoreError, from_json, to_json};

/// From this length on a result has a place of its own.
pub(super) const LONG: usize = 4096;

/// The part of an approval that never changes, as it stands in the `request` column.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredRequest<'a> {
    pub(super) call: Cow<'a, ToolCall>,
    pub(super) effects: Cow<'a, [Effect]>,
    pub(super) summary: Cow<'a, str>,
    pub(super) verdict: Cow<'a, Verdict>,
    pub(super) created_at: Timestamp,
    #[serde(default)]
    pub(super) commands: Cow<'a, [CommandPart]>,
    #[serde(default)]
    pub(super) basis: Cow<'a, DecisionContext>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) canonical: Option<Cow<'a, CanonicalCommandLine>>,
}

/// A result that has a place of its own: a text, or what was shown beside it as well.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum LongResult<'a> {
    Text(Cow<'a, str>),
    Whole { result: Cow<'a, str>, attachments: Cow<'a, [Attachment]> },
}

/// One text of a row: as it is kept, and in clear where that is another.
pub(super) struct MaskedText {
    pub(super) text: String,
    pub(super) clear: Option<String>,
}

impl MaskedText {
    fn new(text: String, clear: String) -> Self {
        Self { clear: (clear != text).then_some(clear), text }
    }
}

/// What the row of a call says of its request, which stays as it is until a person changes it.
pub(super) struct RequestColumns {
    pub(super) request: MaskedText,
    pub(super) preview: Option<MaskedText>,
}

impl RequestColumns {
    pub(super) fn from_execution(
        approval: &Execution,
        secrets: &Secrets,
    ) -> Result<Self, StoreError> {
        let request = mask_request(approval, secrets)?;
        let preview = approval.preview().map(|it| mask_preview(it, secrets)).transpose()?;
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
pub(in crate::store) fn find_secrets(approval: &Execution) -> Secrets {
    let mut secrets = Secrets::find_in(&approval.call().input);
    if let Some(original) = &approval.basis().edited_from {
        secrets.learn(original);
    }
    secrets
}

fn mask_request(approval: &Execution, secrets: &Secrets) -> Result<MaskedText, StoreError> {
    let request = StoredRequest {
        call: Cow::Borrowed(approval.call()),
        effects: Cow::Borrowed(approval.effects()),
        summary: Cow::Borrowed(approval.summary()),
        verdict: Cow::Borrowed(approval.verdict()),
        created_at: approval.created_at(),
        commands: Cow::Borrowed(approval.commands()),
        basis: Cow::Borrowed(approval.basis()),
        canonical: approval.canonical().map(Cow::Borrowed),
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
    let text = to_json(&request)?;
    if kept == clear {
        return Ok(MaskedText { text, clear: None });
    }
    Ok(MaskedText::new(readable_request(kept)?, text))
}

/// Returns a masked request as text. What cannot be read again without its secrets is left out.
fn readable_request(mut kept: Value) -> Result<String, StoreError> {
    if StoredRequest::deserialize(&kept).is_ok() {
        return to_json(&kept);
    }
    let bare = [("effects", object!([])), ("commands", object!([])), ("canonical", Value::Null)];
    let bare = bare.into_iter().chain([("basis", object!({}))]);
    if let Some(fields) = kept.as_object_mut() {
        fields.extend(bare.map(|(name, value)| (name.to_owned(), value)));
    }
    StoredRequest::deserialize(&kept).map_err(|error| StoreError::corrupt("request", error))?;
    to_json(&kept)
}

fn mask_preview(preview: &Preview, secrets: &Secrets) -> Result<MaskedText, StoreError> {
    let clear = to_value(preview)?;
    let kept = secrets.hide_in(&clear);
    let text = to_json(preview)?;
    if kept == clear {
        return Ok(MaskedText { text, clear: None });
    }
    if Preview::deserialize(&kept).is_ok() {
        return Ok(MaskedText::new(to_json(&kept)?, text));
    }
    let bare = Preview::Generic { input: object!({}), preimages: Vec::new() };
    Ok(MaskedText::new(to_json(&bare)?, text))
}

/// What the row of a call says of its state, and where a long result has its place.
pub(super) struct StateColumns {
    /// The state without secrets, whole.
    pub(super) shown: ExecutionState,
    pub(super) state: String,
    pub(super) long: Option<String>,
    /// The whole state, where it has secrets.
    pub(super) clear: Option<String>,
}

impl StateColumns {
    pub(super) fn from_state(
        state: &ExecutionState,
        secrets: &Secrets,
    ) -> Result<Self, StoreError> {
        let shown = state.without_secrets(secrets);
        let clear = (shown != *state).then(|| to_json(state)).transpose()?;
        Ok(Self { state: state_text(&shown)?, long: long_result(&shown)?, shown, clear })
    }
}

/// The state as its column has it: without a result that has a place of its own.
fn state_text(state: &ExecutionState) -> Result<String, StoreError> {
    match state {
        ExecutionState::Completed { by, approved_at, since, at, is_error, reported, .. }
            if is_long(state) =>
        {
            to_json(&ExecutionState::Completed {
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
        state => to_json(state),
    }
}

pub(super) fn is_long(state: &ExecutionState) -> bool {
    match state {
        ExecutionState::Completed { result, attachments, .. } => {
            result.len() > LONG || !attachments.is_empty()
        }
        _ => false,
    }
}

fn long_result(state: &ExecutionState) -> Result<Option<String>, StoreError> {
    let ExecutionState::Completed { result, attachments, .. } = state else { return Ok(None) };
    if !is_long(state) {
        return Ok(None);
    }
    let result = Cow::Borrowed(result.as_str());
    let body = if attachments.is_empty() {
        LongResult::Text(result)
    } else {
        LongResult::Whole { result, attachments: attachments.into() }
    };
    to_json(&body).map(Some)
}

/// Puts a long result back into its state.
pub(super) fn restore_long_result(
    state: &mut ExecutionState,
    long: Option<&str>,
) -> Result<(), StoreError> {
    if let (ExecutionState::Completed { result, attachments, .. }, Some(long)) = (state, long) {
        (*result, *attachments) = match from_json("result", long)? {
            LongResult::Text(text) => (text.into_owned(), Vec::new()),
            LongResult::Whole { result, attachments } => {
                (result.into_owned(), attachments.into_owned())
            }
        };
    }
    Ok(())
}

/// Returns the digest of what is left of a call whose secrets are masked, as its columns have it.
pub(in crate::store) fn digest_columns(
    request: &str,
    preview: Option<&str>,
    state: &str,
    long: Option<&str>,
) -> Digest {
    let parts = [request, preview.unwrap_or_default(), state, long.unwrap_or_default()];
    Digest::for_parts(parts.map(str::as_bytes))
}

fn to_value(value: &impl Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|error| StoreError::unwritable("value", error))
}
