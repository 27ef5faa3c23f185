//! Undo over REST: shown first, then done exactly so, refused where somebody else was there, recorded.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::world::World;

const CHANGES: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Write", id = "t1", input = { file_path = "new.txt", content = "made\n" } }
[[script.turn]]
call = { tool = "Edit", id = "t2", input = { file_path = "old.txt", old_string = "one", new_string = "two" } }
[[script.turn]]
call = { tool = "Edit", id = "t3", input = { file_path = "old.txt", old_string = "two", new_string = "three" } }
[[script.turn]]
call = { tool = "Bash", id = "t4", input = { command = "rm gone.txt" } }
[[script.turn]]
say = "Done."
"#;

/// A run that made, changed twice and removed a file, every call approved.
struct Ran {
    world: World,
    run: String,
    /// The calls, in the order they ran.
    calls: Vec<String>,
}

async fn ran() -> Ran {
    let world = World::playing(CHANGES).await;
    std::fs::write(world.path("old.txt"), "one\n").unwrap();
    std::fs::write(world.path("gone.txt"), "precious\n").unwrap();
    let mut client = world.client().await;
    client.run("go").await;
    let mut run = String::new();
    for _ in 0..4 {
        let request = client.until("tool_approval_request").await;
        request["run_id"].as_str().unwrap().clone_into(&mut run);
        client.decide(&request, true, None).await;
    }
    client.until("result/success").await;
    let list = world.get("/my/projects/default/tools/executions").await;
    let ids = list["executions"].as_array().unwrap().iter().rev();
    let calls = ids.map(|call| call["tool_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!((world.file("old.txt"), world.path("gone.txt").exists()), ("three\n".into(), false));
    Ran { world, run, calls }
}

impl Ran {
    fn of_call(&self, index: usize) -> String {
        format!("/my/projects/default/tools/{}/undo", self.calls[index])
    }

    fn of_run(&self) -> String {
        format!("/my/projects/default/runs/{}/undo", self.run)
    }

    async fn undo(&self, path: &str) -> (StatusCode, Value) {
        let shown = self.world.get(path).await;
        self.world.post(path, json!({"digest": shown["digest"]})).await
    }
}

fn actions(shown: &Value) -> Vec<(&str, &str)> {
    let files = shown["files"].as_array().unwrap().iter();
    files
        .map(|file| (file["file_path"].as_str().unwrap(), file["action"].as_str().unwrap()))
        .collect()
}

#[tokio::test]
async fn a_run_is_shown_backwards_and_put_back_whole() {
    let ran = ran().await;
    let shown = ran.world.get(&ran.of_run()).await;
    let expected = [("gone.txt", "restore"), ("new.txt", "delete"), ("old.txt", "restore")];
    assert_eq!(actions(&shown), expected, "{shown}");
    assert_eq!((&shown["is_partial"], &shown["undone_by"]), (&json!(false), &Value::Null));
    let lines = shown["files"][2]["diff"]["diff_lines"].as_array().unwrap();
    assert_eq!(lines[lines.len() - 2..], [json!("-three"), json!("+one")]);
    let (status, done) = ran.undo(&ran.of_run()).await;
    assert_eq!((status, &done["files"], &done["left"]), (StatusCode::OK, &json!(3), &json!([])));
    let world = &ran.world;
    assert_eq!(
        (world.file("old.txt"), world.file("gone.txt")),
        ("one\n".into(), "precious\n".into())
    );
    assert!(!world.path("new.txt").exists());
    let again = world.get(&ran.of_run()).await;
    assert_eq!(again["undone_by"], "admin");
    assert!(actions(&again).iter().all(|(_, action)| *action == "nothing"), "{again}");
}

#[tokio::test]
async fn one_call_is_undone_and_the_rest_of_the_run_after_it() {
    let ran = ran().await;
    let (status, _) = ran.undo(&ran.of_call(2)).await;
    assert_eq!((status, ran.world.file("old.txt").as_str()), (StatusCode::OK, "two\n"));
    let (status, done) = ran.undo(&ran.of_run()).await;
    assert_eq!((status, &done["tool_ids"].as_array().unwrap().len()), (StatusCode::OK, &3));
    assert_eq!(ran.world.file("old.txt"), "one\n");
}

#[tokio::test]
async fn an_earlier_call_is_not_undone_from_under_a_later_one() {
    let ran = ran().await;
    let shown = ran.world.get(&ran.of_call(1)).await;
    assert_eq!(actions(&shown), [("old.txt", "refused")]);
    assert_eq!(shown["files"][0]["reason"], "it was changed since");
    let (status, error) = ran.undo(&ran.of_call(1)).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("refused")));
    assert_eq!(ran.world.file("old.txt"), "three\n");
}

