//! `countersign audit`: what was decided and what ran, checked and printed.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, bail};
use countersign_core::ProjectId;
use countersign_gate::{AuditReport, AuditRow, Gate, Rulebook, SystemClock};
use serde_json::{Value, json, value::RawValue};

use crate::cli::{AuditCommand, AuditExportArgs, AuditVerifyArgs, DatabaseArgs};
use crate::hint::HintedError;
use crate::runtime::runtime;
use crate::{data_paths, output};

/// How many rows are read at a time.
const PAGE: usize = 1000;

pub(crate) fn run(command: &AuditCommand) -> anyhow::Result<()> {
    match command {
        AuditCommand::Verify(args) => runtime()?.block_on(verify(args)),
        AuditCommand::Export(args) => runtime()?.block_on(export(args)),
    }
}

async fn open(records: &DatabaseArgs) -> anyhow::Result<Gate> {
    let database = data_paths::existing_database(records)?;
    let opened = Gate::open_to_read(database.clone(), Arc::new(SystemClock), no_rules()).await;
    data_paths::explain_open_failure(opened, &database)
}

fn no_rules() -> Arc<Rulebook> {
    Arc::new(Rulebook::none())
}

async fn verify(args: &AuditVerifyArgs) -> anyhow::Result<()> {
    let report =
        data_paths::explain_store_failure(open(&args.records).await?.store().verify_audit().await)?;
    if args.json {
        output::line(&as_json(&report).to_string());
    }
    let Some(broken) = &report.broken else {
        if !args.json {
            output::line(&format!("intact: {} rows", report.rows));
            for end in &report.ends {
                output::line(&format!("  {} ends at {}: {}", end.project, end.seq, end.hash));
            }
        }
        return Ok(());
    };
    let (project, seq, why) = (&broken.project, broken.seq, &broken.why);
    let error = anyhow::anyhow!("the audit of {project} is broken at row {seq}: {why}");
    let hint = "put back a backup that is intact, and find out who could write to the database";
    bail!(HintedError { error, hint: hint.to_owned() })
}

fn as_json(report: &AuditReport) -> Value {
    let broken = report
        .broken
        .as_ref()
        .map(|it| json!({"project_id": it.project.as_str(), "seq": it.seq, "why": it.why}));
    let end = |it: &countersign_gate::ChainEnd| json!({"project_id": it.project.as_str(), "seq": it.seq, "hash": it.hash});
    json!({
        "intact": report.broken.is_none(),
        "rows": report.rows,
        "ends": report.ends.iter().map(end).collect::<Vec<_>>(),
        "broken": broken,
    })
}

async fn export(args: &AuditExportArgs) -> anyhow::Result<()> {
    let gate = open(&args.records).await?;
    let only = args.project.as_deref().map(ProjectId::from);
    let mut out = output::stream();
    let mut after = None;
    loop {
        let page = data_paths::explain_store_failure(
            gate.store().audit_rows(only.as_ref(), after, PAGE).await,
        )?;
        for row in &page {
            let written = writeln!(out, "{}", line(row)?);
            // A reader that went away has read enough.
            if written.is_err() {
                return Ok(());
            }
        }
        let Some(last) = page.last() else { break };
        after = Some((last.project.clone(), last.seq));
    }
    // Here, too.
    let _ = out.flush();
    Ok(())
}

/// A row as a line: what was sealed stands in it to the letter.
fn line(row: &AuditRow) -> anyhow::Result<String> {
    let act = RawValue::from_string(row.body.clone()).context("a row of the audit is not JSON")?;
    let line = json!({
        "project_id": row.project.as_str(),
        "seq": row.seq,
        "at": row.at,
        "hash": row.hash,
    });
    let line = line.to_string();
    let open = line.strip_suffix('}').unwrap_or(&line);
    Ok(format!("{open},\"act\":{act}}}"))
}
