//! Tools decided here and executed there: a server, a client and a scripted model as real processes.

mod house;
mod listener;

use std::time::Duration;

use serde_json::{Value, json};

use self::house::House;

/// S2's whole flow: what is LOW runs at once, what is MEDIUM or HIGH asks with its own time, a
/// rejection and a timeout go back to the agent, which goes on.
const FLOW: &str = r#"
[[script]]
[[script.turn]]
say = "I look first."
call = { tool = "read_file", input = { path = "a.txt" }, id = "toolu_read" }
[[script.turn]]
expect = { result = '^hello from the client$', is_error = false }
call = { tool = "write_file", input = { path = "b.txt", content = "written\n" }, id = "toolu_write" }
[[script.turn]]
expect = { result = 'b\.txt', is_error = false }
call = { tool = "execute_command", input = { command = "./note.sh", args = ["one"] }, id = "toolu_run" }
[[script.turn]]
expect = { result = '^ran one$', is_error = false }
call = { tool = "execute_command", input = { command = "./note.sh", args = ["two"] }, id = "toolu_no" }
[[script.turn]]
expect = { result = '^User rejected: not now$', is_error = true }
call = { tool = "write_file", input = { path = "c.txt", content = "late" }, id = "toolu_late" }
[[script.turn]]
expect = { result = '^Approval timed out$', is_error = true }
call = { tool = "write_file", input = { path = "../out.txt", content = "x" }, id = "toolu_out" }
[[script.turn]]
expect = { result = 'lies outside the project', is_error = true }
say = "All done."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_flow_of_the_founding_document() {
    let mut house = House::playing(FLOW);
    let mut listener = house.listen().await;
    house.start_client();
    let started = house.say("go").await;
    assert_eq!(started["success"], true, "{started}");
    listener.until_state("read_file", "completed").await;
    let write = listener.until("tool.approval_request").await;
    assert_fields(&write, "write_file", "MEDIUM", 300);
    approve(&house, &write).await;
    let run = listener.until("tool.approval_request").await;
    assert_eq!(house.client_file("b.txt").as_deref(), Some("written\n"));
    assert_fields(&run, "execute_command", "HIGH", 600);
    approve(&house, &run).await;
    let no = listener.until("tool.approval_request").await;
    house.give_one_second().await;
    let rejected = house
        .post(
            &format!("approvals/{}/reject", text(&no["approval_id"])),
            json!({"reason": "not now"}),
        )
        .await;
    assert_eq!(rejected.0, 200);
    assert_eq!(rejected.1["status"], "rejected");
    let late = listener.until("tool.approval_request").await;
    assert_fields(&late, "write_file", "MEDIUM", 1);
    listener.until("run.done").await;
    assert_eq!(house.notes(), ["start one", "end one"]);
    assert_eq!(house.client_file("c.txt"), None);
}

const WRITES: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "write_file", input = { path = "a.txt", content = "line\n" }, id = "toolu_1" }
[[script.turn]]
expect = { result = 'Wrote', is_error = false }
call = { tool = "write_file", input = { path = "a.txt", content = "again\n" }, id = "toolu_2" }
[[script.turn]]
expect = { result = 'has changed since it was approved', is_error = true }
call = { tool = "execute_command", input = { command = "ls" }, id = "toolu_3" }
[[script.turn]]
expect = { result = 'a\.txt', is_error = false }
say = "All done."
"#;

/// The founding complaint: client B showed `+line`, and client A's file lost what was precious.
#[tokio::test(flavor = "multi_thread")]
async fn with_two_clients_people_see_the_file_that_is_written_and_no_other_is() {
    let house = House::playing(WRITES);
    house.put("one/a.txt", "PRECIOUS\n");
    house.put("two/a.txt", "");
    // Somebody looks on with curl, and comes first.
    let _onlooker = house.look_on().await;
    let mut listener = house.listen().await;
    let mut one = house.start_client_in("one");
    let root = text(&one.tells("connected")["root"]).to_owned();
    let mut two = house.start_client_in("two");
    let told = two.tells("executor_role");
    assert_eq!(
        (text(&told["role"]), text(&told["message"])),
        ("standing_by", "another client executes this project's calls; this one stands by")
    );
    house.say("go").await;
    let write = listener.until("tool.approval_request").await;
    let lines = write["diff_lines"].as_array().unwrap().iter().skip(3).collect::<Vec<_>>();
    assert_eq!(lines, ["-PRECIOUS", "+line"], "{write}");
    assert_eq!(write["reasons"], json!([format!("changes `{root}/a.txt`")]));
    approve(&house, &write).await;
    let again = listener.until("tool.approval_request").await;
    assert_eq!(
        (house.read("one/a.txt"), house.read("two/a.txt")),
        ("line\n".into(), String::new())
    );
    house.put("one/a.txt", "somebody else wrote this\n");
    approve(&house, &again).await;
    let failed = listener.until_state("write_file", "failed").await;
    assert_eq!(failed["error_type"], "file_changed", "{failed}");
    assert_eq!(house.read("one/a.txt"), "somebody else wrote this\n");
    // `ls` is no danger where the client has told which program that is: nobody is asked.
    assert_eq!(listener.last_words().await, "All done.");
    drop(one);
    let told = two.tells("executor_role");
    assert_eq!(text(&told["role"]), "executing");
}

