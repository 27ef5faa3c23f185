//! The audit over REST: what was done, oldest first, page by page.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::world::{TOKEN, World};

const WRITE: &str = r#"
[[script]]
prompt = 'write'
[[script.turn]]
call = { tool = "Write", input = { file_path = "a.txt", content = "a" } }
[[script.turn]]
call = { tool = "Write", input = { file_path = "b.txt", content = "b" } }
[[script.turn]]
say = "Done."
"#;

/// A world in which one call ran, one was rejected, and a rule came.
async fn with_a_history() -> World {
    let world = World::playing(WRITE).await;
    let mut client = world.client().await;
    client.run("write").await;
    let first = client.until("tool_approval_request").await;
    client.decide(&first, true, None).await;
    let second = client.until("tool_approval_request").await;
    client.decide(&second, false, Some("not this one")).await;
    client.until("result/success").await;
    let rules = json!({"rules": [{"effect": "deny", "rule": "Bash(rm *)"}]});
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("http://{}/my/projects/default/rules", world.address);
    let put = http.put(url).bearer_auth(TOKEN).json(&rules).send().await.unwrap();
    assert_eq!(put.status(), StatusCode::OK);
    world
}

fn entries(page: &Value) -> &[Value] {
    page["entries"].as_array().unwrap_or_else(|| panic!("{page}"))
}

#[tokio::test]
async fn the_audit_tells_what_was_done_the_oldest_first() {
    let world = with_a_history().await;
    let page = world.get("/my/projects/default/audit").await;
    assert_eq!((&page["success"], &page["next_cursor"]), (&json!(true), &json!(null)));
    let told = entries(&page).iter().map(|it| {
        let said = |key: &str| it[key].as_str().unwrap_or("-").to_owned();
        [said("what"), said("status"), said("how"), said("who")].join(" ")
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "call awaiting_approval policy -",
            "call approved person admin",
            "call executing person admin",
            "call completed person admin",
            "call awaiting_approval policy -",
            "call rejected person admin",
            "rules - - admin",
        ]
    );
    let [_, approved, _, completed, _, rejected, rules] = entries(&page) else { panic!("{page}") };
    for (number, entry) in (1..).zip(entries(&page)) {
        assert_eq!(entry["seq"], number);
        assert_eq!(entry["hash"].as_str().unwrap().len(), 64, "{entry}");
        assert!(entry["at"].as_str().unwrap().ends_with('Z'), "{entry}");
    }
    assert_eq!(
        (&approved["tool_name"], &approved["risk_level"]),
        (&json!("Write"), &json!("MEDIUM"))
    );
    assert_eq!(approved["input"], completed["input"], "what ran is what was decided on");
    assert!(approved.get("result").is_none() && completed["result"].is_string());
    assert_eq!(rejected["message"], "not this one");
    let kept = rules["kept"][0].as_str().unwrap();
    assert!(kept.ends_with(" deny: Bash(rm *)"), "{kept}");
    for key in ["approval_id", "tool_id", "tool_use_id", "session_id", "run_id", "summary", "saw"] {
        assert!(approved[key].is_string(), "{key}: {approved}");
    }
}

/// What is shown is what was sealed, with its seal.
#[tokio::test]
async fn it_agrees_with_the_rows() {
    let world = with_a_history().await;
    let page = world.get("/my/projects/default/audit").await;
    let rows = world.gate().store().audit_rows(None, None, 100).await.unwrap();
    assert_eq!(rows.len(), entries(&page).len());
    for (row, entry) in rows.iter().zip(entries(&page)) {
        assert_eq!(entry["hash"], row.hash.as_str());
        let sealed: Value = serde_json::from_str(&row.body).unwrap();
        for (key, value) in sealed.as_object().unwrap() {
            assert_eq!(&entry[key], value, "{key} of {entry}");
        }
    }
}

#[tokio::test]
async fn pages_make_up_the_whole_and_what_comes_later_follows() {
    let world = with_a_history().await;
    let whole = world.get("/my/projects/default/audit").await;
    let mut pages = Vec::new();
    let mut next = String::new();
    loop {
        let page = world.get(&format!("/my/projects/default/audit?limit=3{next}")).await;
        pages.extend_from_slice(entries(&page));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        assert_eq!(entries(&page).len(), 3);
        next = format!("&cursor={cursor}");
    }
    assert_eq!(pages, entries(&whole));
    let bad = world.get("/my/projects/default/audit?cursor=x").await;
    assert_eq!(bad["error"]["code"], "bad_cursor");
    let behind = world.get("/my/projects/default/audit?cursor=1000").await;
    assert_eq!((entries(&behind).len(), &behind["next_cursor"]), (0, &json!(null)));
}

#[tokio::test]
async fn it_needs_a_credential_and_a_project() {
    let world = World::playing(WRITE).await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let status = async |project: &str, token: &str| {
        let url = format!("http://{}/my/projects/{project}/audit", world.address);
        http.get(url).bearer_auth(token).send().await.unwrap().status()
    };
    assert_eq!(status("default", "guess").await, StatusCode::UNAUTHORIZED);
    assert_eq!(status("nope", TOKEN).await, StatusCode::NOT_FOUND);
    assert_eq!(status("default", TOKEN).await, StatusCode::OK);
    let empty = world.get("/my/projects/default/audit").await;
    assert_eq!(empty, json!({"success": true, "entries": [], "next_cursor": null}));
}
