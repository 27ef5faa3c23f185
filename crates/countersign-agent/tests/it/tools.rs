//! Every tool in a conversation: the model calls it, the gate lets it through, the model hears of it.

use std::net::{IpAddr, Ipv4Addr};

use countersign_core::{Event, ExecutionStatus};
use countersign_tools::{
    Diagnostics, Environment, FixedResolver, FixedSearch, SearchHit, Toolbox, WebFetch, WebSearch,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use countersign_agent::ApprovalCallback;

use crate::workshop::{Workshop, all, code, decisions, results};

const GIF: &[u8] = b"GIF89a\x02\x00\x03\x00\x00\x00\x00;";

#[tokio::test]
async fn several_edits_of_a_file_are_one_question() {
    let edits = json!({"file_path": "a", "edits": [
        {"old_string": "one", "new_string": "1"}, {"old_string": "two", "new_string": "2"}]});
    let shop = shop("MultiEdit", &edits);
    shop.write("a", "one two");
    assert_eq!(asked_and_told(&shop).await, "MultiEdit");
    assert_eq!(shop.file("a").as_deref(), Some("1 2"));
}

#[tokio::test]
async fn a_patch_over_several_files_is_one_question() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Add File: b\n+two\n\
                 *** Delete File: c\n*** End Patch\n";
    let shop = shop("ApplyPatch", &json!({"patch": patch}));
    shop.write("a", "one\n");
    shop.write("c", "three\n");
    assert_eq!(asked_and_told(&shop).await, "ApplyPatch");
    assert_eq!(shop.file("a").as_deref(), Some("1\n"));
    assert_eq!(shop.file("b").as_deref(), Some("two\n"));
    assert_eq!(shop.file("c"), None);
}

#[tokio::test]
async fn a_cell_of_a_notebook_is_replaced_after_a_question() {
    let input = json!({"notebook_path": "n.ipynb", "cell_id": "cell-0", "new_source": "2"});
    let shop = shop("NotebookEdit", &input);
    let notebook = |source: &str| {
        format!("{{\"cells\": [{{\"cell_type\": \"markdown\", \"source\": \"{source}\"}}]}}")
    };
    shop.write("n.ipynb", &notebook("1"));
    assert_eq!(asked_and_told(&shop).await, "NotebookEdit");
    assert_eq!(shop.file("n.ipynb"), Some(notebook("2")));
}

#[tokio::test]
async fn each_tool_that_changes_something_asks_once() {
    for (tool, input, after) in [
        ("Write", json!({"file_path": "a", "content": "1"}), "1"),
        ("Edit", json!({"file_path": "a", "old_string": "one", "new_string": "2"}), "2"),
        ("Bash", json!({"command": "printf 3 > a"}), "3"),
    ] {
        let shop = shop(tool, &input);
        shop.write("a", "one");
        assert_eq!(asked_and_told(&shop).await, tool);
        assert_eq!(shop.file("a").as_deref(), Some(after), "{tool}");
    }
}

#[tokio::test]
async fn what_only_looks_or_notes_runs_without_a_question() {
    let todos = json!({"todos": [{"content": "Rest", "status": "pending"}]});
    for (tool, input, says) in [
        ("Read", json!({"file_path": "a"}), "     1\tone"),
        ("Grep", json!({"pattern": "o.e"}), "Found 1 file\na"),
        ("Glob", json!({"pattern": "*"}), "/a"),
        ("ListDir", json!({"path": "."}), "  a (3 bytes)"),
        ("TodoWrite", todos, "[ ] Rest"),
        ("TodoRead", json!({}), "No tasks are noted here"),
    ] {
        let shop = shop(tool, &input);
        shop.write("a", "one");
        let running = shop.run("go").await;
        let told = running.results();
        assert!(matches!(told.as_slice(), [(text, false)] if text.contains(says)), "{told:?}");
        assert!(
            !running.events().any(|it| matches!(it, Event::ApprovalRequested { .. })),
            "{tool}"
        );
    }
}

#[tokio::test]
async fn the_model_is_shown_a_picture_and_the_log_only_tells_of_it() {
    let shop = shop("Read", &json!({"file_path": "p.gif"}));
    std::fs::write(shop.root.join("p.gif"), GIF).unwrap();
    let running = shop.run("go").await;
    let said = "Picture p.gif (image/gif, 2 x 3, 14 bytes)";
    assert_eq!(running.results(), [(said, false)]);
    let sent = shop.sent();
    let result = &sent[2]["content"][0];
    assert_eq!(
        result["content"],
        json!([
            {"type": "text", "text": said},
            {"type": "image", "source": {
                "type": "base64", "media_type": "image/gif", "data": "R0lGODlhAgADAAAAADs="}},
        ])
    );
    // What the model was shown is kept with the call and with the conversation.
    assert_eq!(
        shop.messages(&running.session).await[2]["content"][0]["content"],
        result["content"]
    );
    assert_eq!(shop.statuses(), [200, 200], "the model took it");
}

