//! The few fields of a line that decide where it goes, read without reading the rest.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The fields, each as it stands: one of an unexpected form is as good as none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    subtype: Field<'a>,
    #[serde(borrow)]
    request_id: Field<'a>,
    #[serde(borrow)]
    user_message_uuid: Field<'a>,
    #[serde(borrow)]
    user_message_uuids: Field<'a>,
    #[serde(borrow)]
    parent_tool_use_id: Field<'a>,
    #[serde(borrow)]
    command_uuid: Field<'a>,
    #[serde(borrow)]
    state: Field<'a>,
    #[serde(borrow)]
    task_id: Field<'a>,
    #[serde(borrow)]
    task_type: Field<'a>,
    #[serde(borrow)]
    patch: Field<'a>,
    #[serde(borrow)]
    origin: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
    #[serde(borrow)]
    sdk_host_only: Field<'a>,
    #[serde(borrow)]
    startup_mark: Field<'a>,
    #[serde(borrow)]
    claude_code_version: Field<'a>,
}

type Field<'a> = Option<&'a RawValue>;

#[derive(Deserialize)]
struct Patch {
    status: Option<String>,
}

#[derive(Deserialize)]
struct Origin {
    kind: Option<String>,
}

/// Where a message goes: what the router has to know once the line itself has moved on.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub(super) kind: Kind,
    /// The prompts it answers, by the ids we gave them.
    pub(super) prompts: Vec<String>,
}

/// What the router tells apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The end of a turn, and whether somebody asked for that turn.
    Result { solicited: bool },
    /// A piece of an answer that will come whole later.
    Partial,
    /// What became of a prompt.
    Lifecycle { state: String },
    /// Anything else.
    Other,
}

impl Address {
    pub(super) fn of(head: &Head<'_>) -> Self {
        let kind = match head.kind().as_ref() {
            "result" => Kind::Result { solicited: !head.is_unsolicited() },
            "stream_event" => Kind::Partial,
            "command_lifecycle" => {
                let prompts = text(head.command_uuid).map(String::from).into_iter().collect();
                return Self {
                    kind: Kind::Lifecycle { state: head.state().into_owned() },
                    prompts,
                };
            }
            _ => Kind::Other,
        };
        Self { kind, prompts: head.prompts() }
    }

    pub(super) fn is_result(&self) -> bool {
        matches!(self.kind, Kind::Result { .. })
    }
}

impl<'a> Head<'a> {
    pub(super) fn read(line: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(line)
    }

    pub(super) fn kind(&self) -> Cow<'a, str> {
        text(self.kind).unwrap_or_default()
    }

    pub(super) fn subtype(&self) -> Cow<'a, str> {
        text(self.subtype).unwrap_or_default()
    }

    pub(super) fn request_id(&self) -> Option<Cow<'a, str>> {
        text(self.request_id)
    }

    pub(super) fn state(&self) -> Cow<'a, str> {
        text(self.state).unwrap_or_default()
    }

    pub(super) fn task(&self) -> Option<Cow<'a, str>> {
        text(self.task_id)
    }

    pub(super) fn task_type(&self) -> Cow<'a, str> {
        text(self.task_type).unwrap_or_default()
    }

    pub(super) fn startup_mark(&self) -> Option<Cow<'a, str>> {
        text(self.startup_mark)
    }

    pub(super) fn version(&self) -> Option<Cow<'a, str>> {
        text(self.claude_code_version)
    }

    fn prompts(&self) -> Vec<String> {
        let mut prompts: Vec<String> = parsed(self.user_message_uuids).unwrap_or_default();
        if let Some(one) = text(self.user_message_uuid)
            && !prompts.iter().any(|known| *known == one)
        {
            prompts.push(one.into_owned());
        }
        prompts
    }

    /// Whether it belongs to a subagent.
    pub(super) fn is_nested(&self) -> bool {
        text(self.parent_tool_use_id).is_some()
    }

    /// Whether a turn nobody asked for caused it.
    fn is_unsolicited(&self) -> bool {
        let origin = parsed::<Origin>(self.origin).and_then(|origin| origin.kind);
        origin.is_some_and(|kind| kind != "human")
    }

    pub(super) fn patched_status(&self) -> Option<String> {
        parsed::<Patch>(self.patch)?.status
    }

    pub(super) fn is_error(&self) -> bool {
        parsed(self.is_error).unwrap_or(false)
    }

    /// Whether it is for this crate only.
    pub(super) fn is_host_only(&self) -> bool {
        parsed(self.sdk_host_only).unwrap_or(false)
    }
}

fn parsed<'a, T: Deserialize<'a>>(field: Field<'a>) -> Option<T> {
    serde_json::from_str(field?.get()).ok()
}

fn text(field: Field<'_>) -> Option<Cow<'_, str>> {
    let raw = field?.get();
    // Words without an escape, which is nearly all of them, are not copied.
    match serde_json::from_str::<&str>(raw) {
        Ok(word) => Some(Cow::Borrowed(word)),
        Err(_) => serde_json::from_str(raw).ok().map(Cow::Owned),
    }
}
