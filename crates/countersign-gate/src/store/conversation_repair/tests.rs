use super::*;

fn said(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {}});
    json!({"role": "assistant", "content": ids.iter().map(call).collect::<Vec<_>>()})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn heard(blocks: &[Value]) -> Value {
    json!({"role": "user", "content": blocks})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[track_caller]
fn check(before: Vec<Value>, after: Vec<Value>, expected: ConversationRepair) {
    let mut slots: Vec<_> = before.into_iter().map(Some).collect();
    assert_eq!(repair_conversation(&mut slots), expected);
    slots.retain(Option::is_some);
    assert_eq!(slots, after.into_iter().map(Some).collect::<Vec<_>>());
    assert_eq!(repair_conversation(&mut slots), ConversationRepair::default(), "mended is mended");
}

#[test]
fn a_whole_conversation_stays_as_it_is() {
    let talk = vec![
        json!({"role": "user", "content": "look"}),
        said(&["a", "b"]),
        heard(&[result("a")]),
        heard(&[result("b"), text("and then?")]),
        said(&["c"]),
    ];
    check(talk.clone(), talk, ConversationRepair::default());
}

#[test]
fn a_second_result_of_a_call_goes_and_a_message_of_nothing_else_with_it() {
    check(
        vec![
            heard(&[text("go")]),
            said(&["a"]),
            heard(&[result("a")]),
            said(&["b"]),
            heard(&[result("a"), result("b"), result("b"), text("next")]),
            heard(&[result("z")]),
        ],
        vec![
            heard(&[text("go")]),
            said(&["a"]),
            heard(&[result("a")]),
            said(&["b"]),
            heard(&[result("b"), text("next")]),
        ],
        ConversationRepair { removed: 3, added: 0, moved: 0 },
    );
}

#[test]
fn a_call_without_a_result_gets_one_before_what_was_said_next() {
    check(
        vec![
            said(&["a", "b"]),
            heard(&[result("b")]),
            json!({"role": "user", "content": "next"}),
            said(&["c"]),
            json!({"role": "user", "content": "go on"}),
        ],
        vec![
            said(&["a", "b"]),
            heard(&[interrupted_result("a"), result("b")]),
            json!({"role": "user", "content": "next"}),
            said(&["c"]),
            heard(&[interrupted_result("c"), text("go on")]),
        ],
        ConversationRepair { removed: 0, added: 2, moved: 0 },
    );
}

#[test]
fn a_result_that_words_hide_comes_before_them() {
    check(
        vec![said(&["a"]), heard(&[text("well"), result("a")])],
        vec![said(&["a"]), heard(&[result("a"), text("well")])],
        ConversationRepair { removed: 0, added: 0, moved: 1 },
    );
}

#[test]
fn open_calls_are_those_of_the_latest_turn_without_a_result() {
    let talk = [
        said(&["a"]),
        heard(&[text("never mind")]),
        said(&["b"]),
        said(&["c"]),
        heard(&[result("b")]),
    ];
    assert_eq!(open_calls(&talk), ["c"]);
    assert_eq!(open_calls(&talk[..4]), ["b", "c"]);
    assert!(open_calls(&[]).is_empty());
}
