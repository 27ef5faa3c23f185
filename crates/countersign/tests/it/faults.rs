//! What can go wrong beneath a server: no room, a disk that only reads, a damaged file, a database that
//! is away. Nothing is half decided, nothing runs unrecorded, people read a sentence, and what can go
//! on by itself does.

mod cluster;
mod copies;
mod damage;
mod disk;
mod mounts;
mod outage;
mod place;

use self::place::{Place, refused, soon};

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_the_same_folder_does_not_start() {
    let place = Place::new().await;
    let first = place.start(&[]);
    let mut asked = place.ask(&first, "mark a").await;
    let said = refused(&mut place.serve(&[]).0);
    assert!(said.contains("another server is using this database"), "{said}");
    assert!(said.contains("hint: stop the other server, or give another folder"), "{said}");
    asked.decide(true).await;
    soon(asked.client.until("result/success")).await;
    assert_eq!(place.marks("a"), 1);
    let (status, said) = first.stop();
    assert!(status.success(), "{said}");
}
