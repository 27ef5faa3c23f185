//! `bench approval`: calls through the gate, each asked for, approved, started and finished durably.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use countersign_core::{
    By, Decision, Effect, Invalid, Place, Plan, Planner, Preview, Side, Stance, Target, ToolCall,
    ToolOutput,
};
use countersign_gate::{Gate, Passage, Rulebook, Submitted, SystemClock, Timeouts, new_id};
use serde_json::json;

use super::{Measured, timed};
use crate::cli::BenchApprovalArgs;
use crate::commands::serve::runtime;

pub(crate) fn run(args: &BenchApprovalArgs) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let (rounds, seconds, cpu) = timed(|| runtime.block_on(all(args)))?;
    let case = format!("c={}", args.c);
    let notes = "4 durable states per call: awaiting, approved, executing, completed".to_owned();
    Measured { bench: "approval_roundtrip", case, rounds, seconds, cpu, notes }.print();
    Ok(())
}

async fn all(args: &BenchApprovalArgs) -> anyhow::Result<Vec<Duration>> {
    let gate = Gate::open(
        &args.db,
        Arc::new(SystemClock),
        Timeouts::default(),
        Arc::new(Rulebook::none()),
    )
    .with_context(|| format!("could not open `{}`", args.db.display()))?;
    let each = args.n / args.c.max(1);
    let workers: Vec<_> = (0..args.c).map(|_| tokio::spawn(some(gate.clone(), each))).collect();
    let mut rounds = Vec::with_capacity(args.n);
    for worker in workers {
        rounds.extend(worker.await??);
    }
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

async fn one(gate: &Gate) -> anyhow::Result<()> {
    let terms = Stance::Attended { auto_approve_read: true }.into();
    let Submitted::Waiting(asked) = gate.submit(call(), Arc::new(WritesOne), &terms).await? else {
        bail!("a call that should ask did not");
    };
    let decision = Decision::Approve { by: By::Person("bench".to_owned()) };
    gate.decide(asked.id, decision, Some(asked.digest)).await?;
    let Passage::Permitted(permit) = gate.admission(asked.id).await? else {
        bail!("an approved call was not permitted");
    };
    gate.finish(permit.approval(), Ok(ToolOutput::ok("done"))).await?;
    Ok(())
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
    }
}

/// A tool whose every call writes one file of the workspace; it touches no disk itself.
struct WritesOne;

impl Planner for WritesOne {
    fn plan(&self, _: &ToolCall) -> Result<Plan, Invalid> {
        let place = Place { side: Side::Inside, special: None };
        let target = Target::new("/src/main.rs", place);
        Ok(Plan::new(vec![Effect::Write(target)], "Write `src/main.rs`"))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        Ok(Preview::Generic { input: call.input.clone(), preimages: Vec::new() })
    }
}
