use serde_json::json;

use super::*;
use crate::message::MessageThinking;
use crate::model::PartialAnswerUsage;

#[test]
fn pieces_become_blocks_in_their_order() {
    let mut draft = drafted([
        start(1, json!({"type": "text", "text": ""})),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        ModelStreamEvent::ThinkingDelta { index: 0, thinking: "hm".into() },
        ModelStreamEvent::SignatureDelta { index: 0, signature: "se".into() },
        ModelStreamEvent::SignatureDelta { index: 0, signature: "al".into() },
        text(1, "Hello"),
        text(1, " there"),
        ModelStreamEvent::MessageStop,
    ]);
    let thought = MessageThinking {
        thinking: "hm".into(),
        signature: Some("seal".into()),
        ..MessageThinking::default()
    };
    let reply = draft.finish().unwrap();
    assert_eq!(
        reply.message.content,
        [MessageBlock::Thinking(thought), MessageBlock::text("Hello there")]
    );
    assert_eq!(reply.stop_reason, AnswerStopReason::EndTurn);
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
        ModelStreamEvent::BlockStop { index: 0 },
        start(1, call.clone()),
        ModelStreamEvent::BlockStop { index: 1 },
        ModelStreamEvent::MessageStop,
    ]);
    let reply = draft.finish().unwrap();
    assert_eq!(
        reply.message.content,
        [MessageBlock::text("all at once"), MessageBlock::from(call)]
    );
    assert_eq!(reply.stop_reason, AnswerStopReason::ToolUse);
}

#[test]
fn unknown_blocks_and_citations_are_kept() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let mut draft = drafted([
        start(0, search),
        input(0, r#"{"query": "#),
        input(0, r#""rust"}"#),
        ModelStreamEvent::BlockStop { index: 0 },
        start(1, json!({"type": "text", "text": "", "citations": null})),
        ModelStreamEvent::CitationsDelta { index: 1, citation: json!({"url": "u"}) },
        text(1, "found"),
        ModelStreamEvent::MessageStop,
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
        ModelStreamEvent::MessageStop,
    ]);
    assert_eq!(draft.finish().unwrap().message.content, []);
}

#[test]
fn what_an_answer_costs_is_the_last_that_was_said() {
    let mut draft = ReplyDraft::new();
    let first = PartialAnswerUsage {
        input_tokens: Some(9),
        output_tokens: Some(1),
        cache_read_input_tokens: Some(4),
        ..PartialAnswerUsage::default()
    };
    let last = PartialAnswerUsage { output_tokens: Some(50), ..PartialAnswerUsage::default() };
    let stop_reason = Some(AnswerStopReason::MaxTokens);
    for event in [
        ModelStreamEvent::MessageStart { id: Some("msg".into()), model: None, usage: first },
        ModelStreamEvent::MessageDelta { stop_reason, usage: last },
        ModelStreamEvent::MessageStop,
    ] {
        draft.apply(event).unwrap();
    }
    let reply = draft.finish().unwrap();
    let usage = AnswerUsage {
        input_tokens: 9,
        output_tokens: 50,
        cache_read_input_tokens: 4,
        ..AnswerUsage::default()
    };
    assert_eq!((reply.usage, reply.stop_reason), (usage, AnswerStopReason::MaxTokens));
}

#[test]
fn an_answer_without_its_end_is_cut_off_and_stays_in_the_draft() {
    let mut draft = drafted([start(0, json!({"type": "text", "text": "so far"}))]);
    assert_eq!(draft.finish(), Err(ModelError::CutOff));
    assert_eq!(
        draft.interrupted_message(),
        Some(ModelMessage::assistant(vec![MessageBlock::text("so far")]))
    );
}

#[test]
fn an_interrupted_answer_keeps_what_the_api_accepts() {
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "seal"});
    let call = json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}});
    let draft = drafted([
        start(0, thought.clone()),
        ModelStreamEvent::BlockStop { index: 0 },
        start(1, json!({"type": "text", "text": ""})),
        text(1, "I rea"),
        start(2, call.clone()),
        input(2, r#"{"file_path":"#),
    ]);
    let kept = ModelMessage::assistant(vec![
        MessageBlock::from(thought.clone()),
        MessageBlock::text("I rea"),
    ]);
    assert_eq!(draft.interrupted_message(), Some(kept));

    // A whole call is kept; who keeps it has to answer it.
    let draft = drafted([start(0, call.clone()), ModelStreamEvent::BlockStop { index: 0 }]);
    assert_eq!(
        draft.interrupted_message(),
        Some(ModelMessage::assistant(vec![MessageBlock::from(call)]))
    );

    // Nothing but a thought is nothing.
    let draft = drafted([start(0, thought), ModelStreamEvent::BlockStop { index: 0 }]);
    assert_eq!(draft.interrupted_message(), None);
    assert_eq!(ReplyDraft::new().interrupted_message(), None);
}

#[test]
fn a_piece_without_its_block_is_not_the_protocol() {
    let mut draft = drafted([start(0, json!({"type": "text", "text": ""}))]);
    for event in [
        text(1, "x"),
        ModelStreamEvent::BlockStop { index: 9 },
        ModelStreamEvent::ThinkingDelta { index: 0, thinking: "x".into() },
        ModelStreamEvent::SignatureDelta { index: 0, signature: "x".into() },
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
    draft.apply(ModelStreamEvent::BlockStop { index: 0 }).unwrap();
    draft.apply(ModelStreamEvent::MessageStop).unwrap();
    let reply = draft.finish().unwrap();
    let call = reply.message.tool_uses().next().unwrap();
    assert_eq!((&call.input, call.broken_input.as_deref()), (expected, broken));
}

fn drafted(events: impl IntoIterator<Item = ModelStreamEvent>) -> ReplyDraft {
    let mut draft = ReplyDraft::new();
    for event in events {
        draft.apply(event).unwrap();
    }
    draft
}

fn start(index: u64, block: Value) -> ModelStreamEvent {
    ModelStreamEvent::BlockStart { index, block: MessageBlock::from(block) }
}

fn text(index: u64, text: &str) -> ModelStreamEvent {
    ModelStreamEvent::TextDelta { index, text: text.into() }
}

fn input(index: u64, json: &str) -> ModelStreamEvent {
    ModelStreamEvent::InputJsonDelta { index, json: json.into() }
}
