//! `bench approval`: calls through the gate, each asked for, approved, started and finished durably.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use countersign_core::{
    ApprovedBy, CallPlan, Decision, Effect, EffectTarget, Execution, InvalidCall, PathClass,
    Planner, Preview, ToolCall, ToolOutput, WorkspaceSide,
};
use countersign_gate::{
    Admission, CallEntry, CallTerms, DatabaseUrl, Gate, GateSettings, LocalSubmission,
    PermitCollector, Rulebook, SubmitOptions, SystemClock, measure_raw_writes, new_id,
};
use serde_json::json;

use crate::cli::BenchApprovalArgs;
use crate::measurement::{BenchMeasurement, timed};
use crate::runtime;

pub(crate) fn run(args: &BenchApprovalArgs) -> anyhow::Result<()> {
    let database = database(&args.db);
    if args.floor {
        return bare(args, &database);
    }
    let runtime = runtime()?;
    let mut commits = 0;
    let (rounds, seconds, cpu) =
        timed(|| runtime.block_on(all(args, database.clone(), &mut commits)))?;
    let case = format!("c={}", args.c);
    let notes = "4 durable states per call: awaiting, approved, executing, completed".to_owned();
    let each = per_call(commits, rounds.len());
    BenchMeasurement { bench: "approval_roundtrip", case, rounds, seconds, cpu, notes }
        .print_with(&[("commits_per_call", each)]);
    Ok(())
}

/// Measures what the database allows: the same number of rows, bare.
fn bare(args: &BenchApprovalArgs, database: &DatabaseUrl) -> anyhow::Result<()> {
    let (rounds, seconds, cpu) = timed(|| Ok(measure_raw_writes(database, args.n, args.c)?))?;
    let case = format!("floor c={}", args.c);
    let notes = "as many rows and commits, by bare inserts".to_owned();
    // A round is as many calls as are under way at once.
    let rounds = rounds.into_iter().flat_map(|it| std::iter::repeat_n(it, args.c)).collect();
    BenchMeasurement { bench: "approval_roundtrip", case, rounds, seconds, cpu, notes }.print();
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts of commits are small")]
fn per_call(commits: u64, calls: usize) -> f64 {
    commits as f64 / calls.max(1) as f64
}

/// A path is a database in that file.
pub(crate) fn database(given: &str) -> DatabaseUrl {
    given.parse().unwrap_or_else(|_| DatabaseUrl::Sqlite(given.into()))
}

pub(crate) async fn open(database: DatabaseUrl) -> anyhow::Result<Gate> {
    let settings =
        GateSettings { pending_limit: u64::MAX, ..GateSettings::for_database(database.clone()) };
    let opened = Gate::open(settings, Arc::new(SystemClock), Arc::new(Rulebook::none())).await;
    let gate = opened.with_context(|| format!("could not open the database `{database}`"))?;
    gate.join().await?;
    Ok(gate)
}

async fn all(
    args: &BenchApprovalArgs,
    database: DatabaseUrl,
    commits: &mut u64,
) -> anyhow::Result<Vec<Duration>> {
    let gate = open(database).await?;
    let before = gate.store().commits();
    let each = args.n / args.c.max(1);
    let workers: Vec<_> = (0..args.c).map(|_| tokio::spawn(some(gate.clone(), each))).collect();
    let mut rounds = Vec::with_capacity(args.n);
    for worker in workers {
        rounds.extend(worker.await??);
    }
    *commits = gate.store().commits() - before;
    Ok(rounds)
}

async fn some(gate: Gate, count: usize) -> anyhow::Result<Vec<Duration>> {
    let mut rounds = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        one(&gate).await?;
        rounds.push(started.elapsed());
    }
    Ok(rounds)
}

/// Hands in a call that asks.
pub(crate) async fn ask(gate: &Gate) -> anyhow::Result<Box<Execution>> {
    match gate.submit_local(call(), &terms()).await? {
        LocalSubmission::Waiting(asked) => Ok(asked),
        other => bail!("a call that should ask did not: {other:?}"),
    }
}

async fn one(gate: &Gate) -> anyhow::Result<()> {
    let asked = ask(gate).await?;
    let decision = Decision::Approve { by: ApprovedBy::Person("bench".to_owned()) };
    gate.decide(asked.id(), decision, Some(asked.digest().clone())).await?;
    let admitted = gate.admit(CallEntry::Resumed(asked), &terms(), &PermitCollector).await?;
    let Admission::Ran(permit) = admitted else {
        bail!("an approved call was not permitted");
    };
    gate.finish(permit.approval(), Ok(ToolOutput::ok("done"))).await?;
    Ok(())
}

fn terms() -> CallTerms {
    CallTerms::new(Arc::new(SingleWritePlanner), SubmitOptions::attended())
}

fn call() -> ToolCall {
    ToolCall {
        id: new_id(),
        project: "bench".into(),
        session: "bench".into(),
        run: None,
        tool_use_id: "toolu_bench".into(),
        tool_name: "Write".to_owned(),
        input: json!({"file_path": "src/main.rs", "content": "x".repeat(160)}),
        cwd: PathBuf::from("/"),
        executor: countersign_core::Executor::Local,
        agent: None,
    }
}

/// A tool whose every call writes one file of the workspace; it touches no disk itself.
struct SingleWritePlanner;

impl Planner for SingleWritePlanner {
    fn plan(&self, _: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let place = PathClass { side: WorkspaceSide::Inside, special: None };
        let target = EffectTarget::new("/src/main.rs", place);
        Ok(CallPlan::new(vec![Effect::Write(target)], "Write `src/main.rs`"))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        Ok(Preview::Generic { input: call.input.clone(), preimages: Vec::new() })
    }
}
