//! Rules over REST: shown, replaced, revoked, trusted, tried out.

use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{TOKEN, World};

const WRITES: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Write", input = { file_path = "src/a.rs", content = "a\n" } }
[[script.turn]]
call = { tool = "Write", input = { file_path = "docs/a.md", content = "a\n" } }
[[script.turn]]
say = "Done."
"#;

#[tokio::test]
async fn what_is_put_is_what_is_shown() {
    let world = World::playing(WRITES).await;
    let (status, empty) = rules(&world, Method::GET, "", json!(null)).await;
    assert_eq!((status, &empty["rules"], &empty["mode"]), (200, &json!([]), &json!("default")));
    let wanted = json!({
        "version": empty["version"],
        "rules": [
            {"effect": "allow", "rule": "Bash(git*)", "why": "it is ours"},
            {"effect": "deny", "rule": "Edit(/keys/**)", "expires_at": "2099-01-01T00:00:00Z"},
        ],
    });
    let (status, put) = rules(&world, Method::PUT, "", wanted).await;
    assert_eq!(status, 200, "{put}");
    assert_ne!(put["version"], empty["version"]);
    assert_eq!(rules(&world, Method::GET, "", json!(null)).await.1, put);
    let [first, second] = put["rules"].as_array().unwrap().as_slice() else { panic!("{put}") };
    assert_eq!(first["why"], "it is ours");
    assert_eq!(first["origin"], json!({"kind": "page", "approval_id": null, "path": null}));
    assert_eq!((&first["source"], &first["holds"]), (&json!("project"), &json!(true)));
    assert_eq!((&first["created_by"], &first["uses"]), (&json!("admin"), &json!(0)));
    assert!(first["warnings"][0].as_str().unwrap().contains("write `git:*`"), "{first}");
    assert_eq!(second["expires_at"], "2099-01-01T00:00:00Z");
    let gone = format!("/{}", first["id"].as_str().unwrap());
    let (status, left) = rules(&world, Method::DELETE, &gone, json!(null)).await;
    assert_eq!((status, &left["rules"]), (200, &json!([second])));
    assert_eq!(rules(&world, Method::DELETE, &gone, json!(null)).await.0, 404);
    assert_eq!(rules(&world, Method::DELETE, "/nonsense", json!(null)).await.0, 404);
}

#[tokio::test]
async fn what_cannot_be_kept_is_said_and_changes_nothing() {
    let world = World::playing(WRITES).await;
    let (_, read) = rules(&world, Method::GET, "", json!(null)).await;
    let one = |rule: Value| json!({"rules": [rule]});
    for (body, code, says) in [
        (one(json!({"effect": "allow", "rule": "Bash("})), "bad_rule", "`Bash(`"),
        (one(json!({"effect": "allow", "rule": "*"})), "bad_rule", "`*`"),
        (one(json!({"effect": "maybe", "rule": "Bash"})), "bad_request", "maybe"),
        (one(json!({"effect": "ask", "rule": "Bash", "extra": 1})), "bad_request", "extra"),
        (json!({"rules": [], "extra": 1}), "bad_request", "extra"),
        (json!({}), "bad_request", "rules"),
    ] {
        let (status, said) = rules(&world, Method::PUT, "", body).await;
        assert_eq!((status, &said["error"]["code"]), (400, &json!(code)), "{said}");
        assert!(said["error"]["message"].as_str().unwrap().contains(says), "{said}");
    }
    let rule = json!({"effect": "ask", "rule": "Bash"});
    let stale = json!({"version": "0", "rules": [rule]});
    let (status, said) = rules(&world, Method::PUT, "", stale).await;
    assert_eq!((status, &said["error"]["code"]), (409, &json!("rules_changed")));
    let foreign =
        json!({"id": "01890a5d-ac96-774b-bcce-b302099a8057", "effect": "ask", "rule": "Bash"});
    assert_eq!(rules(&world, Method::PUT, "", one(foreign)).await.0, 404);
    assert_eq!(rules(&world, Method::GET, "", json!(null)).await.1, read, "nothing has changed");
}

