use serde_json::{Value, json};

use super::*;

#[test]
fn a_message_is_written_as_it_was_read() {
    for message in [
        json!({"type": "assistant", "message": {"content": []}, "new_field": {"deep": [1, 2.5]}}),
        json!({"type": "system", "subtype": "never_heard_of", "x": 1}),
        json!({"type": "never_heard_of", "session_id": "s"}),
        json!({"type": "result", "subtype": "success", "is_error": "yes"}),
        json!({"no": "type"}),
    ] {
        let read = Message::parse(&message.to_string()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), message);
        assert_eq!(read.value(), message);
    }
}

#[test]
fn only_what_is_no_object_is_no_message() {
    for line in ["", "Debugger attached.", "[1]", "\"text\"", "{\"type\": \"result\""] {
        assert_eq!(Message::parse(line).unwrap_err().line(), line);
    }
    assert!(matches!(read(&json!({})), Message::Unknown(_)));
}

#[test]
fn an_unknown_type_keeps_what_all_messages_have() {
    let message = read(&json!({
        "type": "telepathy", "subtype": "sent", "uuid": "u", "session_id": "s",
        "parent_tool_use_id": "t", "user_message_uuid": "p", "user_message_uuids": ["p", "q"],
        "sdk_host_only": true,
    }));
    assert!(matches!(&message, Message::Unknown(unknown) if unknown.reason().is_none()));
    assert_eq!(message.kind(), "telepathy");
    assert_eq!(message.subtype(), Some("sent"));
    assert_eq!(message.uuid(), Some("u"));
    assert_eq!(message.session_id(), Some("s"));
    assert_eq!(message.parent_tool_use_id(), Some("t"));
    assert_eq!(message.user_message_uuid(), Some("p"));
    assert_eq!(message.user_message_uuids(), ["p", "q"]);
    assert!(message.is_host_only());
}

#[test]
fn an_unknown_block_is_kept_among_known_ones() {
    let hologram = json!({"type": "hologram", "depth": 3});
    let odd_text = json!({"type": "text", "text": {"not": "a string"}});
    let message = read(&json!({
        "type": "assistant",
        "message": {"content": [hologram, {"type": "text", "text": "hi"}, odd_text]},
    }));
    assert_eq!(
        message.as_assistant().unwrap().message.content,
        [
            ContentBlock::Unknown(hologram),
            ContentBlock::Text(TextBlock { text: "hi".to_owned(), ..TextBlock::default() }),
            ContentBlock::Unknown(odd_text),
        ]
    );
}

#[test]
fn an_unknown_word_is_kept_where_known_ones_are_expected() {
    let Message::Result(result) = read(&json!({
        "type": "result", "subtype": "error_boredom", "is_error": true,
        "terminal_reason": "fell_asleep", "stop_reason": "yawn",
    })) else {
        panic!("not a result");
    };
    assert_eq!(result.subtype, ResultSubtype::Other("error_boredom".to_owned()));
    assert_eq!(result.terminal_reason, Some(TerminalReason::Other("fell_asleep".to_owned())));
    assert_eq!(result.stop_reason, Some(StopReason::Other("yawn".to_owned())));
    assert!(result.unexpected_fields().is_empty());
}

#[test]
fn a_surprising_field_does_not_hide_the_rest() {
    let Message::Result(result) = read(&json!({
        "type": "result", "subtype": "success", "session_id": 7, "num_turns": "three",
        "usage": {"input_tokens": -1}, "result": "done", "total_cost_usd": 0.5,
    })) else {
        panic!("not a result");
    };
    assert_eq!(result.unexpected_fields(), ["num_turns", "usage"]);
    assert_eq!(result.session_id(), None);
    assert_eq!(
        result.body(),
        &ResultMessage {
            result: Some("done".to_owned()),
            total_cost_usd: Some(0.5),
            ..ResultMessage::default()
        }
    );
}

#[test]
fn a_known_message_without_what_makes_it_one_is_unknown_and_says_why() {
    let Message::Unknown(unknown) = read(&json!({"type": "assistant", "message": "hello"})) else {
        panic!("it cannot be known");
    };
    assert!(unknown.reason().unwrap().starts_with("invalid type: string \"hello\""));
}

#[test]
fn a_result_is_one_even_if_it_cannot_be_read() {
    assert!(read(&json!({"type": "result", "is_error": []})).is_result());
    assert!(!read(&json!({"type": "system", "subtype": "result"})).is_result());
}

