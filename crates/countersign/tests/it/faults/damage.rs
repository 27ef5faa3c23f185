//! Files that are not what they were: no database at all, or one with a page of something else in it.

use serde_json::{Value, json};

use super::place::{Place, refused, soon};
use crate::world::{Serving, TOKEN};

/// The size of the pages of the database.
const PAGE: usize = 4096;

/// A rule, by which its pages are found.
const RULE: &str = "Bash(touch:*)";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_a_database_is_not_served_from() {
    let place = Place::new().await;
    let file = place.path("data/countersign.db");
    let garbage: Vec<u8> = (0..20 * PAGE).map(|_| fastrand::u8(..)).collect();
    std::fs::write(&file, &garbage).unwrap();
    let said = refused(&mut place.serve(&[]).0);
    assert!(said.contains("the database is damaged: file is not a database\n"), "{said}");
    assert!(said.contains("hint: stop the server and put back a backup"), "{said}");
    assert!(std::fs::read(&file).unwrap() == garbage, "it is left as it is");
}

/// What a damaged page said no longer counts for anything: not for the audit, and not to allow calls.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_page_is_found_and_allows_nothing() {
    let place = Place::new().await;
    let server = place.start(&[]);
    allow_touching(&server).await;
    assert_eq!(run(&server, "touch a").await["subtype"], "success");
    assert!(place.path("ws/marks/a").exists(), "the rule allows it");
    assert!(server.stop().0.success());

    let copy = place.path("copy.db").to_str().unwrap().to_owned();
    let data = place.path("data").to_str().unwrap().to_owned();
    assert_eq!(place.run(&["backup", &copy, "--data", &data]).await.0, Some(0));
    damage(&copy);
    let database = format!("sqlite:{copy}");
    let (code, said) = place.run(&["audit", "verify", "--database", &database]).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.starts_with("error: the database is damaged: "), "{said}");
    assert!(said.contains("\nhint: "), "{said}");

    let server = place.start(&["--database", &database]);
    let rules = reqwest::Client::new().get(rules(&server)).bearer_auth(TOKEN);
    let answer = rules.send().await.unwrap();
    assert_eq!(answer.status(), 500);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["error"]["code"], "store", "{answer}");
    let result = run(&server, "touch b").await;
    assert!(!place.path("ws/marks/b").exists(), "{result}");
    let health = reqwest::get(format!("{}/healthz", server.url)).await.unwrap();
    assert_eq!(health.status(), 200, "it goes on serving what it can");
    assert!(server.stop().0.success());
}

async fn allow_touching(server: &Serving) {
    let wanted = json!({"rules": [{"effect": "allow", "rule": RULE}]});
    let put = reqwest::Client::new().put(rules(server)).bearer_auth(TOKEN).json(&wanted);
    assert_eq!(put.send().await.unwrap().status(), 200);
}

fn rules(server: &Serving) -> String {
    format!("{}/my/projects/default/rules", server.url)
}

/// Runs a prompt and returns how that ended. Whoever is asked says nothing.
async fn run(server: &Serving, prompt: &str) -> Value {
    let mut client = server.client().await;
    client.send(json!({"command": "run", "prompt": prompt})).await;
    soon(client.until_result()).await
}

/// Overwrites the pages in which the rule stands.
fn damage(file: &str) {
    let mut bytes = std::fs::read(file).unwrap();
    let has_rule = |page: &[u8]| page.windows(RULE.len()).any(|it| it == RULE.as_bytes());
    let pages = bytes.chunks_mut(PAGE).skip(1).filter(|page| has_rule(page));
    assert_ne!(pages.map(|page| page.fill(0x5a)).count(), 0);
    std::fs::write(file, bytes).unwrap();
}
