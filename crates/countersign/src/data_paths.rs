//! Where what we keep lies: the data folder, the database, the files of rules.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use countersign_gate::{
    DatabaseUrl, Gate, Rulebook, RulebookFiles, ServerPublicKey, StoreError, load_server_key,
};

use crate::cli::DatabaseArgs;
use crate::environment;
use crate::hint::{HintExt, HintedError};

/// Returns where our data folder is, or would be.
pub(crate) fn data_path(given: Option<&Path>) -> Option<PathBuf> {
    let folder = given.map(Path::to_owned).or_else(environment::data_folder)?;
    Some(std::path::absolute(&folder).unwrap_or(folder))
}

/// Returns the data folder, made for its owner alone: what agents do is nobody else's business.
pub(crate) fn data_folder(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let Some(folder) = data_path(given) else {
        bail!(HintedError {
            error: anyhow::anyhow!("there is no folder to keep data in"),
            hint: "give one with --data".to_owned(),
        });
    };
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .with_context(|| format!("could not make the data folder `{}`", folder.display()))
        .hint("check its parent's permissions, or give another one with --data")?;
    Ok(folder)
}

/// Returns where the database is, or is to be; the data folder is there.
pub(crate) fn database(data: Option<&Path>, url: Option<&str>) -> anyhow::Result<DatabaseUrl> {
    // What is wrong with it is said without it: it may hold a password.
    let url: Option<DatabaseUrl> = url.map(str::parse).transpose().map_err(|why: String| {
        let error = anyhow::anyhow!("the database is of no kind that is known");
        HintedError { error, hint: why }
    })?;
    match url {
        Some(DatabaseUrl::Sqlite(path)) => Ok(DatabaseUrl::Sqlite(std::path::absolute(path)?)),
        Some(url) => Ok(url),
        None => Ok(DatabaseUrl::Sqlite(data_folder(data)?.join("countersign.db"))),
    }
}

/// Returns where a database is that was made before: looking at one must not make it.
pub(crate) fn existing_database(records: &DatabaseArgs) -> anyhow::Result<DatabaseUrl> {
    let in_folder = || {
        let folder = data_path(records.data.as_deref()).context("there is no folder to look in")?;
        Ok::<_, anyhow::Error>(DatabaseUrl::Sqlite(folder.join("countersign.db")))
    };
    let database = match &records.database {
        Some(_) => database(None, records.database.as_deref())?,
        None => in_folder()?,
    };
    match &database {
        DatabaseUrl::Sqlite(file) if !file.exists() => {
            let error = anyhow::anyhow!("there is no record at `{}`", file.display());
            let hint = "let an agent work first, or name another folder with --data".to_owned();
            Err(HintedError { error, hint }.into())
        }
        _ => Ok(database),
    }
}

/// Returns the file of the database, where it is a file and can be named.
pub(crate) fn database_file(records: &DatabaseArgs) -> Option<PathBuf> {
    match records.database.as_deref().map(str::parse) {
        Some(Ok(DatabaseUrl::Sqlite(file))) => Some(file),
        Some(_) => None,
        None => Some(data_path(records.data.as_deref())?.join("countersign.db")),
    }
}

/// Returns the key by which the servers of a database are known; none before their first start.
pub(crate) fn server_key(file: &Path) -> Result<Option<ServerPublicKey>, String> {
    load_server_key(file).or_else(|error| match error {
        // As an earlier version made it: no server has had a key yet.
        StoreError::Database(_) => Ok(None),
        error => Err(format!("the server's key cannot be read here: {error}")),
    })
}

/// Says why a database could not be opened, and what can be done.
pub(crate) fn explain_open_failure(
    opened: Result<Gate, StoreError>,
    database: &DatabaseUrl,
) -> anyhow::Result<Gate> {
    opened.map_err(|error| {
        let hint = match error {
            StoreError::Unreachable(_) => "see that it is running and that its address is right",
            _ => error.remedy(),
        };
        let hint = hint.to_owned();
        let error = anyhow::Error::new(error);
        let error = error.context(format!("could not open the database `{database}`"));
        HintedError { error, hint }.into()
    })
}

/// Says what can be done about records that could not be used.
pub(crate) fn explain_store_failure<T>(used: Result<T, StoreError>) -> anyhow::Result<T> {
    used.map_err(|error| {
        let hint = error.remedy().to_owned();
        HintedError { error: error.into(), hint }.into()
    })
}

/// Returns the rules that stand in files, before it is told of workspaces.
pub(crate) fn rulebook(data: Option<&Path>) -> Rulebook {
    Rulebook::new(RulebookFiles {
        user: environment::config_folder().map(|folder| folder.join("config.toml")),
        trust: data_path(data).map(|folder| folder.join("trusted.json")),
        home: environment::home(),
    })
}
