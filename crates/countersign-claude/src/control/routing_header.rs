//! The few fields of a line that decide where it goes, read without reading the rest.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The fields, each as it stands: one of an unexpected form is as good as none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RoutingHeader<'a> {
    #[serde(borrow, rename = "type")]
    kind: RawJsonField<'a>,
    #[serde(borrow)]
    subtype: RawJsonField<'a>,
    #[serde(borrow)]
    request_id: RawJsonField<'a>,
    #[serde(borrow)]
    user_message_uuid: RawJsonField<'a>,
    #[serde(borrow)]
    user_message_uuids: RawJsonField<'a>,
    #[serde(borrow)]
    parent_tool_use_id: RawJsonField<'a>,
    #[serde(borrow)]
    command_uuid: RawJsonField<'a>,
    #[serde(borrow)]
    state: RawJsonField<'a>,
    #[serde(borrow)]
    task_id: RawJsonField<'a>,
    #[serde(borrow)]
    task_type: RawJsonField<'a>,
    #[serde(borrow)]
    patch: RawJsonField<'a>,
    #[serde(borrow)]
    origin: RawJsonField<'a>,
    #[serde(borrow)]
    is_error: RawJsonField<'a>,
    #[serde(borrow)]
    sdk_host_only: RawJsonField<'a>,
    #[serde(borrow)]
    startup_mark: RawJsonField<'a>,
    #[serde(borrow)]
    claude_code_version: RawJsonField<'a>,
}

type RawJsonField<'a> = Option<&'a RawValue>;

#[derive(Deserialize)]
struct TaskPatchStatus {
    status: Option<String>,
}

#[derive(Deserialize)]
struct OriginKindField {
    kind: Option<String>,
}

/// Where a message goes: what the router has to know once the line itself has moved on.
#[derive(Clone, Debug)]
pub(super) struct MessageAddress {
    pub(super) kind: RoutingKind,
    /// The prompts it answers, by the ids we gave them.
    pub(super) prompts: Vec<String>,
}

/// What the router tells apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RoutingKind {
    /// The end of a turn, and whether somebody asked for that turn.
    Result { solicited: bool },
    /// A piece of an answer that will come whole later.
    Partial,
    /// What became of a prompt.
    Lifecycle { state: String },
    /// Anything else.
    Other,
}

impl MessageAddress {
    pub(super) fn from_header(head: &RoutingHeader<'_>) -> Self {
        let kind = match head.kind().as_ref() {
            "result" => RoutingKind::Result { solicited: !head.is_unsolicited() },
            "stream_event" => RoutingKind::Partial,
            "command_lifecycle" => {
                let prompts = text(head.command_uuid).map(String::from).into_iter().collect();
                return Self {
                    kind: RoutingKind::Lifecycle { state: head.state().into_owned() },
                    prompts,
                };
            }
            _ => RoutingKind::Other,
        };
        Self { kind, prompts: head.prompts() }
    }

    pub(super) fn is_result(&self) -> bool {
        matches!(self.kind, RoutingKind::Result { .. })
    }
}

impl<'a> RoutingHeader<'a> {
    pub(super) fn parse(line: &'a str) -> serde_json::Result<Self> {
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
        let origin = parsed::<OriginKindField>(self.origin).and_then(|origin| origin.kind);
        origin.is_some_and(|kind| kind != "human")
    }

    pub(super) fn patched_status(&self) -> Option<String> {
        parsed::<TaskPatchStatus>(self.patch)?.status
    }

    pub(super) fn is_error(&self) -> bool {
        parsed(self.is_error).unwrap_or(false)
    }

    /// Whether it is for this crate only.
    pub(super) fn is_host_only(&self) -> bool {
        parsed(self.sdk_host_only).unwrap_or(false)
    }
}

fn parsed<'a, T: Deserialize<'a>>(field: RawJsonField<'a>) -> Option<T> {
    serde_json::from_str(field?.get()).ok()
}

fn text(field: RawJsonField<'_>) -> Option<Cow<'_, str>> {
    let raw = field?.get();
    // Words without an escape, which is nearly all of them, are not copied.
    match serde_json::from_str::<&str>(raw) {
        Ok(word) => Some(Cow::Borrowed(word)),
        Err(_) => serde_json::from_str(raw).ok().map(Cow::Owned),
    }
}
