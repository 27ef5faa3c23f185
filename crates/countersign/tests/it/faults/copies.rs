//! Copies of the database: whole, and with nothing in them that could run.
#![expect(clippy::disallowed_methods, reason = "the tools of PostgreSQL are what is used")]

use std::process::Command;

use tokio_util::sync::CancellationToken;

use super::place::{Asked, Place, ended, is_left_out, soon, waiting};
use crate::chaos::services::{new_database, said};
use crate::world::Serving;

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_made_while_the_server_works() {
    let place = Place::new().await;
    let server = place.start(&[]);
    let open = open(&place, &server).await;
    let data = place.path("data").to_str().unwrap().to_owned();
    let copies: Vec<_> = (0..3)
        .map(|number| place.path(&format!("copy{number}.db")).display().to_string())
        .collect();
    let over = CancellationToken::new();
    let copying = async {
        for copy in &copies {
            let (code, said) = place.run(&["backup", copy, "--data", &data]).await;
            assert_eq!(code, Some(0), "{said}");
        }
        over.cancel();
    };
    let (worked, ()) = tokio::join!(work(&place, &server, &over), copying);
    assert!(worked > 1, "the server works while copies are made");
    for copy in &copies {
        for beside in ["-wal", "-shm", "-journal"] {
            assert!(!place.path(&format!("{copy}{beside}")).exists(), "it is one file");
        }
        assert_at_rest(&place, &format!("sqlite:{copy}")).await;
    }
    assert_goes_on(&place, &server, open).await;
    assert!(server.stop().0.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_a_postgres_is_settled() {
    if is_left_out("postgres") {
        return;
    }
    let place = Place::new().await;
    let (original, copy) = (new_database(), new_database());
    let server = place.start(&["--database", &original]);
    let open = open(&place, &server).await;
    let copying = format!("pg_dump '{original}' | psql --no-psqlrc --quiet '{copy}'");
    said(Command::new("bash").args(["-o", "pipefail", "-c", &copying]));
    let (code, said) = place.run(&["backup", "--settle", "--database", &copy]).await;
    assert_eq!((code, said.as_str()), (Some(0), "ended 4 calls and runs that were open\n"));
    assert_at_rest(&place, &copy).await;
    assert_goes_on(&place, &server, open).await;
    assert!(server.stop().0.success());
}

/// Returns a run whose call executes and one whose call waits.
async fn open(place: &Place, server: &Serving) -> [Asked; 2] {
    [place.execute(server, "mark a when told").await, place.ask(server, "mark b").await]
}

/// Has one run after the other until the copies are made; returns how many.
async fn work(place: &Place, server: &Serving, over: &CancellationToken) -> usize {
    let mut worked = 0;
    while !over.is_cancelled() {
        let (name, prompt) = (format!("load{worked}"), format!("mark load{worked}"));
        let mut asked = place.ask(server, &prompt).await;
        asked.decide(true).await;
        soon(asked.client.until("result/success")).await;
        place.assert_ran_once(&name, &prompt);
        worked += 1;
    }
    worked
}

/// Makes sure that a copy is whole, and that a server that is started on it has nothing to do.
async fn assert_at_rest(place: &Place, database: &str) {
    let (code, said) = place.run(&["audit", "verify", "--database", database]).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("intact: "), "{said}");
    let data = place.path("data-of-copy");
    let server = place.start(&["--database", database, "--data", data.to_str().unwrap()]);
    assert!(waiting(&server).await.is_empty());
    for prompt in ["mark a when told", "mark b"] {
        let end = ended(&server, prompt).await;
        assert_eq!(end["content"]["code"], "restored", "{end}");
    }
    assert!(server.stop().0.success());
    assert_eq!((place.marks("a"), place.marks("b")), (0, 0));
}

/// Makes sure that what was open when copies were made comes to its end in the original, once.
async fn assert_goes_on(place: &Place, server: &Serving, open: [Asked; 2]) {
    let [mut runs, mut waits] = open;
    place.give_the_word();
    soon(runs.client.until("result/success")).await;
    waits.decide(true).await;
    soon(waits.client.until("result/success")).await;
    place.assert_ran_once("a", "mark a when told");
    place.assert_ran_once("b", "mark b");
    assert!(waiting(server).await.is_empty());
}
