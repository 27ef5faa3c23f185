//! `countersign backup`: a copy of the database in which nothing is left that could run.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use countersign_gate::{DatabaseUrl, Gate, GateSettings, Rulebook, SystemClock};

use crate::cli::BackupArgs;
use crate::hint::{HintExt, HintedError};
use crate::runtime::runtime;
use crate::{data_paths, output};

pub(crate) fn run(args: &BackupArgs) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        let database = data_paths::existing_database(&args.records)?;
        match &args.file {
            Some(file) => copy(database, file).await,
            None => settle(database).await,
        }
    })
}

async fn open(database: DatabaseUrl) -> anyhow::Result<Gate> {
    let book = Arc::new(Rulebook::none());
    let opened = Gate::open_to_read(database.clone(), Arc::new(SystemClock), book).await;
    data_paths::explain_open_failure(opened, &database)
}

async fn copy(database: DatabaseUrl, file: &Path) -> anyhow::Result<()> {
    if matches!(database, DatabaseUrl::Postgres(_)) {
        bail!(HintedError {
            error: anyhow::anyhow!("a PostgreSQL is backed up with its own tools"),
            hint: "use pg_dump; after pg_restore say `countersign backup --settle`".to_owned(),
        });
    }
    let file = std::path::absolute(file)?;
    if file.exists() {
        bail!(HintedError {
            error: anyhow::anyhow!("there is something at `{}` already", file.display()),
            hint: "name a file that is not there yet".to_owned(),
        });
    }
    let folder = file.parent().context("a file without a folder")?;
    // In a folder of its own first: what is under the name is whole and settled, or not there.
    let scratch = tempfile::tempdir_in(folder).hint("check the folder of the copy")?;
    let raw = scratch.path().join("copy.db");
    open(database).await?.store().copy_to(&raw).await?;
    let copy = open(DatabaseUrl::Sqlite(raw)).await?;
    let ended = copy.end_all_open().await?;
    let settled = scratch.path().join("settled.db");
    copy.store().copy_to(&settled).await?;
    // The name comes last, and to something that a power cut cannot take back.
    std::fs::File::open(&settled)?.sync_all()?;
    std::fs::rename(&settled, &file).hint("check the folder of the copy")?;
    output::line(&format!("copied to {}", file.display()));
    tell(ended);
    Ok(())
}

async fn settle(database: DatabaseUrl) -> anyhow::Result<()> {
    // A file is held by the server that is at work on it; on a PostgreSQL it shows that it is alive.
    let settings = GateSettings::for_database(database.clone());
    let opened = Gate::open(settings, Arc::new(SystemClock), Arc::new(Rulebook::none())).await;
    let gate = data_paths::explain_open_failure(opened, &database)?;
    if gate.has_live_server().await? {
        bail!(HintedError {
            error: anyhow::anyhow!("a server is at work on `{database}`"),
            hint: "this ends all that waits or runs: stop the servers first".to_owned(),
        });
    }
    tell(gate.end_all_open().await?);
    Ok(())
}

fn tell(ended: usize) {
    let what = if ended == 1 { "call or run that was" } else { "calls and runs that were" };
    output::line(&format!("ended {ended} {what} open"));
}
