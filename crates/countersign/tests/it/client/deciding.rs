//! Approvals at the client: what a person sees, what they say, and that nobody else says it for them.

use serde_json::{Value, json};
use uuid::Uuid;

use super::fake::{Fake, Seen};
use super::person::Person;
use super::{refusal, signal_of};

#[test]
fn without_a_terminal_nobody_is_asked_and_nothing_is_approved() {
    let fake = Fake::start();
    let waiting = request("execute_command", "Run `one`");
    fake.answers("/approvals", &[(200, json!({"success": true, "approvals": [waiting]}))]);
    for args in [&[][..], &["--approvals", "elsewhere"], &["--json"]] {
        let mut person = Person::at_a_pipe(&fake, args);
        person.sees("onnected");
        fake.next("/chat/stream");
        let asked = request("execute_command", "Run `npm test`");
        fake.say("tool.approval_request", &asked);
        person.sees("npm test");
        let decided = json!({"approval_id": asked["approval_id"], "tool_id": asked["tool_id"],
            "status": "rejected", "decided_by": "ana"});
        fake.say("tool.approval_decided", &decided);
        let said = person.sees("ana");
        assert!(said.contains("rejected"), "{said}");
        let decisions = |seen: &Seen| seen.path.contains("/approvals/");
        assert!(!fake.all().iter().any(decisions));
    }
}

#[test]
fn at_a_terminal_a_person_decides_what_they_saw() {
    let fake = Fake::start();
    let before = request("execute_command", "Run `one` on the client");
    let list = json!({"success": true, "approvals": [before]});
    fake.answers("/approvals", &[(200, list)]);
    let mut person = Person::at_a_terminal(&fake, &[]);
    let card = person.sees("[s]kip › ");
    assert!(card.contains("── execute_command · HIGH"), "{card}");
    assert!(card.contains("Run `one` on the client\r\n  · a reason"), "{card}");
    assert!(card.contains("    rm -rf 'a b\\u{1b}[2J'\r\n    in /p · at most 60 s"), "{card}");
    person.types("a\r");
    let approved = fake.next("/approve");
    assert_eq!(approved.body, json!({"decision": "approved", "digest": "d-1"}));
    assert!(approved.path.contains(before["approval_id"].as_str().unwrap()));
    person.sees("Run `one` on the client: approved by you");
    let [two, three] = ["Run `two`", "Run `three`"].map(|what| request("execute_command", what));
    fake.say("tool.approval_request", &two);
    fake.say("tool.approval_request", &three);
    person.sees("Run `two`");
    person.sees("[s]kip › ");
    person.types("r\r");
    person.sees("what should happen instead?");
    person.types("use pnpn\u{7f}m\r");
    let rejected = fake.next("/reject").body;
    assert_eq!(rejected, json!({"reason": "use pnpm", "digest": "d-1"}));
    person.sees("Run `three`");
    person.sees("[s]kip › ");
    let gone = json!({"approval_id": three["approval_id"], "status": "timeout"});
    fake.say("tool.approval_decided", &gone);
    person.sees("Run `three`: nobody decided in time");
    person.types("a\r");
    let four = request("execute_command", "Run `four`");
    fake.say("tool.approval_request", &four);
    person.sees("Run `four`");
    person.sees("[s]kip › ");
    person.types("s\r");
    person.sees("Run `four` waits for approval, skipped here");
    let kinds = ["/approve", "/reject"];
    assert!(!fake.all().iter().any(|seen| kinds.iter().any(|end| seen.path.ends_with(end))));
}

#[test]
fn what_was_typed_before_a_card_was_not_meant_for_it() {
    let fake = Fake::start();
    let mut person = Person::at_a_terminal(&fake, &[]);
    person.sees("Ctrl-C stops.");
    person.types("a\ra\ra\r");
    fake.next("/chat/stream");
    fake.say("tool.approval_request", &request("execute_command", "Run `one`"));
    person.sees("Run `one`");
    person.types("a\r");
    person.sees("[s]kip › ");
    assert!(!fake.all().iter().any(|seen| seen.path.ends_with("/approve")));
    person.types("\u{1b}[Ax\u{7f}a\r");
    fake.next("/approve");
}

