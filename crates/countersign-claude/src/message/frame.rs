//! A typed body beside the line it came from.

use std::ops::Deref;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A message of a known type, with the line it was read from.
///
/// It stands for its body: `frame.total_cost_usd` is a field of [`ResultMessage`](super::ResultMessage).
#[derive(Clone, Debug)]
pub struct MessageFrame<T> {
    line: MessageLine,
    surprises: Vec<String>,
    // Some have dozens of fields: a message is handed on without moving them.
    body: Box<T>,
}

impl<T> MessageFrame<T> {
    /// The JSON this was read from, unaltered.
    pub fn raw(&self) -> &str {
        &self.line.raw
    }

    /// What was read from it.
    pub fn body(&self) -> &T {
        &self.body
    }

    /// What was read from it, without the rest.
    pub fn into_body(self) -> T {
        *self.body
    }

    /// The id of this very message.
    pub fn uuid(&self) -> Option<&str> {
        self.line.head().uuid.as_deref()
    }

    /// The session it belongs to.
    pub fn session_id(&self) -> Option<&str> {
        self.line.head().session_id.as_deref()
    }

    /// The fields that did not have the shape this version expects, by their names.
    ///
    /// They are absent from the body and present in [`MessageFrame::raw`].
    pub fn unexpected_fields(&self) -> &[String] {
        &self.surprises
    }

    pub(super) fn line(&self) -> &MessageLine {
        &self.line
    }

    pub(super) fn map<U>(self, with: impl FnOnce(T) -> U) -> MessageFrame<U> {
        let Self { line, surprises, body } = self;
        MessageFrame { line, surprises, body: Box::new(with(*body)) }
    }

    /// Stands for a body of which nothing needs to be read.
    pub(super) fn with_body(line: MessageLine, body: T) -> Self {
        Self { line, surprises: Vec::new(), body: Box::new(body) }
    }
}

impl<T: DeserializeOwned> MessageFrame<T> {
    /// Reads the body, if need be without the fields that surprise.
    pub(super) fn read(line: MessageLine) -> Result<Self, UnknownMessage> {
        match serde_json::from_str(&line.raw) {
            Ok(body) => Ok(Self { line, surprises: Vec::new(), body }),
            Err(error) => match read_in_part(&line.raw) {
                Some((body, surprises)) => Ok(Self { line, surprises, body }),
                None => Err(UnknownMessage { line, reason: Some(error.to_string()) }),
            },
        }
    }
}

/// Leaves out one field after the other until the rest can be read.
fn read_in_part<T: DeserializeOwned>(raw: &str) -> Option<(T, Vec<String>)> {
    let mut fields: Map<String, Value> = serde_json::from_str(raw).ok()?;
    let mut surprises = Vec::new();
    loop {
        let error = match serde_path_to_error::deserialize(Value::Object(fields.clone())) {
            Ok(body) => return Some((body, surprises)),
            Err(error) => error,
        };
        let serde_path_to_error::Segment::Map { key } = error.path().iter().next()? else {
            return None;
        };
        // A field that is not there cannot be left out: something this version needs is missing.
        fields.shift_remove(key)?;
        surprises.push(key.clone());
    }
}

impl<T> Deref for MessageFrame<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.body
    }
}

/// Writes what was read, to the letter.
impl<T> Serialize for MessageFrame<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.line.serialize(serializer)
    }
}

/// A message of a type this version does not know, or a known one without what makes it one.
#[derive(Clone, Debug)]
pub struct UnknownMessage {
    line: MessageLine,
    reason: Option<String>,
}

impl UnknownMessage {
    pub(super) fn from_line(line: MessageLine) -> Self {
        Self { line, reason: None }
    }

    /// The JSON this was read from, unaltered.
    pub fn raw(&self) -> &str {
        &self.line.raw
    }

    /// Why a message of a known type could not be read as such; `None` if the type is unknown.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    pub(super) fn line(&self) -> &MessageLine {
        &self.line
    }
}

