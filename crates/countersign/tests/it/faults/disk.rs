//! The disk under the data folder: full, or only to be read.

use serde_json::json;

use super::mounts::{Disk, can_mount, on_read_only_disk, on_small_disk};
use super::place::{Place, ended, refused, soon, waiting};
use crate::world::Serving;

/// While there is no room nothing is decided and nothing starts; what ran meanwhile is recorded when
/// there is room again, and its run goes on by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_waited_for() {
    if !can_mount() {
        return;
    }
    let place = Place::new().await;
    let (command, home) = place.serve(&[]);
    let mut server = Serving::of(on_small_disk(&command, &place.path("data")), home);
    let disk = Disk::of(server.pid(), &place.path("data"));
    let mut runs = place.execute(&server, "mark a when told").await;
    let mut waits = place.ask(&server, "mark b").await;

    disk.fill();
    let said = waits.decide_in_vain().await;
    assert!(said.contains("is full") && said.contains("nothing was changed"), "{said}");
    place.give_the_word();
    server.says("this waits for it");
    assert_eq!(place.marks("a"), 1, "it had started before");
    let mut newcomer = server.client().await;
    newcomer.send(json!({"command": "run", "prompt": "mark c"})).await;
    let failed = soon(newcomer.until_result()).await;
    assert_eq!(failed["content"]["code"], "store", "{failed}");
    assert!(failed.to_string().contains("is full"), "{failed}");
    assert_eq!(waiting(&server).await, ["mark b"], "it still waits");
    assert_eq!((place.marks("b"), place.marks("c")), (0, 0));

    disk.make_room();
    soon(runs.client.until("result/success")).await;
    place.assert_ran_once("a", "mark a when told");
    waits.decide(true).await;
    soon(waits.client.until("result/success")).await;
    place.assert_ran_once("b", "mark b");
    assert_eq!(ended(&server, "mark b").await["subtype"], "success");
    assert!(server.stop().0.success());
}

/// A server that could not record anything does not start: on a new folder as on one with records.
#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_only_reads_is_not_served_from() {
    if !can_mount() {
        return;
    }
    let place = Place::new().await;
    let check = || {
        let (command, _home) = place.serve(&[]);
        let said = refused(&mut on_read_only_disk(&command, &place.path("data")));
        assert!(said.contains("could not open the database"), "{said}");
        assert!(said.contains("Read-only file system"), "{said}");
    };
    check();
    let server = place.start(&[]);
    let asked = place.ask(&server, "mark a").await;
    assert!(server.stop().0.success());
    check();
    drop(asked);
    let server = place.start(&[]);
    assert_eq!(waiting(&server).await, ["mark a"], "nothing happened to it");
}
