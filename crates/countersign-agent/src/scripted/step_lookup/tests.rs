use serde_json::{Value, json};

use super::*;

const NOTES: &str = r#"
[[script]]
prompt = '(?i)write (?<what>\w+)'

[[script.turn]]
say = "Writing {{prompt.what}} in {{cwd}}."

[[script.turn]]
name = "written"
[[script.turn.either]]
when = { is_error = true, result = 'User rejected: call it (\S+)' }
say = "Then {{1}} instead of {{call.file_path}}."
next = "written"
[[script.turn.either]]
when = { is_error = true }
say = "Why not? {{result}}"
[[script.turn.either]]
say = "Done."
next = "end"

[[script.turn]]
say = "not here"

[[script.turn]]
name = "end"
expect = { result = '^(\d+) ok', count = 2 }
say = "{{1}} and {{result}}"

[[script]]
system = 'only titles'
[[script.turn]]
say = "A title"
"#;

#[test]
fn the_first_script_that_fits_speaks() {
    assert_eq!(said(&[user("please write NOTES")]), Ok("Writing NOTES in /w.".into()));
    let refused = said(&[user("dance")]).unwrap_err();
    assert_eq!(refused, "no script fits the prompt `dance`");
    let title = json!({"system": "only titles", "messages": [user("dance")]});
    assert_eq!(speak(&title), Ok("A title".into()));
}

#[test]
fn results_choose_the_alternative() {
    assert_eq!(said(&after(&[ok("fine")])), Ok("Done.".into()));
    assert_eq!(said(&after(&[error("User rejected")])), Ok("Why not? User rejected".into()));
    let named = error("User rejected: call it b.txt");
    assert_eq!(said(&after(&[named])), Ok("Then b.txt instead of f1.".into()));
}

#[test]
fn a_way_through_the_script_is_walked_again_from_the_conversation() {
    let named = |name: &str| error(&format!("User rejected: call it {name}"));
    let mut talk = after(&[named("b.txt")]);
    talk.extend(round(2, &[named("c.txt")]));
    assert_eq!(said(&talk), Ok("Then c.txt instead of f2.".into()));
    talk.extend(round(3, &[ok("fine")]));
    assert_eq!(said(&talk), Ok("Done.".into()));
    talk.extend(round(4, &[ok("12 ok"), ok("13 ok")]));
    assert_eq!(said(&talk), Ok("12 and 12 ok\n13 ok".into()));
    talk.extend(round(5, &[ok("more")]));
    assert!(said(&talk).unwrap_err().contains("there is no turn after script 1"));
}

#[test]
fn a_new_prompt_starts_again() {
    let mut talk = after(&[error("User rejected")]);
    talk.push(json!({"role": "assistant", "content": "Why not?"}));
    talk.push(user("then write poems"));
    assert_eq!(said(&talk), Ok("Writing poems in /w.".into()));
}

#[test]
fn what_was_expected_is_said_beside_what_came() {
    let mut talk = after(&[ok("fine")]);
    talk.extend(round(2, &[ok("1 ok"), error("no")]));
    let refused = said(&talk).unwrap_err();
    assert!(
        refused.ends_with(
            r"turn 4: expected 2 results like `^(\d+) ok`, but what came is: result `1 ok`, error `no`"
        ),
        "{refused}"
    );
}

fn said(messages: &[Value]) -> Result<String, String> {
    speak(&json!({"system": "Working directory: /w", "messages": messages}))
}

fn speak(request: &Value) -> Result<String, String> {
    let scenario = Scenario::parse(NOTES).unwrap();
    let cue = find(&scenario, &RequestSummary::read(request))?;
    Ok(cue.step.say.as_ref().unwrap().render(&cue.context))
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn ok(text: &str) -> (String, bool) {
    (text.into(), false)
}

fn error(text: &str) -> (String, bool) {
    (text.into(), true)
}

/// A conversation in which the first answer made calls that came back with these results.
fn after(results: &[(String, bool)]) -> Vec<Value> {
    let mut talk = vec![user("write notes")];
    talk.extend(round(1, results));
    talk
}

fn round(number: usize, results: &[(String, bool)]) -> Vec<Value> {
    let id = |n: usize| format!("t{number}-{n}");
    let calls: Vec<Value> = (0..results.len())
        .map(|n| {
            let input = json!({"file_path": format!("f{number}")});
            json!({"type": "tool_use", "id": id(n), "name": "Write", "input": input})
        })
        .collect();
    let results: Vec<Value> = results
        .iter()
        .enumerate()
        .map(|(n, (text, is_error))| {
            json!({"type": "tool_result", "tool_use_id": id(n), "content": text, "is_error": is_error})
        })
        .collect();
    vec![
        json!({"role": "assistant", "content": calls}),
        json!({"role": "user", "content": results}),
    ]
}
