use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn known_kinds_are_typed() {
    let message: ModelMessage = serde_json::from_value(json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "I will read it."},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}},
    ]}))
    .unwrap();
    let thinking = MessageThinking {
        thinking: "hm".into(),
        signature: Some("s".into()),
        ..MessageThinking::default()
    };
    let call = MessageToolUse::new("t1", "Read", json!({"file_path": "a"}));
    assert_eq!(
        message.content,
        vec![
            MessageBlock::Thinking(thinking),
            MessageBlock::text("I will read it."),
            MessageBlock::ToolUse(call.clone())
        ]
    );
    assert_eq!(message.text(), "I will read it.");
    assert_eq!(message.tool_uses().collect::<Vec<_>>(), vec![&call]);
}

#[test]
fn what_is_not_known_survives() {
    replays(&json!({"type": "text", "text": "x", "citations": null, "new": {"b": 1, "a": 2}}));
    replays(&json!({"type": "tool_result", "tool_use_id": "t", "is_error": null, "content": 3}));
    replays(&json!({"type": "tool_result", "tool_use_id": "t", "is_error": false}));
    replays(&json!({"type": "tool_result", "tool_use_id": "t",
        "content": [{"type": "image", "source": {}}, {"type": "text", "text": "x"}]}));
    replays(&json!({"type": "thinking", "thinking": ""}));
    replays(&json!({"type": "redacted_thinking", "data": "abc"}));
    replays(&json!({"type": "tool_use", "id": "t", "name": "X", "input": [1.5e-7], "caller": {}}));
    replays(&json!({"type": "server_tool_use", "id": "t", "name": "web", "input": {}}));
    replays(&json!({"type": "text"}));
    replays(&json!({"type": 3}));
    replays(&json!("not a block"));
}

#[test]
fn the_order_of_extra_fields_is_kept() {
    let text = r#"{"type":"text","text":"x","z":1,"a":2,"m":3}"#;
    let block: MessageBlock = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&block).unwrap(), text);
}

#[test]
fn a_plain_string_is_one_text_block() {
    let message: ModelMessage = serde_json::from_str(r#"{"role":"user","content":"hi"}"#).unwrap();
    assert_eq!(message, ModelMessage::user("hi"));
}

#[test]
fn a_broken_input_is_not_sent() {
    let call = MessageToolUse {
        broken_input: Some("{\"a".into()),
        ..MessageToolUse::new("t", "Read", json!({}))
    };
    assert_eq!(
        serde_json::to_value(MessageBlock::ToolUse(call)).unwrap(),
        json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}})
    );
}

proptest! {
    #[test]
    fn any_block_replays_as_it_came(block in any_block()) {
        replays(&block);
    }

    #[test]
    fn any_message_replays_as_it_came(blocks in prop::collection::vec(any_block(), 0..5)) {
        let wire = json!({"role": "assistant", "content": blocks});
        let message: ModelMessage = serde_json::from_value(wire.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(&message).unwrap(), wire);
    }
}

fn replays(wire: &Value) {
    let block = MessageBlock::from(wire.clone());
    assert_eq!(&serde_json::to_value(&block).unwrap(), wire);
    // Through text as well, as it is stored and sent.
    let again: MessageBlock =
        serde_json::from_str(&serde_json::to_string(&block).unwrap()).unwrap();
    assert_eq!(again, block);
}

/// Blocks of known and unknown kinds, with fields present, absent and of the wrong type.
fn any_block() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "text",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "server_tool_use",
        "",
    ]);
    let key = prop::sample::select(vec![
        "text",
        "thinking",
        "signature",
        "data",
        "id",
        "name",
        "input",
        "tool_use_id",
        "content",
        "is_error",
        "cache_control",
    ]);
    (kind, prop::collection::btree_map(key, any_json(), 0..8)).prop_map(|(kind, fields)| {
        let mut block = Map::from_iter([("type".to_owned(), json!(kind))]);
        block.extend(fields.into_iter().map(|(key, value)| (key.to_owned(), value)));
        Value::Object(block)
    })
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
