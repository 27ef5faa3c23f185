//! Tools over REST: which there are, and what was done with them.

use serde_json::{Value, json};

use crate::world::World;

const TWO: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Write", id = "toolu_1", input = { file_path = "a.txt", content = "a", } }
[[script.turn]]
call = { tool = "Read", id = "toolu_2", input = { file_path = "a.txt" } }
[[script.turn]]
say = "Done."
"#;

#[tokio::test]
async fn the_tools_of_the_server_are_told_with_their_parameters() {
    let world = World::playing(TWO).await;
    let list = world.get("/my/projects/default/tools/available?executor=local").await;
    assert_eq!((&list["success"], &list["total_count"]), (&json!(true), &json!(6)));
    let tools = list["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Read", "Write", "Edit", "Bash", "Glob", "Grep"]);
    let (read, write) = (&tools[0], &tools[1]);
    assert_eq!(read["parameters"]["file_path"]["type"], "string");
    let told = |tool: &Value| {
        json!([tool["requires_approval"], tool["risk_level"], tool["timeout_seconds"]])
    };
    assert_eq!(told(read), json!([false, "LOW", 0]));
    assert_eq!(told(write), json!([true, "MEDIUM", 300]));
}

/// S2's own example, and the two tools it leaves out.
#[tokio::test]
async fn the_tools_of_a_client_are_the_founding_documents_four() {
    let world = World::playing(TWO).await;
    let list = world.get("/my/projects/default/tools/available").await;
    assert_eq!((&list["success"], &list["total_count"]), (&json!(true), &json!(4)));
    let told = list["tools"].as_array().unwrap().iter().map(|tool| {
        let parameters: Vec<_> = tool["parameters"].as_object().unwrap().keys().collect();
        json!([
            tool["name"],
            tool["requires_approval"],
            tool["risk_level"],
            tool["timeout_seconds"],
            parameters
        ])
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told[0], json!(["read_file", false, "LOW", 0, ["path"]]));
    assert_eq!(told[1], json!(["write_file", true, "MEDIUM", 300, ["path", "content"]]));
    assert_eq!(told[2], json!(["list_directory", false, "LOW", 0, ["path"]]));
    let execute = &told[3];
    assert_eq!((&execute[0], &execute[3]), (&json!("execute_command"), &json!(300)));
    for name in ["command", "args", "timeout"] {
        assert!(execute[4].as_array().unwrap().contains(&json!(name)), "{execute}");
    }
}

#[tokio::test]
async fn the_history_is_told_and_can_be_searched() {
    let world = World::playing(TWO).await;
    let mut stream = world.stream("").await;
    let session = world.say("go").await;
    let asked = stream.until("tool.approval_request").await;
    let id = asked.data["approval_id"].as_str().unwrap();
    world.post(&format!("/my/projects/default/approvals/{id}/approve"), json!({})).await;
    stream.until("run.done").await;
    let all = world.get("/my/projects/default/tools/executions").await;
    let [read, write] = all["executions"].as_array().unwrap().as_slice() else { panic!("{all}") };
    assert_eq!(
        (&write["tool_name"], &write["status"], &write["requires_approval"]),
        (&json!("Write"), &json!("completed"), &json!(true))
    );
    assert_eq!(write["approval_id"], id);
    assert_eq!(write["tool_id"], asked.data["tool_id"]);
    assert!(write["result"].as_str().unwrap().starts_with("Wrote 1 character"), "{write}");
    assert!(write["completed_at"].is_string() && write["execution_time_ms"].is_u64());
    assert_eq!((&read["risk_level"], &read["requires_approval"]), (&json!("LOW"), &json!(false)));
    assert!(read.get("approval_id").is_none());
    let at = write["created_at"].as_str().unwrap();
    for (query, count) in [
        ("?status=completed".to_owned(), 2),
        ("?status=failed".to_owned(), 0),
        ("?tool=Write".to_owned(), 1),
        ("?risk=LOW".to_owned(), 1),
        ("?risk=MEDIUM&tool=Read".to_owned(), 0),
        (format!("?session={session}"), 2),
        (format!("?session_id={session}&tool=Read"), 1),
        ("?session=other".to_owned(), 0),
        (format!("?from={at}"), 2),
        (format!("?to={at}"), 0),
        ("?limit=1".to_owned(), 1),
    ] {
        let found = world.get(&format!("/my/projects/default/tools/executions{query}")).await;
        assert_eq!(found["executions"].as_array().unwrap().len(), count, "{query} {found}");
    }
    for wrong in ["?status=x", "?risk=low", "?from=yesterday", "?limit=0", "?limit=-1", "?cursor=x"]
    {
        let found = world.get(&format!("/my/projects/default/tools/executions{wrong}")).await;
        assert_eq!(found["success"], false, "{wrong}");
    }
    let huge = "?limit=99999999999999999999999999";
    let found = world.get(&format!("/my/projects/default/tools/executions{huge}")).await;
    assert_eq!(found["executions"].as_array().unwrap().len(), 2);
}
