use serde_json::json;

use super::*;
use crate::message::Thinking;
use crate::model::PartialUsage;

#[test]
fn pieces_become_blocks_in_their_order() {
    let mut draft = drafted([
        start(1, json!({"type": "text", "text": ""})),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        StreamEvent::ThinkingDelta { index: 0, thinking: "hm".into() },
        StreamEvent::SignatureDelta { index: 0, signature: "se".into() },
        StreamEvent::SignatureDelta { index: 0, signature: "al".into() },
        text(1, "Hello"),
        text(1, " there"),
        StreamEvent::MessageStop,
    ]);
    let thought =
        Thinking { thinking: "hm".into(), signature: Some("seal".into()), ..Thinking::default() };
    let reply = draft.finish().unwrap();
    assert_eq!(reply.message.content, [Block::Thinking(thought), Block::text("Hello there")]);
    assert_eq!(reply.stop_reason, StopReason::EndTurn);
}

#[test]
fn the_input_of_a_call_is_read_when_it_is_whole() {
    check_input(&[r#"{"file"#, r#"_path": "a"}"#], &json!({"file_path": "a"}), None);
    check_input(&[], &json!({}), None);
    check_input(&[""], &json!({}), None);
    check_input(&["", "{}"], &json!({}), None);
}

#[test]
fn an_input_that_is_no_object_is_kept_beside() {
    check_input(&[r#"{"file_path": "a"#], &json!({}), Some(r#"{"file_path": "a"#));
    check_input(&["[1]"], &json!({}), Some("[1]"));
    check_input(&["{} {}"], &json!({}), Some("{} {}"));
    check_input(&["null"], &json!({}), Some("null"));
}

#[test]
fn a_block_may_come_whole() {
    let call = json!({"type": "tool_use", "id": "t", "name": "Read", "input": {"a": 1}});
    let mut draft = drafted([
        start(0, json!({"type": "text", "text": "all at once"})),
        StreamEvent::BlockStop { index: 0 },
        start(1, call.clone()),
        StreamEvent::BlockStop { index: 1 },
        StreamEvent::MessageStop,
    ]);
    let reply = draft.finish().unwrap();
    assert_eq!(reply.message.content, [Block::text("all at once"), Block::from(call)]);
    assert_eq!(reply.stop_reason, StopReason::ToolUse);
}

#[test]
fn unknown_blocks_and_citations_are_kept() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let mut draft = drafted([
        start(0, search),
        input(0, r#"{"query": "#),
        input(0, r#""rust"}"#),
        StreamEvent::BlockStop { index: 0 },
        start(1, json!({"type": "text", "text": "", "citations": null})),
        StreamEvent::CitationsDelta { index: 1, citation: json!({"url": "u"}) },
        text(1, "found"),
        StreamEvent::MessageStop,
    ]);
    assert_eq!(
        serde_json::to_value(draft.finish().unwrap().message.content).unwrap(),
        json!([
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "rust"}},
            {"type": "text", "text": "found", "citations": [{"url": "u"}]},
        ])
    );
}

#[test]
fn blank_text_is_dropped_since_the_api_would_refuse_it() {
    let mut draft = drafted([
        start(0, json!({"type": "text", "text": ""})),
        text(0, " \n"),
        StreamEvent::MessageStop,
    ]);
    assert_eq!(draft.finish().unwrap().message.content, []);
}

#[test]
fn what_an_answer_costs_is_the_last_that_was_said() {
    let mut draft = Draft::new();
    let first = PartialUsage {
        input_tokens: Some(9),
        output_tokens: Some(1),
        cache_read_input_tokens: Some(4),
        ..PartialUsage::default()
    };
    let last = PartialUsage { output_tokens: Some(50), ..PartialUsage::default() };
    let stop_reason = Some(StopReason::MaxTokens);
    for event in [
        StreamEvent::MessageStart { id: Some("msg".into()), model: None, usage: first },
        StreamEvent::MessageDelta { stop_reason, usage: last },
        StreamEvent::MessageStop,
    ] {
        draft.apply(event).unwrap();
    }
    let reply = draft.finish().unwrap();
    let usage = Usage {
        input_tokens: 9,
        output_tokens: 50,
        cache_read_input_tokens: 4,
        ..Usage::default()
    };
    assert_eq!((reply.usage, reply.stop_reason), (usage, StopReason::MaxTokens));
}

#[test]
fn an_answer_without_its_end_is_cut_off_and_stays_in_the_draft() {
    let mut draft = drafted([start(0, json!({"type": "text", "text": "so far"}))]);
    assert_eq!(draft.finish(), Err(ModelError::CutOff));
    assert_eq!(draft.interrupted(), Some(Message::assistant(vec![Block::text("so far")])));
}

#[test]
fn an_interrupted_answer_keeps_what_the_api_accepts() {
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "seal"});
    let call = json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}});
    let draft = drafted([
        start(0, thought.clone()),
        StreamEvent::BlockStop { index: 0 },
        start(1, json!({"type": "text", "text": ""})),
        text(1, "I rea"),
        start(2, call.clone()),
        input(2, r#"{"file_path":"#),
    ]);
    let kept = Message::assistant(vec![Block::from(thought.clone()), Block::text("I rea")]);
    assert_eq!(draft.interrupted(), Some(kept));

    // A whole call is kept; who keeps it has to answer it.
    let draft = drafted([start(0, call.clone()), StreamEvent::BlockStop { index: 0 }]);
    assert_eq!(draft.interrupted(), Some(Message::assistant(vec![Block::from(call)])));

    // Nothing but a thought is nothing.
    let draft = drafted([start(0, thought), StreamEvent::BlockStop { index: 0 }]);
    assert_eq!(draft.interrupted(), None);
    assert_eq!(Draft::new().interrupted(), None);
}

#[test]
fn a_piece_without_its_block_is_not_the_protocol() {
    let mut draft = drafted([start(0, json!({"type": "text", "text": ""}))]);
    for event in [
        text(1, "x"),
        StreamEvent::BlockStop { index: 9 },
        StreamEvent::ThinkingDelta { index: 0, thinking: "x".into() },
        StreamEvent::SignatureDelta { index: 0, signature: "x".into() },
    ] {
        assert_eq!(draft.apply(event).unwrap_err().code(), "protocol");
    }
}

fn check_input(pieces: &[&str], expected: &Value, broken: Option<&str>) {
    let call = json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}});
    let mut draft = drafted([start(0, call)]);
    for piece in pieces {
        draft.apply(input(0, piece)).unwrap();
    }
    draft.apply(StreamEvent::BlockStop { index: 0 }).unwrap();
    draft.apply(StreamEvent::MessageStop).unwrap();
    let reply = draft.finish().unwrap();
    let call = reply.message.tool_uses().next().unwrap();
    assert_eq!((&call.input, call.broken_input.as_deref()), (expected, broken));
}

fn drafted(events: impl IntoIterator<Item = StreamEvent>) -> Draft {
    let mut draft = Draft::new();
    for event in events {
        draft.apply(event).unwrap();
    }
    draft
}

fn start(index: u64, block: Value) -> StreamEvent {
    StreamEvent::BlockStart { index, block: Block::from(block) }
}

fn text(index: u64, text: &str) -> StreamEvent {
    StreamEvent::TextDelta { index, text: text.into() }
}

fn input(index: u64, json: &str) -> StreamEvent {
    StreamEvent::InputJsonDelta { index, json: json.into() }
}
