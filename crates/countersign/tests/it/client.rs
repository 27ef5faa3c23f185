//! `countersign client` against a scripted server: what it runs, what it says, what it never does.

mod deciding;
mod fake;
mod person;

use serde_json::{Value, json};
use uuid::Uuid;

use self::fake::Fake;
use self::person::Person;
use crate::world::{countersign, output, stderr};

#[test]
fn a_call_is_run_and_reported_with_its_lease() {
    let (fake, mut person) = watched(&[]);
    std::fs::write(person.root.join("a.txt"), "hello\r\n").unwrap();
    let call = signal(&fake, "read_file", json!({"path": "a.txt"}));
    let renewed = fake.next("/lease");
    assert_eq!(renewed.body, json!({"lease": "t-1"}), "it makes sure of the lease first");
    let result = json!({"success": true, "stdout": "hello\r\n", "stderr": null, "exit_code": null});
    let reported = fake.next("/result");
    assert_eq!(reported.path, format!("/my/projects/p/tools/{call}/result"));
    let expected = json!({"status": "completed", "result": result, "lease": "t-1"});
    assert_eq!(reported.body, expected);
    person.sees("→ read_file a.txt\n✓ read_file a.txt: 7 bytes in ");
    signal(&fake, "write_file", json!({"path": "new/b.txt", "content": "two"}));
    assert_eq!(fake.next("/result").body["result"]["stdout"], "Wrote 3 characters to new/b.txt");
    assert_eq!(person.file("new/b.txt").as_deref(), Some("two"));
    signal(&fake, "execute_command", json!({"command": "sh", "args": ["-c", "echo x; exit 3"]}));
    let failed = json!({"success": false, "stdout": "x\n", "stderr": "", "exit_code": 3});
    assert_eq!(fake.next("/result").body["result"], failed);
    person.sees("✗ execute_command sh -c echo x; exit 3: exit code 3, 2 bytes in ");
}

#[test]
fn the_root_is_the_boundary_whatever_the_server_says() {
    let (fake, mut person) = watched(&[]);
    std::os::unix::fs::symlink("/etc", person.root.join("door")).unwrap();
    for (tool, input, says) in [
        ("read_file", json!({"path": "../secret"}), "lies outside the project"),
        ("read_file", json!({"path": "/etc/passwd"}), "lies outside the project"),
        ("read_file", json!({"path": "door/passwd"}), "leads out of the project's folder"),
        ("write_file", json!({"path": "../x", "content": ""}), "lies outside the project"),
        ("execute_command", json!({"command": "rm", "args": ["-rf", "/"]}), "does not run this"),
        ("Bash", json!({"command": "ls"}), "this client has no tool `Bash`"),
        ("read_file", json!({"wrong": 1}), "unknown field `wrong`"),
    ] {
        signal(&fake, tool, input);
        let body = fake.next("/result").body;
        assert_eq!(body["status"], "failed");
        assert!(body["error"].as_str().unwrap().contains(says), "{body}");
        person.sees("✗ ");
    }
}

#[test]
fn no_call_runs_twice_over_restarts_of_the_server() {
    let (mut fake, mut person) = watched(&[]);
    let fifo = person.root.join("go");
    make_fifo(&fifo);
    let script = "echo ran >> count; read x < go; echo done";
    let call = signal(&fake, "execute_command", sh(script));
    fake.next("/lease");
    person.sees("→ execute_command");
    fake.kill();
    person.sees("connection lost, trying again");
    // It ends while nobody is there to hear of it.
    std::fs::write(&fifo, "\n").unwrap();
    person.sees("✓ execute_command");
    fake.start_again();
    let [again, reported] = fake.next_two(["/chat/stream", "/result"]);
    person.sees("connected again");
    assert_eq!(reported.body["result"]["stdout"], "done\n");
    // The same signal again, as after a lost cursor; and the stream breaks once more.
    say_signal(&fake, call, "execute_command", &sh(script));
    signal(&fake, "list_directory", json!({"path": "."}));
    assert_eq!(fake.next("/result").body["result"]["stdout"], "count\ngo\n");
    fake.kill();
    fake.start_again();
    let ways = [again.last_event_id, fake.next("/chat/stream").last_event_id];
    assert_eq!(ways, [Some("1".to_owned()), Some("3".to_owned())]);
    person.sees("connected again");
    assert_eq!(person.file("count").as_deref(), Some("ran\n"));
}

