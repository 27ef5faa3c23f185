//! `bench diff`: reads two files and makes their unified diff, as a preview does.

use std::time::Instant;

use anyhow::Context;
use countersign_core::{DiffPreview, Digest, Preimage};

use crate::cli::BenchDiffArgs;
use crate::measurement::{BenchMeasurement, timed};

pub(crate) fn run(args: &BenchDiffArgs) -> anyhow::Result<()> {
    let name = args.old.display().to_string();
    let mut changed = (0, 0);
    let (rounds, seconds, cpu) = timed(|| {
        let mut rounds = Vec::with_capacity(args.rounds);
        for _ in 0..args.rounds {
            let started = Instant::now();
            let old = std::fs::read_to_string(&args.old).context("could not read the old file")?;
            let new = std::fs::read_to_string(&args.new).context("could not read the new file")?;
            let digest = Some(Digest::for_bytes(old.as_bytes()));
            let preimage = Preimage { path: args.old.clone(), digest };
            let preview = DiffPreview::new(name.clone(), Some(&old), &new, preimage);
            rounds.push(started.elapsed());
            changed = (preview.diff.added, preview.diff.removed);
        }
        Ok(rounds)
    })?;
    let notes = format!("+{} -{}, digest of the old file included", changed.0, changed.1);
    BenchMeasurement { bench: "diff_preview", case: name, rounds, seconds, cpu, notes }.print();
    Ok(())
}
