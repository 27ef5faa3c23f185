use super::*;

#[test]
fn a_good_conversation_passes() {
    let thought = "hm";
    accepts(&json!([
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": thought, "signature": seal(thought)},
            {"type": "text", "text": "a"},
            call("t1"),
            call("t2"),
        ]},
        {"role": "user", "content": [result("t1"), result("t2"), text_block("and?")]},
        {"role": "user", "content": "two in a row are read as one"},
    ]));
}

#[test]
fn every_call_needs_its_result_directly_after_it() {
    let asked = json!({"role": "user", "content": "hi"});
    let called = json!({"role": "assistant", "content": [call("t1"), call("t2")]});
    let after = |content: Value| json!([asked, called, {"role": "user", "content": content}]);
    refuses(
        &after(json!("what?")),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1, t2.",
    );
    refuses(&after(json!([result("t1")])), "immediately after: t2.");
    refuses(
        &after(json!([text_block("x"), result("t1"), result("t2")])),
        "immediately after: t1, t2.",
    );
    refuses(&after(json!([result("t1"), result("t2"), result("t1")])), "single result");
    refuses(
        &after(json!([result("t1"), result("t2"), result("t3")])),
        "messages.2.content.2: unexpected `tool_use_id` found in `tool_result` blocks: t3.",
    );
    refuses(&json!([{"role": "user", "content": [result("t1")]}]), "unexpected `tool_use_id`");
    let again = json!([asked, called, {"role": "user", "content": [result("t1"), result("t2")]}, called, asked]);
    refuses(&again, "messages.3.content.0: `tool_use` ids must be unique");
}

#[test]
fn the_user_begins_and_ends() {
    let user = json!({"role": "user", "content": "hi"});
    let model = json!({"role": "assistant", "content": "ho"});
    refuses(&json!([]), "at least one message is required");
    refuses(&json!([model, user]), "first message must use the \"user\" role");
    refuses(&json!([user, model]), "must end with a user message");
    refuses(&json!([{"role": "robot", "content": "hi"}]), "messages.0.role");
}

#[test]
fn nothing_may_be_empty() {
    refuses(&json!([{"role": "user", "content": ""}]), "must have non-empty content");
    refuses(&json!([{"role": "user", "content": []}]), "must have non-empty content");
    refuses(&json!([{"role": "user", "content": [text_block("")]}]), "must be non-empty");
    refuses(&json!([{"role": "user", "content": [text_block(" \n")]}]), "non-whitespace");
    refuses(&json!([{"role": "user"}]), "messages.0.content: Field required");
}

#[test]
fn thoughts_come_back_as_they_were() {
    let said = |blocks: Value| {
        json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": blocks},
            {"role": "user", "content": "go on"},
        ])
    };
    let altered = json!({"type": "thinking", "thinking": "hm!", "signature": seal("hm")});
    refuses(&said(json!([altered, text_block("a")])), "messages.1.content.0: Invalid `signature`");
    let unsigned = json!({"type": "thinking", "thinking": "hm"});
    refuses(&said(json!([unsigned, text_block("a")])), "thinking.signature: Field required");
    let sealed = json!({"type": "thinking", "thinking": "hm", "signature": seal("hm")});
    refuses(&said(json!([sealed])), "The final block in an assistant message cannot be `thinking`");
}

#[test]
fn fields_that_do_not_exist_are_refused() {
    let broken = json!({"type": "tool_use", "id": "t", "name": "X", "input": {}, "broken": 1});
    let called = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": [broken]}, {"role": "user", "content": [result("t")]}]);
    refuses(&called, "messages.1.content.0.tool_use.broken: Extra inputs are not permitted");
    let list = json!({"type": "tool_use", "id": "t", "name": "X", "input": []});
    let called = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": [list]}, {"role": "user", "content": [result("t")]}]);
    refuses(&called, "tool_use.input: Input should be a valid dictionary");
}

#[test]
fn what_must_be_there_must_be_there() {
    let messages = json!([{"role": "user", "content": "hi"}]);
    refused(&json!({"model": "m", "messages": messages}), "max_tokens: Field required");
    refused(&json!({"max_tokens": 1, "messages": messages}), "model: Field required");
    refused(&json!({"model": "m", "max_tokens": 1}), "messages: Field required");
    refused(&json!({"model": "m", "max_tokens": 0, "messages": messages}), "max_tokens: Input");
    refused(&json!([]), "Input should be an object");
    let twice = json!([{"name": "A"}, {"name": "A"}]);
    refused(
        &json!({"model": "m", "max_tokens": 1, "messages": messages, "tools": twice}),
        "unique",
    );
    let bad = json!([{"name": "a b"}]);
    refused(&json!({"model": "m", "max_tokens": 1, "messages": messages, "tools": bad}), "tools.0");
}

#[test]
fn there_are_at_most_four_cache_marks() {
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    let content = vec![marked; 5];
    refuses(&json!([{"role": "user", "content": content}]), "Found 5.");
}

fn accepts(messages: &Value) {
    check(&request(messages)).unwrap();
}

fn refuses(messages: &Value, message: &str) {
    refused(&request(messages), message);
}

fn refused(body: &Value, message: &str) {
    let error = check(body).unwrap_err();
    assert_eq!((error.status, error.kind.as_str()), (400, "invalid_request_error"));
    assert!(error.message.contains(message), "`{}` should say `{message}`", error.message);
}

fn request(messages: &Value) -> Value {
    json!({"model": "m", "max_tokens": 100, "messages": messages})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
