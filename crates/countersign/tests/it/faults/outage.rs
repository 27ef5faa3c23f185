//! A database on another machine that is away for longer than a server may be silent.

use std::time::Duration;

use countersign_gate::{Clock, SystemClock};
use tokio::time::Instant;

use super::cluster::Cluster;
use super::place::{Place, ended, is_left_out, seen, soon};
use crate::world::Serving;

/// Longer than a server may be silent before others take over its runs (10 s).
const LONG: Duration = Duration::from_secs(12);

/// With the start of the database so long that a write is still tried when it is there again (10 s),
/// and no server knows of an error; and about as long as a server may be silent.
const SHORT: Duration = Duration::from_secs(6);

/// Within this time whoever decides hears that it was in vain.
const ANSWER: Duration = Duration::from_secs(11);

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_database_is_waited_for() {
    survive(1, ["stop", "start"], LONG).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_database_is_waited_for_by_two_servers() {
    survive(2, ["stop", "start"], SHORT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_database_is_waited_for_by_two_servers() {
    survive(2, ["pause", "go-on"], LONG).await;
}

/// A call that executes and one that waits survive, each once, whoever is asked meanwhile gives an
/// answer, and no server takes another for dead.
async fn survive(servers: usize, [away, back]: [&str; 2], lasts: Duration) {
    if is_left_out("postgres") {
        return;
    }
    let cluster = tokio::task::block_in_place(Cluster::start);
    let place = Place::new().await;
    let start = |number: usize| {
        let data = place.path(&format!("data{number}"));
        place.start(&["--data", data.to_str().unwrap(), "--database", &cluster.url])
    };
    let servers: Vec<_> = (0..servers).map(start).collect();
    let (first, last) = (servers.first().unwrap(), servers.last().unwrap());
    let _runs = place.execute(first, "mark a when told").await;
    let mut waits = place.ask(last, "mark b").await;

    cluster.order(away);
    let since = Instant::now();
    place.give_the_word();
    for server in &servers {
        let not_ready = soon(ready(server)).await;
        assert!(not_ready.starts_with("not ready: the database "), "{not_ready}");
    }
    let asked_at = Instant::now();
    let said = waits.decide_in_vain().await;
    assert!(said.contains("cannot be reached; nothing was changed"), "{said}");
    assert!(asked_at.elapsed() < ANSWER, "after {:?}", asked_at.elapsed());
    seen("the call goes on meanwhile", async || place.marks("a") == 1).await;
    SystemClock.sleep(lasts.saturating_sub(since.elapsed())).await;
    assert_eq!(place.marks("b"), 0);
    cluster.order(back);

    for server in &servers {
        seen("it is not ready again", async || ready(server).await == "ready").await;
    }
    assert_eq!(ended(first, "mark a when told").await["subtype"], "success");
    place.assert_ran_once("a", "mark a when told");
    // At the other server: a decision counts wherever it is made.
    waits.client = first.client().await;
    waits.decide(true).await;
    assert_eq!(ended(last, "mark b").await["subtype"], "success");
    place.assert_ran_once("b", "mark b");
    assert_eq!(cluster.count("servers WHERE fenced"), 0, "nobody was taken for dead");
    assert_eq!(cluster.count("events WHERE body LIKE '%run_resumed%'"), 0);
    let (code, said) = place.run(&["audit", "verify", "--database", &cluster.url]).await;
    assert_eq!(code, Some(0), "{said}");
    // Who is told to stop does not wait for one that says nothing.
    if away == "pause" {
        cluster.order(away);
    }
    let stopping = servers.into_iter().map(|it| tokio::task::spawn_blocking(|| it.stop()));
    for stopped in stopping.collect::<Vec<_>>() {
        let (status, said) = soon(stopped).await.unwrap();
        assert!(status.success(), "{said}");
    }
}

/// Returns what a server says of itself.
async fn ready(server: &Serving) -> String {
    let answer = reqwest::get(format!("{}/readyz", server.url)).await.unwrap();
    answer.text().await.unwrap().trim_end().to_owned()
}