#[test]
fn the_client_says_what_is_here_and_writes_over_nothing_else() {
    let fake = Fake::start();
    let mut person = Person::at_a_terminal(&fake, &[]);
    std::fs::write(person.root.join("a.txt"), "one\ntwo\n").unwrap();
    person.sees("Ctrl-C stops.");
    let stream = fake.next("/chat/stream");
    assert!(stream.query.contains("preimages=true"), "{}", stream.query);
    let input = json!({"path": "a.txt", "content": "one\nthree\n"});
    let mut asked = request("write_file", "Write `a.txt` on the client");
    let wanted = json!({"tool_id": asked["tool_id"], "tool_name": "write_file",
        "tool_params": input, "timestamp": "2026-02-21T06:19:00Z"});
    fake.say("tool.preview_request", &wanted);
    let said = fake.next("/preimage").body;
    let path = person.root.join("a.txt");
    assert_eq!(
        (&said["root"], &said["path"], &said["content"]),
        (&json!(person.root), &json!(path), &json!("one\ntwo\n"))
    );
    asked["preview_type"] = json!("diff");
    asked["diff_lines"] = json!(["--- a/a.txt", "+++ b/a.txt", "@@ -1 +1 @@", "-from the server"]);
    asked["tool_input"] = input.clone();
    fake.say("tool.approval_request", &asked);
    let card = person.sees("[s]kip › ");
    assert!(card.contains("    -from the server") && !card.contains("-two"), "{card}");
    person.types("a\r");
    fake.next("/approve");
    std::fs::write(&path, "something else\n").unwrap();
    let mut signal = signal_of(asked["tool_id"].as_str().unwrap(), "write_file", &input);
    signal["approval_id"] = asked["approval_id"].clone();
    signal["preimages"] = json!([{"path": said["path"], "digest": said["digest"]}]);
    fake.say("tool.execution_signal", &signal);
    let body = fake.next("/result").body;
    assert_eq!(body["error_type"], "file_changed", "{body}");
    let error = body["error"].as_str().unwrap();
    assert!(error.contains("has changed since it was approved"), "{body}");
    assert_eq!(person.file("a.txt").as_deref(), Some("something else\n"));
}

#[test]
fn a_client_is_told_that_it_stands_by_and_that_it_takes_over() {
    let fake = Fake::start();
    let mut person = Person::at_a_pipe(&fake, &[]);
    person.sees("Ctrl-C stops.");
    fake.next("/chat/stream");
    for (role, message) in [("standing_by", "another client executes"), ("executing", "it is us")] {
        fake.say("executor.role", &json!({"role": role, "message": message}));
        person.sees(message);
    }
    let wanted = json!({"tool_id": Uuid::now_v7(), "tool_name": "write_file",
        "tool_params": {"path": "../x", "content": ""}});
    fake.say("tool.preview_request", &wanted);
    let said = fake.next("/preimage").body;
    let refusal = said["refusal"].as_str().unwrap();
    assert!(refusal.contains("lies outside the project"), "{said}");
}

#[test]
fn a_decision_that_does_not_arrive_is_asked_for_again() {
    let fake = Fake::start();
    let mut person = Person::at_a_terminal(&fake, &[]);
    person.sees("Ctrl-C stops.");
    fake.next("/chat/stream");
    fake.answers("/approve", &[(503, refusal("store", "the database is away"))]);
    let asked = request("execute_command", "Run `one`");
    fake.say("tool.approval_request", &asked);
    person.sees("[s]kip › ");
    person.types("a\r");
    person.sees("your decision did not reach the server (the database is away)");
    person.sees("[s]kip › ");
    // It is another one by now: what was seen does not count.
    let mut fresh = asked.clone();
    fresh["digest"] = json!("d-2");
    fresh["summary"] = json!("Run `two`");
    let id = asked["approval_id"].as_str().unwrap();
    fake.answers(id, &[(200, fresh)]);
    fake.answers(
        "/approve",
        &[(409, refusal("drift", "it has changed")), (200, json!({"status": "approved"}))],
    );
    person.types("a\r");
    person.sees("it has changed since you saw it");
    person.sees("Run `two`");
    person.sees("[s]kip › ");
    fake.all();
    person.types("a\r");
    assert_eq!(fake.next("/approve").body["digest"], "d-2");
    person.sees("Run `two`: approved by you");
}

#[test]
fn a_token_that_may_not_decide_leaves_it_to_others() {
    let fake = Fake::start();
    let mut person = Person::at_a_terminal(&fake, &[]);
    person.sees("Ctrl-C stops.");
    fake.next("/chat/stream");
    fake.answers("/approve", &[(403, refusal("forbidden", "an agent does not decide"))]);
    fake.say("tool.approval_request", &request("execute_command", "Run `one`"));
    person.sees("[s]kip › ");
    person.types("a\r");
    person.sees("you may not decide here: an agent does not decide");
    person.sees("Run `one` waits for approval, elsewhere: this token may not decide");
}

fn request(tool: &str, summary: &str) -> Value {
    json!({
        "approval_id": Uuid::now_v7(), "tool_id": Uuid::now_v7(), "tool_name": tool,
        "risk_level": "HIGH", "status": "awaiting_approval", "summary": summary,
        "reasons": ["a reason"], "digest": "d-1", "tool_input": {"command": "true"},
        "origin": "client", "preview_type": "command",
        "preview_data": {"command": "'rm' '-rf' 'a b\u{1b}[2J'", "cwd": "/p", "timeout_ms": 60000},
    })
}
