use countersign_core::Effect;
use countersign_tools::{BraveSearch, FixedSearch, SearchHit, WebSearch};
use serde_json::json;

use crate::server::Server;
use crate::world::{World, assert_has};

#[tokio::test]
async fn without_an_engine_it_says_so_before_anybody_is_asked() {
    let world = World::new().with_tool(WebSearch::new());
    assert_has(&world.fails("WebSearch", json!({"query": "x"})).await, "is not configured here");
}

#[tokio::test]
async fn what_was_found_is_told_and_narrowed() {
    let found =
        |url: &str| SearchHit { title: "T".into(), url: url.into(), extract: "words".into() };
    let engine = FixedSearch(vec![
        found("https://a.docs.rs/1"),
        found("https://spam.example/2"),
        found("https://docs.rs/3"),
    ]);
    let world = World::new().with_tool(WebSearch::with_engine(engine));
    let all = world.ok("WebSearch", json!({"query": "x"})).await;
    assert_has(&all, "1. T\n   https://a.docs.rs/1\n   words\n\n2. T\n   https://spam.example/2");
    let some =
        json!({"query": "x", "allowed_domains": ["docs.rs"], "blocked_domains": ["a.docs.rs"]});
    let some = world.ok("WebSearch", some).await;
    assert_has(&some, "1. T\n   https://docs.rs/3");
    assert!(!some.contains("spam") && !some.contains("a.docs.rs"), "{some}");
    let one = world.ok("WebSearch", json!({"query": "x", "max_results": 1})).await;
    assert!(!one.contains("2. T"), "{one}");
    let none = world.ok("WebSearch", json!({"query": "x", "allowed_domains": ["z"]})).await;
    assert_has(&none, "Nothing was found");
    let plan = world.tool("WebSearch").plan(&world.call("WebSearch", json!({"query": "x"})));
    let host = Some("search.example".to_owned());
    assert_eq!(plan.unwrap().effects, [Effect::Net { host }]);
}

#[tokio::test]
async fn brave_is_asked_with_the_key_which_nobody_else_sees() {
    let answer = json!({"web": {"results": [
        {"title": "A <strong>page</strong>", "url": "https://a.example/", "description": "of\nit"},
    ]}});
    let server = Server::answering(move |request| {
        if !request.contains("x-subscription-token: k3y\r\n") {
            return Server::status("401 Unauthorized", "");
        }
        assert!(request.starts_with("GET /search?q=caf%C3%A9+%26+x&count=20 "), "{request}");
        Server::page("application/json", answer.to_string())
    })
    .await;
    let url = format!("http://{}/search", server.address);
    let engine = BraveSearch::with_endpoint(&url, "k3y").unwrap();
    assert!(!format!("{engine:?}").contains("k3y"));
    let world = World::new().with_tool(WebSearch::with_engine(engine));
    let found = world.ok("WebSearch", json!({"query": "café & x"})).await;
    assert_has(&found, "1. A page\n   https://a.example/\n   of it");
    let wrong = BraveSearch::with_endpoint(&url, "wrong").unwrap();
    let world = World::new().with_tool(WebSearch::with_engine(wrong));
    let failed = world.fails("WebSearch", json!({"query": "x"})).await;
    assert_has(&failed, "it answered with status 401 Unauthorized");
}
