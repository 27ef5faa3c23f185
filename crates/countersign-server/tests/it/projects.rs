//! Projects over REST: listed, made of folders, settled.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::world::World;

const HELLO: &str = "[[script]]\n[[script.turn]]\nsay = 'hello'\n";

#[tokio::test]
async fn the_default_project_is_the_first_root() {
    let world = World::playing(HELLO).await;
    let list = world.get("/my/projects").await;
    assert_eq!(
        (list["projects"].as_array().unwrap().len(), &list["next_cursor"]),
        (1, &json!(null))
    );
    let one = world.get("/my/projects/default").await;
    assert_eq!(one["root"], world.root.to_str().unwrap());
    assert_eq!(one["name"], "ws");
    assert_eq!(
        one["settings"],
        json!({"approval_timeout_seconds": {"MEDIUM": 300, "HIGH": 600}, "tool_approval_enabled": true,
            "rehearse": false})
    );
    let by_id = world.get(&format!("/my/projects/{}", one["project_id"].as_str().unwrap())).await;
    assert_eq!(by_id, one);
    assert_eq!(world.get("/my/projects/nope").await["error"]["code"], "not_found");
}

#[tokio::test]
async fn settings_change_one_by_one_and_outlast_the_server() {
    let world = World::playing(HELLO).await;
    let change = async |world: &World, settings| {
        let body = json!({"name": "mine", "settings": settings});
        world.ask(Method::PATCH, "/my/projects/default", Some(body)).await
    };
    let (status, one) = change(&world, json!({"approval_timeout_seconds": {"MEDIUM": 5}})).await;
    assert_eq!((status, &one["name"]), (StatusCode::OK, &json!("mine")));
    let timeouts = |one: &serde_json::Value| one["settings"]["approval_timeout_seconds"].clone();
    assert_eq!(timeouts(&one), json!({"MEDIUM": 5, "HIGH": 600}));
    let (_, one) = change(&world, json!({"approval_timeout_seconds": {"HIGH": 7}})).await;
    assert_eq!(timeouts(&one), json!({"MEDIUM": 5, "HIGH": 7}));
    let (_, one) = change(&world, json!({"tool_approval_enabled": false})).await;
    assert_eq!(one["settings"]["tool_approval_enabled"], false);
    let world = world.restarted().await;
    let one = world.get("/my/projects/default").await;
    assert_eq!(timeouts(&one), json!({"MEDIUM": 5, "HIGH": 7}));
    let (_, one) = change(&world, json!({"approval_timeout_seconds": {"HIGH": null}})).await;
    assert_eq!(timeouts(&one), json!({"MEDIUM": 5, "HIGH": 600}));
    for wrong in [
        json!({"approval_timeout_seconds": {"MEDIUM": 0}}),
        json!({"approval_timeout_seconds": {"MEDIUM": -1}}),
        json!({"approval_timeout_seconds": {"HIGH": 1.5}}),
        json!({"approval_timeout_seconds": {"HIGH": "60"}}),
        json!({"approval_timeout_seconds": {"HIGH": 99_999_999_999_u64}}),
        json!({"approval_timeout_seconds": 60}),
        json!({"tool_approval_enabled": "yes"}),
        json!({"tool_aproval_enabled": false}),
        json!({"approval_timeout_seconds": {"LOW": 60}}),
    ] {
        let (status, error) = change(&world, wrong.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{wrong} {error}");
    }
    let stands = world.get("/my/projects/default").await;
    assert_eq!(timeouts(&stands), json!({"MEDIUM": 5, "HIGH": 600}));
}

#[tokio::test]
async fn a_project_says_what_is_its_own_what_is_the_servers_and_who_changed_it_last() {
    let world = World::playing(HELLO).await;
    let one = world.get("/my/projects/default").await;
    let nothing = json!({"approval_timeout_seconds": {"MEDIUM": null, "HIGH": null}, "tool_approval_enabled": null});
    assert_eq!((&one["own"], &one["approvals"]), (&nothing, &json!("chosen")));
    assert_eq!(
        one["server"],
        json!({"approval_timeout_seconds": {"MEDIUM": 300, "HIGH": 600}, "tool_approval_enabled": null,
            "sandbox": {"level": "none", "why": "it is switched off"}})
    );
    assert_eq!((one.get("changed_by"), one.get("changed_at")), (None, None));
    let mut page = world.client().await;
    page.send(json!({"command": "resume", "after": 0})).await;
    page.until("system/caught_up").await;
    let mut founding = world.client().await;
    let off = json!({"settings": {"tool_approval_enabled": false}});
    let (_, one) = world.ask(Method::PATCH, "/my/projects/default", Some(off)).await;
    assert_eq!((&one["changed_by"], &one["approvals"]), (&json!("admin"), &json!("off")));
    assert_eq!(one["own"]["tool_approval_enabled"], false);
    let told = page.until("system/settings").await;
    assert_eq!(told["content"]["approvals"], "off", "{told}");
    let on = json!({"settings": {"tool_approval_enabled": true}});
    world.ask(Method::PATCH, "/my/projects/default", Some(on)).await;
    let told = page.until("system/settings").await;
    assert_eq!(told["content"]["approvals"], "kept", "{told}");
    let modes = told["content"]["modes"].as_array().unwrap();
    let bypass = modes.iter().find(|mode| mode["id"] == "bypassPermissions").unwrap();
    assert!(bypass["reason"].as_str().unwrap().contains("approvals are on"), "{bypass}");
    founding.send(json!({"command": "nonsense"})).await;
    let heard = founding.next().await;
    assert_eq!(heard["type"], "error", "S1's clients hear nothing of it: {heard}");
}

#[tokio::test]
async fn a_folder_inside_a_root_can_be_a_project_of_its_own() {
    let world = World::playing(HELLO).await;
    std::fs::create_dir_all(world.path("services/api")).unwrap();
    let wanted = json!({"root": "services/api", "name": "API",
        "settings": {"approval_timeout_seconds": {"HIGH": 30}}});
    let (status, made) = world.post("/my/projects", wanted.clone()).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(made["root"], world.path("services/api").to_str().unwrap());
    assert_eq!(made["settings"]["approval_timeout_seconds"]["HIGH"], 30);
    let absolute = json!({"root": world.path("services/api")});
    let (status, again) = world.post("/my/projects", absolute).await;
    assert_eq!((status, &again), (StatusCode::OK, &made), "one project per root");
    let id = made["project_id"].as_str().unwrap();
    let message = json!({"content": "hi", "executor": "local"});
    let (status, _) = world.post(&format!("/my/projects/{id}/chat/messages"), message).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let world = world.restarted().await;
    assert_eq!(world.get(&format!("/my/projects/{id}")).await, made);
    let first = world.get("/my/projects?limit=1").await;
    assert_eq!(first["projects"][0]["name"], "ws");
    let next = first["next_cursor"].as_str().unwrap();
    let second = world.get(&format!("/my/projects?limit=1&cursor={next}")).await;
    assert_eq!(
        (&second["projects"][0]["name"], &second["next_cursor"]),
        (&json!("API"), &json!(null))
    );
}

#[tokio::test]
async fn nothing_outside_the_roots_becomes_a_project() {
    let world = World::playing(HELLO).await;
    std::fs::write(world.path("file"), "x").unwrap();
    std::os::unix::fs::symlink("/", world.path("out")).unwrap();
    for root in ["/", "..", "../ws/..", "file", "missing", "out", "out/tmp", "", "a\0b"] {
        let (status, error) = world.post("/my/projects", json!({"root": root})).await;
        assert_eq!(
            (status, &error["error"]["code"]),
            (StatusCode::BAD_REQUEST, &json!("bad_root")),
            "{root}"
        );
    }
    for name in ["", "  ", "a\nb"] {
        let (status, error) = world.post("/my/projects", json!({"root": ".", "name": name})).await;
        assert_eq!(
            (status, &error["error"]["code"]),
            (StatusCode::BAD_REQUEST, &json!("bad_name"))
        );
    }
    assert_eq!(world.get("/my/projects").await["projects"].as_array().unwrap().len(), 1);
}
