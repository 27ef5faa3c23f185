//! `policy check`: one verdict, or one per row.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::Path;

use anyhow::Context;
use countersign_client::evaluation::{CallRow, PolicyEvaluator};

use super::evaluator;
use crate::cli::PolicyCheckArgs;
use crate::hint::HintExt;
use crate::output;
use crate::terminal::verdict_view;

pub(super) fn run(args: &PolicyCheckArgs) -> anyhow::Result<()> {
    let judge = evaluator(&args.rulings, args.mode)?;
    if let Some(file) = &args.jsonl {
        return rows(file, &judge);
    }
    let (tool, input) = (args.tool.as_deref(), args.input.as_deref());
    let row = CallRow::for_call(tool.unwrap_or_default(), input.unwrap_or_default())
        .in_folder(args.cwd.as_deref());
    let judged = row.evaluate(&judge);
    if args.json {
        output::line(&verdict_view::object(&row.id, &judged).to_string());
    } else {
        output::line(&verdict_view::sentence(&judged));
    }
    Ok(())
}

fn rows(file: &Path, judge: &PolicyEvaluator) -> anyhow::Result<()> {
    let stdin = file == Path::new("-");
    let source: Box<dyn BufRead> = if stdin {
        Box::new(io::stdin().lock())
    } else {
        let opened = File::open(file)
            .with_context(|| format!("could not read `{}`", file.display()))
            .hint("give --jsonl a file with one call per line, or `-` for stdin")?;
        Box::new(BufReader::new(opened))
    };
    let mut out = output::stream();
    for line in source.split(b'\n') {
        let line = line.with_context(|| format!("could not read on in `{}`", file.display()))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let row = CallRow::read(&line);
        let answer = verdict_view::object(&row.id, &row.evaluate(judge));
        // Whoever feeds us line by line waits for the answer.
        let written = writeln!(out, "{answer}").and_then(|()| flush(&mut out, stdin));
        match written {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(error).context("could not write the verdicts"),
        }
    }
    out.flush().context("could not write the verdicts")
}

fn flush(out: &mut impl Write, now: bool) -> io::Result<()> {
    if now { out.flush() } else { Ok(()) }
}