#[tokio::test]
async fn a_page_of_the_web_asks_by_its_host_at_the_gate_and_not_in_the_library() {
    let (url, tool) = site().await;
    let playing = shop("WebFetch", &json!({"url": url})).with_tool(tool.clone());
    let mut running = playing.start("go", None).await;
    let id = running.until_asked().await;
    let asked = playing.approval(id).await;
    assert_eq!(asked.status(), ExecutionStatus::AwaitingApproval);
    assert_eq!(asked.summary(), format!("Fetch `{url}`"));
    playing.approve(id).await;
    assert_eq!(code(&running.end().await), "done");
    let told = running.results();
    assert!(
        matches!(told.as_slice(), [(text, false)] if text.ends_with("\n\n# Hello")),
        "{told:?}"
    );

    let alone = shop("WebFetch", &json!({"url": url})).with_tool(tool);
    let agent = alone.agent(alone.attended(ApprovalCallback::new(async |_| false)));
    let events = all(agent.run("go").await.unwrap()).await;
    assert!(results(&events)[0].0.ends_with("# Hello"), "{events:?}");
    assert_eq!(decisions(&events), [], "nobody was asked");
}

#[tokio::test]
async fn a_search_finds_what_the_engine_finds() {
    let found = SearchHit {
        title: "Countersign".into(),
        url: "https://a.example/".into(),
        extract: "A gate".into(),
    };
    let tool = WebSearch::with_engine(FixedSearch(vec![found]));
    let shop = shop("WebSearch", &json!({"query": "gate"})).with_tool(tool);
    assert_eq!(asked_and_told(&shop).await, "WebSearch");
}

#[tokio::test]
async fn the_checker_of_the_project_is_run_after_a_question() {
    let shop = shop("Diagnostics", &json!({}));
    shop.write("Cargo.toml", "");
    let bin = tempfile::tempdir().unwrap();
    let cargo = bin.path().join("cargo");
    std::fs::write(&cargo, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&cargo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = ("PATH".to_owned(), bin.path().display().to_string());
    let tool = Diagnostics::new(shop.workspace(), Environment::from(vec![path]));
    assert_eq!(asked_and_told(&shop.with_tool(tool)).await, "Diagnostics");
}

#[tokio::test]
async fn no_tool_of_the_house_is_without_its_scene() {
    let scenes = concat!(include_str!("tools.rs"), include_str!("task.rs"));
    let shop = shop("Read", &json!({}));
    let without = |tool: &&str| {
        // As `shop` takes it, and as a scenario says it.
        !scenes.contains(&format!("\"{tool}\", "))
            && !scenes.contains(&format!("tool = \"{tool}\""))
    };
    assert_eq!(shop.tools.names().filter(without).collect::<Vec<_>>(), Vec::<&str>::new());
}

/// A workshop with all tools, whose model calls one of them and then says `Done.`
fn shop(tool: &str, input: &Value) -> Workshop {
    let scenario = format!(
        "[[script]]\n[[script.turn]]\ncall = {{ tool = \"{tool}\", input = {} }}\n\
         [[script.turn]]\nsay = \"Done.\"\n",
        in_toml(input)
    );
    let mut shop = Workshop::playing(&scenario);
    let environment = Environment::from(vec![("PATH".into(), "/usr/bin:/bin".into())]);
    shop.tools = Toolbox::full(&shop.workspace(), environment);
    shop
}

/// Runs the call with a person who approves; returns the tool that was asked for.
async fn asked_and_told(shop: &Workshop) -> String {
    let mut running = shop.start("go", None).await;
    let id = running.until_asked().await;
    let asked = shop.approval(id).await;
    shop.approve(id).await;
    assert_eq!(code(&running.end().await), "done");
    assert!(matches!(running.results().as_slice(), [(_, false)]), "{:?}", running.results());
    assert_eq!(running.texts(), ["Done."]);
    asked.call().tool_name.clone()
}

fn in_toml(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|(key, value)| format!("{key} = {}", in_toml(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(values) => {
            format!("[{}]", values.iter().map(in_toml).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A site on the own machine, and a tool that may reach it.
async fn site() -> (String, WebFetch) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let answer = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\
                          content-length: 14\r\n\r\n<h1>Hello</h1>";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let home = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let resolver = FixedResolver::default().with("docs.example", [address]).allowing(home);
    (format!("http://docs.example:{}/", address.port()), WebFetch::with_resolver(resolver))
}
