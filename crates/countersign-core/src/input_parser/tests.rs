use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn one_object_is_read_as_it_stands() {
    let raw = r#" {"b": [1, -2, 1.5, null, true], "a": {"x": "é\u00e9\n"}} "#;
    assert_eq!(parse_input(raw), Ok(json!({"b": [1, -2, 1.5, null, true], "a": {"x": "éé\n"}})));
    assert_eq!(parse_input("{}"), Ok(json!({})));
}

#[test]
fn a_key_that_is_there_twice_is_refused_at_any_depth() {
    check(r#"{"command":"ls","command":"touch pwned"}"#, "`command` is there twice");
    check(r#"{"a":[{"b":{"c":1,"c":1}}]}"#, "`c` is there twice");
    check(r#"{"comm\u0061nd":"ls","command":"x"}"#, "`command` is there twice");
}

#[test]
fn what_parsers_read_differently_is_refused() {
    check(r#"{"a":"\ud800"}"#, "not strict JSON");
    check(r#"{"a":1} x"#, "trailing characters");
    check(r#"{"a":1}{"a":2}"#, "trailing characters");
    check(r#"{"a":1,}"#, "trailing comma");
    check("{'a':1}", "not strict JSON");
    check("{\"a\":\"\n\"}", "control character");
    check(r#"{"a":NaN}"#, "not strict JSON");
    check(r#"{"a":1e999}"#, "number out of range");
    check(r#"{"a":18446744073709551616}"#, "a number is too large");
    check(r#"{"a":-1e300}"#, "a number is too large");
    check("\u{feff}{}", "not strict JSON");
    check(r#"{"$serde_json::private::RawValue":"{}"}"#, "reserved name");
    check("", "not strict JSON");
}

/// Found by fuzzing: a reader that is off by the last digit judges another number than the one that runs.
#[test]
fn a_fraction_is_read_to_its_last_digit() {
    for digits in [40, 80, 120] {
        let raw = format!("{{\"a\":1.1{}}}", "9".repeat(digits));
        assert_eq!(parse_input(&raw), Ok(json!({"a": 1.2})), "{raw}");
    }
    let raw = r#"{"a":1.1999999999999999e-126}"#;
    assert_eq!(parse_input(raw).map(|value| value.to_string()), Ok(raw.to_owned()));
}

#[test]
fn only_an_object_is_an_input() {
    check("[]", "the input is a list, not an object");
    check("\"{}\"", "the input is a text");
    check("null", "the input is null");
}

#[test]
fn size_and_depth_are_limited() {
    let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse_input(&nested(DEPTH_LIMIT - 1)).is_ok());
    check(&nested(DEPTH_LIMIT), "deeper than 64 levels");
    check(&nested(100_000), "deeper than 64 levels");
    check(&format!("{{\"a\":\"{}\"}}", "x".repeat(SIZE_LIMIT)), "the limit is 16777216");
}

proptest! {
    #[test]
    fn no_text_breaks_the_reading(text in ".*", like in "[\\[\\]{}\",:0-9a-z\\\\ue.+-]{0,40}") {
        let _ = parse_input(&text);
        let _ = parse_input(&like);
    }

    #[test]
    fn what_was_written_is_read_again(value in value()) {
        let object = json!({"value": value});
        prop_assert_eq!(parse_input(&object.to_string()), Ok(object));
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

#[track_caller]
fn check(raw: &str, says: &str) {
    let InvalidCall(text) = parse_input(raw).unwrap_err();
    assert!(text.contains(says), "{text}");
}
