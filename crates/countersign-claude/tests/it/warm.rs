//! Sessions that are started ahead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use countersign_claude::process::{LaunchError, ProcessExit};
use countersign_claude::transport::{CliConnection, CliLaunch, PipeTransport, Transport};
use countersign_claude::{Options, WarmLimits, WarmPool};
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::fake::Fake;

/// Starts a fake that shakes hands and then waits to be let go.
#[derive(Clone, Default)]
struct Starter {
    started: Arc<AtomicUsize>,
    live: Arc<AtomicUsize>,
}

impl Transport for Starter {
    fn open(&self, launch: CliLaunch) -> BoxFuture<'_, Result<CliConnection, LaunchError>> {
        let (pipe, far) = PipeTransport::new();
        self.started.fetch_add(1, Ordering::SeqCst);
        self.live.fetch_add(1, Ordering::SeqCst);
        let live = self.live.clone();
        tokio::spawn(async move {
            let mut fake = Fake(far);
            fake.initialize(json!({})).await;
            while fake.0.read().await.is_some() {}
            fake.0.exit(ProcessExit::success()).await;
            live.fetch_sub(1, Ordering::SeqCst);
        });
        Box::pin(async move { pipe.open(launch).await })
    }
}

impl Starter {
    fn counts(&self) -> (usize, usize) {
        (self.started.load(Ordering::SeqCst), self.live.load(Ordering::SeqCst))
    }
}

const LIMITS: WarmLimits = WarmLimits { ready: 2, idle: Duration::from_mins(5), live: 3 };

#[tokio::test(start_paused = true)]
async fn a_ready_session_is_taken_and_replaced() {
    let (starter, pool) = pool(LIMITS).await;
    assert_eq!((pool.ready_count(), starter.counts()), (2, (2, 2)));
    let client = pool.take().await.unwrap();
    assert!(client.end_reason().is_none());
    settle().await;
    assert_eq!((pool.ready_count(), starter.counts()), (2, (3, 3)));
}

#[tokio::test(start_paused = true)]
async fn one_that_waits_too_long_is_closed_and_not_replaced() {
    let (starter, pool) = pool(LIMITS).await;
    tokio::time::advance(LIMITS.idle).await;
    settle().await;
    assert_eq!((pool.ready_count(), starter.counts()), (0, (2, 0)));
    pool.take().await.unwrap();
    settle().await;
    assert_eq!(pool.ready_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn there_are_never_more_than_the_limit_and_who_comes_late_waits() {
    let (starter, pool) = pool(LIMITS).await;
    let first = pool.take().await.unwrap();
    let _second = pool.take().await.unwrap();
    settle().await;
    let _third = pool.take().await.unwrap();
    settle().await;
    assert_eq!((pool.ready_count(), starter.counts()), (0, (3, 3)));
    let mut fourth = std::pin::pin!(pool.take());
    assert!(futures_util::poll!(&mut fourth).is_pending());
    settle().await;
    assert!(futures_util::poll!(&mut fourth).is_pending());
    first.close().await;
    fourth.await.unwrap();
    settle().await;
    assert!(starter.counts().1 <= LIMITS.live);
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_is_dropped_leaves_nothing_behind() {
    let (starter, pool) = pool(LIMITS).await;
    drop(pool);
    settle().await;
    assert_eq!(starter.counts(), (2, 0));
}

async fn pool(limits: WarmLimits) -> (Starter, WarmPool) {
    let starter = Starter::default();
    let pool = WarmPool::with_transport(starter.clone(), Options::new(), limits);
    settle().await;
    (starter, pool)
}

/// Lets everything that can happen at this instant happen.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}
