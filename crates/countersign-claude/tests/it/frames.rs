//! Frames recorded from the real CLI: each is known, nothing in it surprises, nothing is dropped.
//!
//! `fixtures/*.jsonl` hold both directions of a session, `{"in": …}` for what the SDK wrote and
//! `{"out": …}` for what the CLI did. `fixtures/untyped.txt` lists what the CLI sends and the types
//! do not name: a new field must be typed, or be put on that list by somebody who looked at it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use countersign_claude::message::{
    ApiStreamEvent, ContentBlock, KnownFault, Message, MessageContent, SystemMessage,
};
use serde_json::{Map, Value, json};

#[test]
fn every_recorded_message_is_known_and_nothing_in_it_surprises() {
    for (place, frame) in recorded_messages() {
        let message = Message::parse(&frame.to_string()).unwrap();
        assert!(!matches!(message, Message::Unknown(_)), "{place}: {frame}");
        assert_eq!(message.unexpected_fields(), [] as [&str; 0], "{place}");
        assert_eq!(unknown_parts(&message), [] as [&str; 0], "{place}");
    }
}

#[test]
fn every_recorded_message_is_written_as_it_was_read() {
    for (place, frame) in recorded_messages() {
        let message = Message::parse(&frame.to_string()).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), frame, "{place}");
        assert_eq!(message.session_id(), frame["session_id"].as_str(), "{place}");
        assert_eq!(message.uuid(), frame["uuid"].as_str(), "{place}");
    }
}

#[test]
fn what_the_types_do_not_name_is_on_the_list() {
    let mut untyped = BTreeSet::new();
    for (place, frame) in recorded_messages() {
        let message = Message::parse(&frame.to_string()).unwrap();
        let name = message.subtype().filter(|_| message.kind() == "system");
        let name = name.map_or(message.kind().to_owned(), |subtype| format!("system/{subtype}"));
        missing(&name, &frame, &typed(&message), &mut untyped, &place);
    }
    let list = std::fs::read_to_string(fixtures().join("untyped.txt")).unwrap();
    let listed: BTreeSet<String> = list.lines().map(str::to_owned).collect();
    assert_eq!(untyped, listed);
}

#[test]
fn the_duplicate_tool_use_id_fault_is_recognised_as_the_cli_tells_it() {
    let faults: Vec<_> = recorded_messages()
        .into_iter()
        .filter_map(|(place, frame)| {
            let message = Message::parse(&frame.to_string()).unwrap();
            let file = place.split(':').next().unwrap_or_default().to_owned();
            Some((file, message.kind().to_owned(), message.known_fault()?))
        })
        .collect();
    let fault = |kind: &str| {
        ("api_error.jsonl".to_owned(), kind.to_owned(), KnownFault::DuplicateToolUseId)
    };
    assert_eq!(faults, [fault("assistant"), fault("result")]);
}

/// Collects the paths that are in `raw` and not in `typed`; what is in both must be the same.
fn missing(path: &str, raw: &Value, typed: &Value, into: &mut BTreeSet<String>, place: &str) {
    match (raw, typed) {
        // Absent and `null` mean the same.
        (Value::Null, Value::Null) => {}
        (Value::Object(raw), Value::Object(typed)) => {
            for (key, value) in raw {
                let typed = typed.get(key).unwrap_or(&Value::Null);
                missing(&format!("{path}.{key}"), value, typed, into, place);
            }
        }
        (Value::Array(raw), Value::Array(typed)) if raw.len() == typed.len() => {
            for (raw, typed) in raw.iter().zip(typed) {
                missing(&format!("{path}[]"), raw, typed, into, place);
            }
        }
        (Value::Null, _) => panic!("{place}: {path} is made up: {typed}"),
        (_, Value::Null) => drop(into.insert(path.to_owned())),
        (Value::Number(raw), Value::Number(typed)) if raw.as_f64() == typed.as_f64() => {}
        (raw, typed) => assert_eq!(raw, typed, "{place}: {path}"),
    }
}

/// What the types alone know of a message.
fn typed(message: &Message) -> Value {
    let body = match message {
        Message::User(frame) => json!(frame.body()),
        Message::Assistant(frame) => json!(frame.body()),
        Message::System(frame) => json!(frame.body()),
        Message::Result(frame) => json!(frame.body()),
        Message::StreamEvent(frame) => json!(frame.body()),
        Message::RateLimit(frame) => json!(frame.body()),
        Message::ConversationReset(frame) => json!(frame.body()),
        Message::CommandLifecycle(frame) => json!(frame.body()),
        Message::ToolProgress(frame) => json!(frame.body()),
        Message::ToolUseSummary(frame) => json!(frame.body()),
        Message::PromptSuggestion(frame) => json!(frame.body()),
        Message::AuthStatus(frame) => json!(frame.body()),
        _ => json!({}),
    };
    let mut fields: Map<String, Value> = body.as_object().cloned().unwrap_or_default();
    fields.insert("type".to_owned(), json!(message.kind()));
    fields.insert("uuid".to_owned(), json!(message.uuid()));
    fields.insert("session_id".to_owned(), json!(message.session_id()));
    // Accessors that every message has.
    if let Some(uuid) = message.user_message_uuid() {
        fields.insert("user_message_uuid".to_owned(), json!(uuid));
    }
    if !message.user_message_uuids().is_empty() {
        fields.insert("user_message_uuids".to_owned(), json!(message.user_message_uuids()));
    }
    Value::Object(fields)
}

/// Blocks, events and subtypes that are kept but not understood.
fn unknown_parts(message: &Message) -> Vec<String> {
    let blocks = match message {
        Message::Assistant(said) => said.message.content.clone(),
        Message::User(said) => said.message.content.blocks().to_vec(),
        Message::StreamEvent(piece) => match &piece.event {
            ApiStreamEvent::Unknown(event) => return vec![event.to_string()],
            ApiStreamEvent::ContentBlockStart(start) => vec![start.content_block.clone()],
            _ => Vec::new(),
        },
        Message::System(system) if **system == SystemMessage::Unknown => {
            return vec![message.subtype().unwrap_or_default().to_owned()];
        }
        _ => Vec::new(),
    };
    blocks.iter().flat_map(unknown_blocks).collect()
}

fn unknown_blocks(block: &ContentBlock) -> Vec<String> {
    match block {
        ContentBlock::Unknown(value) => vec![value.to_string()],
        ContentBlock::ToolResult(result) => {
            let inner = result.content.as_ref().map(MessageContent::blocks).unwrap_or_default();
            inner.iter().flat_map(unknown_blocks).collect()
        }
        _ => Vec::new(),
    }
}

/// All recorded frames that are messages and not part of the control protocol, with their places.
fn recorded_messages() -> Vec<(String, Value)> {
    let mut messages = Vec::new();
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let frame = line["out"].take();
            let kind = frame["type"].as_str().unwrap_or_default();
            if !kind.is_empty() && !kind.starts_with("control_") {
                messages.push((format!("{name}:{}", number + 1), frame));
            }
        }
    }
    assert!(messages.len() > 500, "only {} frames", messages.len());
    messages
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}
