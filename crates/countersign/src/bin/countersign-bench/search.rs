//! `bench search`: Glob and Grep on a folder, as an agent's call runs them.
//!
//! `make bench` runs ripgrep on the same folder beside it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use countersign_core::{Executor, ToolCall};
use countersign_gate::{
    CallTerms, DecisionTimeouts, Gate, LocalSubmission, Rulebook, SubmitOptions, SystemClock,
    new_id,
};
use countersign_tools::{Environment, Tool, Toolbox, Workspace};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cli::BenchSearchArgs;
use crate::measurement::{BenchMeasurement, timed};
use crate::runtime;

pub(crate) fn run(args: &BenchSearchArgs) -> anyhow::Result<()> {
    let root = args.root.canonicalize().context("could not find the folder")?;
    let workspace = Workspace::new([root])?;
    let toolbox = Toolbox::coding(&workspace, Environment::default());
    let name = if args.grep { "Grep" } else { "Glob" };
    let tool = toolbox.get(name).context("the tool is missing")?.clone();
    let runtime = runtime()?;
    // The gate starts tasks of its own.
    let _inside = runtime.enter();
    let gate = Gate::in_memory(
        Arc::new(SystemClock),
        DecisionTimeouts::default(),
        Arc::new(Rulebook::none()),
    )?;
    let mut lines = 0;
    let (rounds, seconds, cpu) = timed(|| {
        let mut rounds = Vec::with_capacity(args.rounds);
        for _ in 0..args.rounds {
            let (elapsed, found) =
                runtime.block_on(one(&gate, &tool, &workspace, &args.pattern))?;
            rounds.push(elapsed);
            lines = found;
        }
        Ok(rounds)
    })?;
    let notes = format!("{lines} lines of answer");
    BenchMeasurement { bench: "search", case: name.to_owned(), rounds, seconds, cpu, notes }
        .print();
    Ok(())
}

/// Runs one call on a permit; the way to the permit is not measured.
async fn one(
    gate: &Gate,
    tool: &Arc<dyn Tool>,
    workspace: &Workspace,
    pattern: &str,
) -> anyhow::Result<(Duration, usize)> {
    let call = ToolCall {
        id: new_id(),
        project: "bench".into(),
        session: "bench".into(),
        run: None,
        tool_use_id: "toolu_bench".into(),
        tool_name: tool.name().to_owned(),
        input: json!({ "pattern": pattern }),
        cwd: workspace.roots().first().context("there is no folder")?.clone(),
        executor: Executor::Local,
        agent: None,
    };
    let terms = CallTerms::new(tool.clone(), SubmitOptions::attended());
    let LocalSubmission::Permitted(permit) = gate.submit_local(call, &terms).await? else {
        bail!("a call that only reads was not permitted");
    };
    let started = Instant::now();
    let output = countersign_tools::run(tool.clone(), *permit, CancellationToken::new()).await?;
    Ok((started.elapsed(), output.content.lines().count()))
}