/// Why a line is no message.
#[derive(Debug, thiserror::Error)]
#[error("a line from the CLI is not a JSON object: `{}`", start_of(.line))]
pub struct MessageParseError {
    line: String,
    #[source]
    source: serde_json::Error,
}

impl MessageParseError {
    /// The line as it came.
    pub fn line(&self) -> &str {
        &self.line
    }
}

/// Enough of a line to recognise it.
fn start_of(line: &str) -> String {
    const SHOWN: usize = 200;
    let mut chars = line.chars();
    let start: String = chars.by_ref().take(SHOWN).collect();
    if chars.next().is_some() { format!("{start}…") } else { start }
}

/// A line, and what nearly all messages carry: read apart so that no surprise elsewhere hides it,
/// and only when somebody asks, since most messages of a stream are asked for their text alone.
#[derive(Clone, Debug)]
pub(super) struct MessageLine {
    raw: String,
    head: OnceLock<Box<MessageHeader>>,
}

impl MessageLine {
    pub(super) fn new(raw: impl Into<String>) -> Self {
        Self { raw: raw.into(), head: OnceLock::new() }
    }

    pub(super) fn raw(&self) -> &str {
        &self.raw
    }

    /// The word in `type`, in haste: `None` if it takes a look at the whole.
    pub(super) fn peek_kind(&self) -> Option<&str> {
        self.raw.strip_prefix("{\"type\":\"")?.split(['"', '\\']).next()
    }

    /// Makes sure that it is an object.
    pub(super) fn parse_header(&self) -> Result<&MessageHeader, MessageParseError> {
        if let Some(head) = self.head.get() {
            return Ok(head);
        }
        let head = MessageHeader::read(&self.raw)
            .map_err(|source| MessageParseError { line: self.raw.clone(), source })?;
        Ok(self.head.get_or_init(|| Box::new(head)))
    }

    pub(super) fn head(&self) -> &MessageHeader {
        self.head.get_or_init(|| Box::new(MessageHeader::read(&self.raw).unwrap_or_default()))
    }
}

impl Serialize for MessageLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.raw).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// What nearly all messages carry.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageHeader {
    pub(super) kind: String,
    pub(super) subtype: Option<String>,
    pub(super) uuid: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) parent_tool_use_id: Option<String>,
    pub(super) user_message_uuid: Option<String>,
    pub(super) user_message_uuids: Vec<String>,
    pub(super) sdk_host_only: bool,
}

impl MessageHeader {
    fn read(text: &str) -> serde_json::Result<Self> {
        // An array would pass for a struct, its fields in order.
        if !text.starts_with('{') {
            return Err(serde::de::Error::custom("expected an object"));
        }
        let fields: RawMessageHeader<'_> = serde_json::from_str(text)?;
        Ok(Self {
            kind: read_or_none(fields.kind).unwrap_or_default(),
            subtype: read_or_none(fields.subtype),
            uuid: read_or_none(fields.uuid),
            session_id: read_or_none(fields.session_id),
            parent_tool_use_id: read_or_none(fields.parent_tool_use_id),
            user_message_uuid: read_or_none(fields.user_message_uuid),
            user_message_uuids: read_or_none(fields.user_message_uuids).unwrap_or_default(),
            sdk_host_only: read_or_none(fields.sdk_host_only).unwrap_or_default(),
        })
    }
}

fn read_or_none<T: DeserializeOwned>(field: Option<&RawValue>) -> Option<T> {
    field.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

#[derive(Deserialize)]
struct RawMessageHeader<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    subtype: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uuid: Option<&'a RawValue>,
    // In stored transcripts it is spelled in camel case.
    #[serde(borrow, default, alias = "sessionId")]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    parent_tool_use_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    user_message_uuid: Option<&'a RawValue>,
    #[serde(borrow, default)]
    user_message_uuids: Option<&'a RawValue>,
    #[serde(borrow, default)]
    sdk_host_only: Option<&'a RawValue>,
}