#[tokio::test]
async fn rules_belong_to_a_project_and_to_those_who_are_signed_in() {
    let world = World::playing(WRITES).await;
    let calls = [
        (Method::GET, "", json!(null)),
        (Method::PUT, "", json!({"rules": []})),
        (Method::DELETE, "/x", json!(null)),
        (Method::POST, "/check", json!({"tool_name": "Bash", "tool_input": {}})),
        (Method::POST, "/simulate", json!({"rules": []})),
        (Method::POST, "/trust", json!({"digest": "x"})),
    ];
    for (method, path, body) in calls {
        let nowhere = format!("/my/projects/nope/rules{path}");
        let (status, said) = send(&world, method.clone(), &nowhere, &body, TOKEN).await;
        assert_eq!((status, &said["error"]["code"]), (404, &json!("not_found")), "{said}");
        let here = format!("/my/projects/default/rules{path}");
        assert_eq!(send(&world, method, &here, &body, "wrong").await.0, 401, "{path}");
    }
}

#[tokio::test]
async fn a_rule_of_the_project_runs_what_would_ask_and_counts_it() {
    let world = World::playing(WRITES).await;
    let wanted = json!({"rules": [{"effect": "allow", "rule": "Edit(/src/**)"}]});
    rules(&world, Method::PUT, "", wanted).await;
    let mut client = world.client().await;
    client.run("write").await;
    let asked = client.until("tool_approval_request").await;
    assert_eq!(asked["tool_input"]["file_path"], "docs/a.md", "the other one ran");
    assert_eq!(world.file("src/a.rs"), "a\n");
    let (_, shown) = rules(&world, Method::GET, "", json!(null)).await;
    assert_eq!(shown["rules"][0]["uses"], 1);
    assert!(shown["rules"][0]["last_used_at"].is_string());
}

#[tokio::test]
async fn a_workspaces_file_waits_for_trust_in_its_content() {
    let world = World::playing(WRITES).await;
    let file = "[permissions]\nallow = ['Edit(/src/**)']\nask = ['Bash(', 'Bash(git push:*)']\n";
    std::fs::write(world.path("countersign.toml"), file).unwrap();
    let (_, shown) = rules(&world, Method::GET, "", json!(null)).await;
    let holds = |shown: &Value| -> Vec<(String, Value)> {
        let rules = shown["rules"].as_array().unwrap().iter();
        rules.map(|it| (it["rule"].as_str().unwrap().to_owned(), it["holds"].clone())).collect()
    };
    let edit = ("Edit(/src/**)".to_owned(), json!(false));
    assert!(holds(&shown).contains(&edit), "{shown}");
    let [user, workspace] = shown["files"].as_array().unwrap().as_slice() else { panic!() };
    assert_eq!((&user["source"], &user["present"]), (&json!("user"), &json!(false)));
    assert_eq!((&workspace["present"], &workspace["trusted"]), (&json!(true), &json!(false)));
    assert_eq!(workspace["problems"][0]["rule"], "Bash(");
    let trust = async |digest: &Value| {
        rules(&world, Method::POST, "/trust", json!({"digest": digest})).await
    };
    let (status, said) = trust(&json!("other")).await;
    assert_eq!((status, &said["error"]["code"]), (409, &json!("changed")));
    let (status, trusted) = trust(&workspace["digest"]).await;
    assert_eq!((status, &trusted["files"][1]["trusted"]), (200, &json!(true)));
    assert!(holds(&trusted).contains(&(edit.0, json!(true))), "{trusted}");
    std::fs::remove_file(world.path("countersign.toml")).unwrap();
    assert_eq!(trust(&workspace["digest"]).await.0, 404);
}

