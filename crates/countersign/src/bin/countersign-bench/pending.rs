//! `bench pending`: very many requests that wait, and what they cost the server that comes back to them.

use std::time::{Duration, Instant};

use countersign_core::ProjectId;
use serde_json::json;

use crate::approval::{ask, database, open};
use crate::cli::BenchPendingArgs;
use crate::measurement::peak_memory;
use crate::measurement::print_line;
use crate::runtime;

/// How many are shown at first.
const PAGE: usize = 100;

/// How many are handed in at the same time.
const AT_ONCE: usize = 64;

pub(crate) fn run(args: &BenchPendingArgs) -> anyhow::Result<()> {
    let runtime = runtime()?;
    if args.n > 0 {
        runtime.block_on(fill(args))?;
    }
    let (ready, listed, waiting) = runtime.block_on(come_back(args))?;
    let line = json!({
        "bench": "pending",
        "system": "countersign",
        "case": format!("n={waiting}"),
        "role": "ours",
        "n": waiting,
        "ready_ms": ready.as_secs_f64() * 1e3,
        "first_page_ms": listed.as_secs_f64() * 1e3,
        "rss_mb": peak_memory(),
        "notes": format!("{PAGE} on the first page"),
    });
    print_line(&line.to_string());
    Ok(())
}

/// Hands in as many calls as are missing; those that a run before this one left count.
async fn fill(args: &BenchPendingArgs) -> anyhow::Result<()> {
    let gate = open(database(&args.db)).await?;
    let there = gate.store().pending_count(&project()).await?;
    let missing = args.n.saturating_sub(usize::try_from(there).unwrap_or(usize::MAX));
    let share = missing.div_ceil(AT_ONCE);
    let workers = (0..AT_ONCE).map(|_| {
        let gate = gate.clone();
        tokio::spawn(async move {
            for _ in 0..share {
                ask(&gate).await?;
            }
            anyhow::Ok(())
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await??;
    }
    Ok(())
}

/// Opens the database as a restarted server does, and lists the first page.
async fn come_back(args: &BenchPendingArgs) -> anyhow::Result<(Duration, Duration, u64)> {
    let started = Instant::now();
    let gate = open(database(&args.db)).await?;
    gate.recover().await?;
    gate.take_over_runs(&[project()]).await?;
    let ready = started.elapsed();
    let started = Instant::now();
    gate.store().waiting_requests(&project(), None, PAGE).await?;
    Ok((ready, started.elapsed(), gate.store().pending_count(&project()).await?))
}

fn project() -> ProjectId {
    "bench".into()
}
