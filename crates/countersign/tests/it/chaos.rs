//! Nothing is lost: servers are killed at random moments under load, and an outside witness counts.
//!
//! `COUNTERSIGN_CHAOS_SEED` and `COUNTERSIGN_CHAOS_KILLS` say from what and how often; a short run is
//! part of `make test`, `make chaos` is the long one. The same seed gives the same load and the same
//! blows at the same times; what a server is doing at that time is up to the machine.

mod decider;
mod fleet;
mod link;
mod load;
pub(crate) mod model;
mod notes;
mod owner;
pub(crate) mod plan;
pub(crate) mod services;
mod tally;
mod witness;
mod world;

use std::time::Duration;

use self::plan::goes_without;
use self::world::{Setting, World};

/// So many conversations go on at the same time.
const OWNERS: usize = 8;

/// When the last blow has fallen, everything has to come to its end within this time.
const SETTLING: Duration = Duration::from_secs(40);

#[tokio::test(flavor = "multi_thread")]
async fn chaos_sqlite() {
    survive(Setting { name: "chaos_sqlite", servers: 1, has_postgres: false, has_bus: false })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chaos_postgres() {
    survive(Setting { name: "chaos_postgres", servers: 1, has_postgres: true, has_bus: false })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chaos_postgres_three_servers() {
    let name = "chaos_postgres_three_servers";
    survive(Setting { name, servers: 3, has_postgres: true, has_bus: false }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chaos_postgres_nats() {
    survive(Setting { name: "chaos_postgres_nats", servers: 3, has_postgres: true, has_bus: true })
        .await;
}

#[expect(clippy::print_stdout, reason = "the counts are what the long run is for")]
async fn survive(setting: Setting) {
    let left_out = (setting.has_postgres && goes_without("postgres"))
        || (setting.has_bus && goes_without("nats"));
    let name = setting.name;
    if left_out {
        println!("{name} is left out, as COUNTERSIGN_TEST_WITHOUT says");
        return;
    }
    let world = World::new(setting);
    let seed = world.plan.seed;
    let (tally, folder) = world.run().await;
    println!("{name}, seed {seed}:\n{tally}");
    assert!(
        tally.is_well(),
        "{}again with COUNTERSIGN_CHAOS_SEED={seed}; what is left of it is in {}",
        tally.complaint(),
        folder.keep().display()
    );
}