#[tokio::test]
async fn a_check_tells_the_verdict_and_why() {
    let world = World::playing(WRITES).await;
    let check = async |body: Value| rules(&world, Method::POST, "/check", body).await;
    let write = |rules: Value| {
        let input = json!({"file_path": "src/a.rs", "content": "a\n"});
        json!({"tool_name": "Write", "tool_input": input, "rules": rules})
    };
    let (status, asked) = check(write(json!(null))).await;
    assert_eq!((status, &asked["verdict"]), (200, &json!("ask")), "{asked}");
    assert_eq!(
        (&asked["risk_level"], &asked["effects"][0]["kind"]),
        (&json!("MEDIUM"), &json!("write"))
    );
    assert_eq!(asked["proposals"][0]["rules"], json!(["Edit(/src/a.rs)"]));
    assert!(!asked["explanation"].as_str().unwrap().is_empty());
    let (_, allowed) = check(write(json!([{"effect": "allow", "rule": "Edit(/src/**)"}]))).await;
    assert_eq!((&allowed["verdict"], &allowed["proposals"]), (&json!("allow"), &json!([])));
    let rule = json!({"rule": "Edit(/src/**)", "source": "project"});
    assert_eq!(allowed["reasons"][0]["rule"], rule);
    let bash = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    let (_, two) = check(bash("ls && touch a")).await;
    let commands: Vec<_> = two["commands"].as_array().unwrap().iter().collect();
    let said: Vec<_> = commands.iter().map(|it| (&it["text"], &it["verdict"])).collect();
    assert_eq!(said, [(&json!("ls"), &json!("allow")), (&json!("touch a"), &json!("ask"))]);
    let mut plan = bash("touch a");
    plan["mode"] = json!("plan");
    assert_eq!(check(plan.clone()).await.1["verdict"], "deny");
    plan["mode"] = json!("wild");
    assert_eq!(check(plan).await.1["error"]["code"], "bad_mode");
    for unfit in [
        bash(""),
        json!({"tool_name": "Fly", "tool_input": {}}),
        json!({"tool_name": "Read", "tool_input": 7}),
    ] {
        let (status, denied) = check(unfit).await;
        assert_eq!((status, &denied["verdict"]), (200, &json!("deny")), "{denied}");
        assert!(denied["reasons"][0]["text"].is_string());
    }
    assert!(!world.path("a").exists(), "nothing has run");
}

#[tokio::test]
async fn a_simulation_tells_where_people_had_decided_otherwise() {
    let world = World::playing(WRITES).await;
    let mut client = world.client().await;
    client.run("write").await;
    let asked = client.until("tool_approval_request").await;
    client.decide(&asked, true, None).await;
    let asked = client.until("tool_approval_request").await;
    client.decide(&asked, false, Some("not there")).await;
    client.until("result/success").await;
    let wanted = json!({"rules": [{"effect": "allow", "rule": "Edit(/docs/**)"}]});
    let (status, found) = rules(&world, Method::POST, "/simulate", wanted).await;
    assert_eq!((status, &found["replayed"]), (200, &json!(2)), "{found}");
    assert_eq!(found["before"], json!({"allow": 0, "ask": 2, "deny": 0}));
    assert_eq!(found["after"], json!({"allow": 1, "ask": 1, "deny": 0}));
    let [changed] = found["changed"].as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!((&changed["before"], &changed["after"]), (&json!("ask"), &json!("allow")));
    assert_eq!((&changed["decided"], &changed["contradicts"]), (&json!("rejected"), &json!(true)));
    assert_eq!(changed["rules"], json!(["Edit(/docs/**)"]));
    let bad = json!({"rules": [{"effect": "allow", "rule": "Bash("}]});
    let (status, said) = rules(&world, Method::POST, "/simulate", bad).await;
    assert_eq!((status, &said["error"]["code"]), (400, &json!("bad_rule")));
}

async fn rules(world: &World, method: Method, path: &str, body: Value) -> (u16, Value) {
    let path = format!("/my/projects/default/rules{path}");
    send(world, method, &path, &body, TOKEN).await
}

async fn send(
    world: &World,
    method: Method,
    path: &str,
    body: &Value,
    token: &str,
) -> (u16, Value) {
    let client = Client::builder().no_proxy().build().unwrap();
    let mut request = client.request(method, format!("http://{}{path}", world.address));
    if !body.is_null() {
        request = request.json(body);
    }
    let answer = request.bearer_auth(token).send().await.unwrap();
    let status: StatusCode = answer.status();
    (status.as_u16(), answer.json().await.unwrap())
}
