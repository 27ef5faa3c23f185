//! Sessions of the real CLI that are started before they are wanted.

use std::time::Duration;

use countersign_claude::{WarmLimits, WarmPool};

use super::cell::in_a_cell;
use super::conversation::is_gone;
use super::life::descendants;
use super::world::World;

const LIMITS: WarmLimits = WarmLimits { ready: 1, idle: Duration::from_mins(5), live: 2 };

in_a_cell! {
    async fn a_session_from_the_pool_is_ready_and_knows_no_other_conversation() {
        let world = World::new().await;
        let pool = WarmPool::new(world.options(), LIMITS);
        filled(&pool).await;
        let first = pool.take().await.unwrap();
        assert_eq!(first.send("say hello").unwrap().text().await.unwrap(), "Hello there.");
        filled(&pool).await;
        let second = pool.take().await.unwrap();
        assert_ne!(first.pid(), second.pid());
        assert_eq!(second.send("run echo hi").unwrap().text().await.unwrap(), "It said: hi");
        assert!(!world.last_conversation().contains(&"say hello".to_owned()));
        assert_eq!(first.close().await.to_string(), "with code 0");
        // Its place is free again.
        filled(&pool).await;
    }

    async fn a_pool_that_is_dropped_leaves_no_process() {
        let world = World::new().await;
        let pool = WarmPool::new(world.options(), LIMITS);
        filled(&pool).await;
        let started: Vec<u32> =
            descendants(std::process::id()).into_iter().map(|(pid, _)| pid).collect();
        assert!(!started.is_empty());
        drop(pool);
        while !started.iter().all(|pid| is_gone(*pid)) {
            tokio::task::yield_now().await;
        }
    }
}

/// Waits until as many are ready as are kept.
async fn filled(pool: &WarmPool) {
    while pool.ready_count() < LIMITS.ready {
        tokio::task::yield_now().await;
    }
}