#[test]
fn a_server_that_comes_late_or_with_another_log_is_welcome() {
    let mut fake = Fake::start();
    fake.kill();
    let mut person = Person::at_a_pipe(&fake, &[]);
    person.sees("no connection yet, trying again (");
    fake.start_again();
    person.sees("Ctrl-C stops.\n");
    signal(&fake, "list_directory", json!({"path": "."}));
    fake.next("/result");
    fake.kill();
    fake.forget();
    fake.start_again();
    person.sees("connected again");
    assert_eq!(fake.next("/chat/stream").last_event_id.as_deref(), Some("1"));
    assert_eq!(fake.next("/chat/stream").last_event_id, None);
    signal(&fake, "list_directory", json!({"path": "."}));
    fake.next("/result");
}

#[test]
fn what_runs_is_stopped_when_the_lease_runs_out_unheard() {
    let (mut fake, mut person) = watched(&[]);
    let alive = person.root.join("alive");
    make_fifo(&alive);
    let id = Uuid::now_v7().to_string();
    let mut short = signal_of(&id, "execute_command", &sh("exec 9>alive; sleep 1000 & wait"));
    short["lease"]["expires_at"] = json!("2026-02-21T06:19:02Z");
    fake.say("tool.execution_signal", &short);
    let mut pipe = std::fs::File::open(&alive).unwrap();
    fake.kill();
    std::io::Read::read_to_end(&mut pipe, &mut Vec::new()).unwrap();
    person.sees("the server was away until the lease ran out");
}

#[test]
fn a_call_that_is_not_ours_any_more_does_not_start() {
    let (fake, mut person) = watched(&[]);
    fake.answers("/lease", &[(409, refusal("lapsed", "the lease has run out"))]);
    signal(&fake, "execute_command", json!({"command": "touch", "args": ["x"]}));
    let said = person.sees("the lease has run out");
    assert!(said.contains("■ execute_command touch x: ") && !said.contains('→'), "{said}");
    assert!(!fake.all().iter().any(|seen| seen.path.ends_with("/result")));
    assert_eq!(person.file("x"), None);
}

#[test]
fn a_call_that_is_over_is_stopped_with_all_its_kin() {
    let (fake, mut person) = watched(&[]);
    let alive = person.root.join("alive");
    make_fifo(&alive);
    let call = signal(&fake, "execute_command", sh("exec 9>alive; sleep 1000 & wait"));
    // Opens once the command has opened it, and ends when the last of its kin does.
    let mut pipe = std::fs::File::open(&alive).unwrap();
    let state = json!({"tool_id": call, "tool_name": "execute_command", "status": "cancelled",
        "error": "the run was interrupted"});
    fake.say("tool.state", &state);
    std::io::Read::read_to_end(&mut pipe, &mut Vec::new()).unwrap();
    person.sees("■ execute_command sh -c exec 9>alive; sleep 1000 & wait: the run was interrupted");
    assert!(!fake.all().iter().any(|seen| seen.path.ends_with("/result")));
}

#[test]
fn output_is_sent_while_a_command_runs() {
    let (fake, person) = watched(&[]);
    let fifo = person.root.join("go");
    make_fifo(&fifo);
    signal(&fake, "execute_command", sh("echo first; read x < go; echo last"));
    assert_eq!(fake.next("/lease").body, json!({"lease": "t-1"}));
    assert_eq!(fake.next("/lease").body, json!({"lease": "t-1", "output": "first\n"}));
    std::fs::write(&fifo, "\n").unwrap();
    assert_eq!(fake.next("/result").body["result"]["stdout"], "first\nlast\n");
}

#[test]
fn a_result_is_offered_until_it_is_taken_or_refused() {
    let (fake, mut person) = watched(&[]);
    let passing = refusal("store", "the database is away");
    let done = json!({"success": true});
    fake.answers("/result", &[(503, passing.clone()), (500, passing), (200, done)]);
    signal(&fake, "list_directory", json!({"path": "."}));
    let bodies = [fake.next("/result").body, fake.next("/result").body, fake.next("/result").body];
    assert!(bodies[0] == bodies[1] && bodies[1] == bodies[2], "the same one each time");
    fake.answers("/result", &[(413, json!("too much")), (200, json!({}))]);
    signal(&fake, "list_directory", json!({"path": "."}));
    assert_eq!(fake.next("/result").body["status"], "completed");
    let instead = fake.next("/result").body;
    assert_eq!((&instead["status"], &instead["lease"]), (&json!("failed"), &json!("t-1")));
    fake.answers("/result", &[(409, refusal("settled", "it has failed: client_lost"))]);
    signal(&fake, "list_directory", json!({"path": "."}));
    person.sees("the server did not take the result: it has failed: client_lost");
}

#[test]
fn ctrl_c_stops_what_runs_and_says_so() {
    let (fake, mut person) = watched(&[]);
    let alive = person.root.join("alive");
    make_fifo(&alive);
    signal(&fake, "execute_command", sh("exec 9>alive; sleep 1000 & wait"));
    let mut pipe = std::fs::File::open(&alive).unwrap();
    person.sees("→ execute_command");
    person.interrupts();
    std::io::Read::read_to_end(&mut pipe, &mut Vec::new()).unwrap();
    let reported = fake.next("/result").body;
    let expected = json!({"status": "failed", "error": "the client was stopped", "lease": "t-1"});
    assert_eq!(reported, expected);
    let (status, said) = person.ends();
    assert!(status.success() && said.ends_with("Stopped.\n"), "{said}");
}