/// The fields of S2.9, to the letter.
#[track_caller]
fn assert_fields(request: &Value, tool: &str, risk: &str, seconds: u64) {
    assert_eq!(request["tool_name"], tool, "{request}");
    assert_eq!(request["risk_level"], risk, "{request}");
    assert_eq!(request["timeout_seconds"], seconds, "{request}");
    for field in ["approval_id", "tool_id", "description", "timestamp"] {
        assert!(request[field].is_string(), "{field}: {request}");
    }
}

async fn approve(house: &House, request: &Value) {
    let id = text(&request["approval_id"]);
    let approved =
        house.post(&format!("approvals/{id}/approve"), json!({"decision": "approved"})).await;
    let expected = json!({"success": true, "approval_id": id, "status": "approved"});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&approved.1[field], value, "{approved:?}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Runs one command on the client that waits until it is let go.
const ONE: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "execute_command", input = { command = "./note.sh", args = ["one"], timeout = 30 } }
[[script.turn]]
[[script.turn.either]]
when = { is_error = true }
say = "It failed: {{result}}"
[[script.turn.either]]
say = "It said: {{result}}"
"#;

#[derive(Clone, Copy, Debug)]
enum Victim {
    Client,
    Server,
}

#[derive(Clone, Copy, Debug)]
enum Moment {
    /// The request waits.
    Asked,
    /// It was approved a moment ago.
    Approved,
    /// The command runs.
    Running,
    /// The command has ended a moment ago.
    Ended,
}

macro_rules! killed {
    ($($name:ident: $victim:ident at $moment:ident;)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                survives(Victim::$victim, Moment::$moment).await;
            }
        )*
    };
}

killed! {
    a_client_that_dies_while_a_request_waits: Client at Asked;
    a_client_that_dies_right_after_the_yes: Client at Approved;
    a_client_that_dies_while_it_runs_the_call: Client at Running;
    a_client_that_dies_right_after_the_call: Client at Ended;
    a_server_that_dies_while_a_request_waits: Server at Asked;
    a_server_that_dies_right_after_the_yes: Server at Approved;
    a_server_that_dies_while_the_client_runs_the_call: Server at Running;
    a_server_that_dies_right_after_the_call: Server at Ended;
}

/// Whoever dies whenever: the call runs at most once, and the run comes to an end that tells the truth.
async fn survives(victim: Victim, moment: Moment) {
    let mut house = House::playing(ONE);
    house.hold_commands();
    let mut listener = house.listen().await;
    house.start_client();
    house.say("go").await;
    let request = listener.until("tool.approval_request").await;
    if matches!(moment, Moment::Asked) {
        house.kill_and_restart(victim);
    }
    approve(&house, &request).await;
    if matches!(moment, Moment::Approved) {
        house.kill_and_restart(victim);
    }
    if matches!(moment, Moment::Running | Moment::Ended) {
        house.until_notes(1).await;
    }
    if matches!(moment, Moment::Running) {
        house.kill_and_restart(victim);
    }
    house.let_commands_go();
    if matches!(moment, Moment::Ended) {
        house.until_notes(2).await;
        house.kill_and_restart(victim);
    }
    let said = tokio::time::timeout(Duration::from_secs(90), listener.last_words()).await;
    let Ok(said) = said else { panic!("the run does not come to its end") };
    let starts = house.notes().iter().filter(|note| *note == "start one").count();
    assert!(starts <= 1, "{victim:?} at {moment:?}: {:?}", house.notes());
    match said.as_str() {
        "It said: ran one" => assert_eq!(starts, 1),
        lost => assert!(lost.contains("Whether it took effect is unknown"), "{lost}"),
    }
    if matches!((victim, moment), (Victim::Server, _) | (Victim::Client, Moment::Asked)) {
        assert_eq!(said, "It said: ran one", "{victim:?} at {moment:?}: nothing was lost");
    }
}

impl House {
    fn kill_and_restart(&mut self, victim: Victim) {
        match victim {
            Victim::Client => {
                self.kill_client();
                self.start_client();
            }
            Victim::Server => self.restart_server(),
        }
    }
}
