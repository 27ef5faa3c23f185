//! Where what we keep lies: the data folder, the database, the files of rules.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use countersign_gate::{Rulebook, RulebookFiles};

use crate::environment;
use crate::hint::{Hint, Hinted};

/// Returns where our data folder is, or would be.
pub(crate) fn data_path(given: Option<&Path>) -> Option<PathBuf> {
    let folder = given.map(Path::to_owned).or_else(environment::data_folder)?;
    Some(std::path::absolute(&folder).unwrap_or(folder))
}

/// Returns the data folder, made for its owner alone: what agents do is nobody else's business.
fn data_folder(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let Some(folder) = data_path(given) else {
        bail!(Hinted {
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

/// Returns where the database is, or is to be; its folder is there.
pub(crate) fn database(data: Option<&Path>, url: Option<&str>) -> anyhow::Result<PathBuf> {
    match url.map(|url| (url, url.strip_prefix("sqlite:"))) {
        Some((_, Some(path))) => Ok(std::path::absolute(path)?),
        Some((url, None)) => {
            let error =
                anyhow::anyhow!("the database `{url}` is of a kind this version does not have");
            Err(Hinted { error, hint: "use `sqlite:PATH`".to_owned() }.into())
        }
        None => Ok(data_folder(data)?.join("countersign.db")),
    }
}

/// Returns the rules that stand in files, before it is told of workspaces.
pub(crate) fn rulebook(data: Option<&Path>) -> Rulebook {
    Rulebook::new(RulebookFiles {
        user: environment::config_folder().map(|folder| folder.join("config.toml")),
        trust: data_path(data).map(|folder| folder.join("trusted.json")),
        home: environment::home(),
    })
}