#[test]
fn a_second_ctrl_c_does_not_wait() {
    let (mut fake, mut person) = watched(&[]);
    signal(&fake, "execute_command", sh("trap '' TERM; echo up > up; sleep 1000 & wait"));
    person.sees("→ execute_command");
    fake.kill();
    person.sees("connection lost");
    person.interrupts();
    person.sees("Ctrl-C again stops at once");
    person.interrupts();
    let (status, said) = person.ends();
    assert_eq!(status.code(), Some(1));
    assert!(said.contains("error: stopped at once"), "{said}");
}

#[test]
fn programs_get_one_object_per_line() {
    let (fake, mut person) = watched(&["--json"]);
    signal(&fake, "execute_command", sh("echo x"));
    fake.next("/result");
    let said = person.sees("time_ms");
    person.interrupts();
    let (status, rest) = person.ends();
    assert!(status.success());
    let events: Vec<Value> =
        format!("{said}{rest}").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut names: Vec<_> = events.iter().map(|it| it["event"].as_str().unwrap()).collect();
    // The answer to the result may not have come yet.
    names.retain(|name| *name != "stopping");
    assert_eq!(names, ["started", "finished", "goodbye"]);
    assert_eq!((&events[1]["success"], &events[1]["exit_code"]), (&json!(true), &json!(0)));
}

#[test]
fn what_cannot_work_is_said_with_the_way_out() {
    let fake = Fake::start();
    let url = fake.url();
    let home = tempfile::tempdir().unwrap();
    let check = |args: &[&str], token: Option<&str>, error: &str, hint: &str| {
        let mut command = countersign(home.path());
        command.arg("client").args(args).envs(token.map(|token| ("COUNTERSIGN_TOKEN", token)));
        let ended = command.output().unwrap();
        let said = stderr(&ended);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("error: {error}")), "{said}");
        let hinted = |line: &str| line.starts_with("hint: ") && line.contains(hint);
        assert!(said.lines().any(hinted), "{said}");
        assert!(!said.contains("t-very-secret"), "{said}");
    };
    let secret = Some("t-very-secret");
    check(&["--server", &url], None, "there is no token", "COUNTERSIGN_TOKEN");
    check(&["--server", &url], secret, "the server refuses this client", "--token-file");
    check(&["--server", "nowhere"], secret, "the server address is invalid", "http://");
    check(&["--root", "gone"], secret, "`gone` cannot be a workspace", "--root");
    check(&["--token-file", "gone"], None, "could not read the token file `gone`", "the token");
    fake.answers("/chat/stream", &[(404, refusal("not_found", "there is no project `p`"))]);
    let token = Some(crate::world::TOKEN);
    check(&["--server", &url], token, "the server refuses this client: there is no", "--project");
    let help = String::from_utf8(output(&["client", "-h"]).stdout).unwrap();
    assert!(help.contains("Examples:") && help.contains("--approvals"), "{help}");
}

/// A client at a pipe whose stream is open.
fn watched(args: &[&str]) -> (Fake, Person) {
    let fake = Fake::start();
    let mut person = Person::at_a_pipe(&fake, args);
    person.sees("onnected");
    person.sees("\n");
    if args.is_empty() {
        person.sees("Ctrl-C stops.\n");
    }
    fake.next("/chat/stream");
    (fake, person)
}

fn sh(script: &str) -> Value {
    json!({"command": "sh", "args": ["-c", script]})
}

/// Tells the client to execute something new, and returns its id.
#[expect(clippy::needless_pass_by_value, reason = "it reads better where it is called")]
fn signal(fake: &Fake, tool: &str, input: Value) -> Uuid {
    let call = Uuid::now_v7();
    say_signal(fake, call, tool, &input);
    call
}

fn say_signal(fake: &Fake, call: Uuid, tool: &str, input: &Value) {
    fake.say("tool.execution_signal", &signal_of(&call.to_string(), tool, input));
}

fn signal_of(call: &str, tool: &str, input: &Value) -> Value {
    json!({
        "tool_id": call, "tool_name": tool, "tool_params": input,
        "timestamp": "2026-02-21T06:19:00Z", "session_id": "s",
        "lease": {"token": "t-1", "expires_at": "2026-02-21T06:19:30Z"},
    })
}

fn refusal(code: &str, message: &str) -> Value {
    json!({"success": false, "error": {"code": code, "message": message}})
}

fn make_fifo(path: &std::path::Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}