#[test]
fn the_text_of_a_message_is_that_of_its_text_blocks() {
    let said = read(&json!({"type": "assistant", "message": {"content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "2 + 2"},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
        {"type": "text", "text": " = 4"},
    ]}}));
    assert_eq!(said.text(), "2 + 2 = 4");
    let calls: Vec<_> = said.tool_uses().into_iter().map(|call| call.name.as_str()).collect();
    assert_eq!(calls, ["Bash"]);
    assert_eq!(read(&json!({"type": "user", "message": {"content": "hi"}})).text(), "hi");
    assert_eq!(read(&json!({"type": "result", "result": "4"})).text(), "4");
    assert_eq!(read(&json!({"type": "system", "subtype": "init"})).text(), "");
}

#[test]
fn a_tool_result_has_text_in_either_form() {
    let result = |content: Value| {
        let message = read(&json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": content},
        ]}}));
        let Message::User(said) = message else { panic!("not a user message") };
        said.tool_results().map(ToolResultBlock::text).collect::<Vec<_>>()
    };
    assert_eq!(result(json!("plain")), ["plain"]);
    assert_eq!(result(json!([{"type": "text", "text": "in a block"}])), ["in a block"]);
    assert_eq!(result(Value::Null), [""]);
}

#[test]
fn a_piece_of_text_is_found_in_its_event() {
    let event = |event: Value| read(&json!({"type": "stream_event", "event": event})).text();
    let delta = json!({"type": "text_delta", "text": "Hel"});
    assert_eq!(event(json!({"type": "content_block_delta", "index": 0, "delta": delta})), "Hel");
    assert_eq!(event(json!({"type": "message_stop"})), "");
    assert_eq!(event(json!({"type": "never_heard_of"})), "");
}

#[test]
fn costs_are_written_with_four_decimals() {
    assert_eq!(format_cost(0.0234), "$0.0234");
    assert_eq!(format_cost(0.0), "$0.0000");
    assert_eq!(format_cost(12.3), "$12.3000");
    assert_eq!(format_cost(0.000_01), "<$0.0001");
}

#[test]
fn the_failure_of_a_result_is_told_in_the_most_telling_words() {
    let failure = |fields: Value| {
        let mut result = json!({"type": "result", "subtype": "error_max_turns", "is_error": true});
        result.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        read(&result).as_result().unwrap().failure()
    };
    assert_eq!(failure(json!({"errors": ["a", "b"], "result": "c"})).unwrap(), "a; b");
    assert_eq!(failure(json!({"result": "c", "api_error_status": 500})).unwrap(), "c");
    assert_eq!(failure(json!({"api_error_status": 500})).unwrap(), "the API answered 500");
    assert_eq!(failure(json!({})).unwrap(), "error_max_turns");
    assert_eq!(failure(json!({"is_error": false, "result": "fine"})), None);
}

#[test]
fn a_result_nobody_asked_for_does_not_answer_the_caller() {
    let answers = |origin: Value| {
        read(&json!({"type": "result", "origin": origin})).as_result().unwrap().answers_the_caller()
    };
    assert!(answers(Value::Null));
    assert!(answers(json!({"kind": "human"})));
    assert!(!answers(json!({"kind": "task-notification"})));
    assert!(!answers(json!({"kind": "never-heard-of"})));
}

#[test]
fn the_duplicate_tool_use_id_fault_is_recognised_and_explained() {
    let text = "API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\
                \"message\":\"messages.1.content.1: `tool_use` ids must be unique\"}}";
    let said = json!({"content": [{"type": "text", "text": text}], "model": "<synthetic>"});
    for message in [
        json!({"type": "result", "subtype": "success", "is_error": true, "result": text}),
        json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "errors": [text]}),
        json!({"type": "assistant", "message": said}),
    ] {
        let fault = read(&message).known_fault().unwrap();
        assert_eq!(fault, KnownFault::DuplicateToolUseId);
        assert!(fault.to_string().contains("2.1.19"));
    }
}

#[test]
fn a_model_that_quotes_the_fault_does_not_have_it() {
    let text = "I saw \"`tool_use` ids must be unique\" in your log.";
    let said = json!({"content": [{"type": "text", "text": text}], "model": "claude-opus-4-5"});
    assert_eq!(read(&json!({"type": "assistant", "message": said})).known_fault(), None);
    assert_eq!(read(&json!({"type": "result", "result": text})).known_fault(), None);
}

fn read(message: &Value) -> Message {
    Message::parse(&message.to_string()).unwrap()
}