#[tokio::test]
async fn what_a_person_changed_since_stays_and_the_rest_goes_back_if_they_say_so() {
    let ran = ran().await;
    std::fs::write(ran.world.path("old.txt"), "mine\n").unwrap();
    let (status, error) = ran.undo(&ran.of_run()).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("refused")));
    assert!(ran.world.path("new.txt").exists(), "nothing is put back by halves unasked");
    let shown = ran.world.get(&ran.of_run()).await;
    let said = json!({"digest": shown["digest"], "skip_refused": true});
    let (status, done) = ran.world.post(&ran.of_run(), said).await;
    assert_eq!((status, &done["files"]), (StatusCode::OK, &json!(2)));
    assert_eq!(done["left"][0], json!({"file_path": "old.txt", "reason": "it was changed since"}));
    assert_eq!(ran.world.file("old.txt"), "mine\n");
}

#[tokio::test]
async fn what_was_shown_is_what_is_put_back() {
    let ran = ran().await;
    let shown = ran.world.get(&ran.of_run()).await;
    std::fs::write(ran.world.path("old.txt"), "one\n").unwrap();
    let (status, error) = ran.world.post(&ran.of_run(), json!({"digest": shown["digest"]})).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("drift")));
    assert!(!ran.world.path("gone.txt").exists());
}

#[tokio::test]
async fn it_outlasts_the_server_and_is_in_the_audit() {
    let Ran { world, run, calls } = ran().await;
    let ran = Ran { world: world.killed().await, run, calls };
    let (status, done) = ran.undo(&ran.of_call(3)).await;
    assert_eq!((status, &done["files"]), (StatusCode::OK, &json!(1)));
    assert_eq!(ran.world.file("gone.txt"), "precious\n");
    let audit = ran.world.get("/my/projects/default/audit").await;
    let act = audit["entries"].as_array().unwrap().iter().find(|it| it["what"] == "undone");
    let act = act.unwrap_or_else(|| panic!("{audit}"));
    assert_eq!((&act["who"], &act["tool_ids"][0]), (&json!("admin"), &json!(ran.calls[3])));
}

#[tokio::test]
async fn nothing_is_kept_of_what_changed_nothing() {
    let ran = ran().await;
    let unknown = "/my/projects/default/tools/01a1e402-59b7-749a-b9d7-ef9261dea722/undo";
    let (status, error) = ran.undo(unknown).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("bad_request")));
    assert_eq!(ran.world.get(unknown).await["error"]["code"], "nothing_to_undo");
    assert_eq!(
        ran.world.get("/my/projects/default/runs/x/undo").await["error"]["code"],
        "not_found"
    );
}

/// Hands in a write of another agent, and has it approved; the agent has heard so.
async fn handed_in(world: &World, content: &str) -> Value {
    let call = json!({"tool_name": "Write", "session_id": "s", "tool_use_id": "t1",
        "tool_input": {"file_path": "old.txt", "content": content}});
    let (_, call) = world.post("/my/projects/default/tools/calls", call).await;
    let id = call["approval_id"].as_str().unwrap();
    let approve = format!("/my/projects/default/approvals/{id}/approve");
    let (status, said) = world.post(&approve, json!({"decision": "approved"})).await;
    assert_eq!(status, StatusCode::OK, "{said}");
    let told = world.get(&of(&call, "")).await;
    assert_eq!(told["status"], "approved", "{told}");
    call
}

fn of(call: &Value, rest: &str) -> String {
    format!("/my/projects/default/tools/{}{rest}", call["tool_id"].as_str().unwrap())
}

#[tokio::test]
async fn what_another_agent_changed_itself_is_put_back_once_it_has_reported() {
    let world = World::playing(CHANGES).await;
    std::fs::write(world.path("old.txt"), "one\n").unwrap();
    let call = handed_in(&world, "two\n").await;
    std::fs::write(world.path("old.txt"), "two\n").unwrap();
    // Who asks again changes nothing of what was kept.
    world.get(&of(&call, "")).await;
    let shown = world.get(&of(&call, "/undo")).await;
    assert_eq!(actions(&shown), [("old.txt", "refused")], "nobody has said that it is done");
    let done = json!({"status": "completed", "result": {"success": true}});
    world.post(&of(&call, "/result"), done.clone()).await;
    let shown = world.get(&of(&call, "/undo")).await;
    assert_eq!(actions(&shown), [("old.txt", "restore")], "{shown}");
    std::fs::write(world.path("old.txt"), "somebody else\n").unwrap();
    world.post(&of(&call, "/result"), done).await;
    let shown = world.get(&of(&call, "/undo")).await;
    assert_eq!(actions(&shown), [("old.txt", "refused")], "what came later is not its work");
    std::fs::write(world.path("old.txt"), "two\n").unwrap();
    let shown = world.get(&of(&call, "/undo")).await;
    let (status, _) = world.post(&of(&call, "/undo"), json!({"digest": shown["digest"]})).await;
    assert_eq!((status, world.file("old.txt").as_str()), (StatusCode::OK, "one\n"));
}

#[tokio::test]
async fn an_agent_that_works_on_another_machine_leaves_nothing_here_to_undo() {
    let world = World::playing(CHANGES).await;
    std::fs::write(world.path("old.txt"), "one\n").unwrap();
    let call = handed_in(&world, "two\n").await;
    let done = json!({"status": "completed", "result": {"success": true}});
    world.post(&of(&call, "/result"), done).await;
    assert_eq!(world.get(&of(&call, "/undo")).await["error"]["code"], "nothing_to_undo");
}
