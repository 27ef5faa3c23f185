//! `hook install` and `hook uninstall`: shows what would change in the settings, asks, and writes it.

use std::fs;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use countersign_core::{Invalid, UnifiedDiff, parse_input};
use countersign_gate::TokenRole;
use serde_json::Value;

use super::settings::{none, quoted, with_hooks, without_hooks, written};
use crate::cli::{HookInstallArgs, HookPlace, HookUninstallArgs, Records};
use crate::commands::consent::Server;
use crate::commands::token::{NewToken, agent_token_file, is_good};
use crate::credential_file::ServerCredential;
use crate::hint::{Hint, Hinted};
use crate::{environment, output};

pub(super) fn install(args: &HookInstallArgs) -> anyhow::Result<()> {
    let token_file = TokenFile::choose(args)?;
    let command = command(args, token_file.path())?;
    let file = File::read(&args.place)?;
    let done = format!("Claude Code asks Countersign now, by `{}`.", file.path.display());
    file.change(&args.place, |settings| with_hooks(settings, &command), "is set up", &done)?;
    match token_file {
        TokenFile::Given(_) => Ok(()),
        TokenFile::OfThisMachine(path) => keep_agent_token(args, &path),
        TokenFile::None => {
            output::note(
                "The server is on another machine: make a token there with `countersign token \
                 create --role agent --file FILE`, and install with --token-file. Without one \
                 Claude Code asks you itself.",
            );
            Ok(())
        }
    }
}

/// Which token the hook is to use.
enum TokenFile {
    /// The one that was named.
    Given(PathBuf),
    /// An agent's token that we make for the server of this machine.
    OfThisMachine(PathBuf),
    /// None: the server is elsewhere.
    None,
}

impl TokenFile {
    fn choose(args: &HookInstallArgs) -> anyhow::Result<Self> {
        if let Some(file) = &args.token_file {
            return Ok(Self::Given(std::path::absolute(file)?));
        }
        if !args.server.as_deref().is_none_or(Server::is_here) {
            return Ok(Self::None);
        }
        let file = agent_token_file(args.data.as_deref());
        Ok(Self::OfThisMachine(file.context("there is no folder to keep a token in")?))
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::Given(path) | Self::OfThisMachine(path) => Some(path),
            Self::None => None,
        }
    }
}

/// Makes the agent's token of this machine, unless there is one that is good.
fn keep_agent_token(args: &HookInstallArgs, file: &Path) -> anyhow::Result<()> {
    let records = Records { data: args.data.clone(), database: args.database.clone() };
    super::runtime()?.block_on(async {
        if let Ok(known) = ServerCredential::read(file)
            && is_good(&records, &known).await
        {
            return Ok(());
        }
        let made = NewToken::make(&records, TokenRole::Agent, Some("hook")).await;
        let made = made.hint("install with --token-file, and a token of the role `agent`")?;
        made.credential().write(file)?;
        output::note(&format!(
            "The hook has a token of its own in `{}`: it hands calls in and decides nothing.",
            file.display()
        ));
        Ok(())
    })
}

pub(super) fn uninstall(args: &HookUninstallArgs) -> anyhow::Result<()> {
    let file = File::read(&args.place)?;
    let done = format!("Countersign is out of `{}`.", file.path.display());
    file.change(&args.place, without_hooks, "has no hook of ours", &done)
}

/// Returns the command that Claude Code is to run.
fn command(args: &HookInstallArgs, token_file: Option<&Path>) -> anyhow::Result<String> {
    let program = std::env::current_exe().context("where this program lies is not known")?;
    let mut words = vec![path(&program)?, "hook".to_owned()];
    if let Some(server) = &args.server {
        words.extend(["--server".to_owned(), server.clone()]);
    }
    for (flag, file) in [("--token-file", token_file), ("--data", args.data.as_deref())] {
        if let Some(file) = file {
            words.extend([flag.to_owned(), path(&std::path::absolute(file)?)?]);
        }
    }
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    Ok(words.join(" "))
}

fn path(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("`{}` is not UTF-8", path.display()))?;
    Ok(text.to_owned())
}

/// A file of settings, as it was read.
struct File {
    path: PathBuf,
    /// None where it is not there.
    text: Option<String>,
}

impl File {
    fn read(place: &HookPlace) -> anyhow::Result<Self> {
        let folder = if place.project {
            environment::working_folder().context("the working folder is gone")?.join(".claude")
        } else {
            environment::claude_config().context("there is no home to look in")?
        };
        let path = folder.join("settings.json");
        let text = contents(&path)?;
        Ok(Self { path, text })
    }

    /// Shows what a change does, and does it if the person agrees.
    fn change(
        self,
        place: &HookPlace,
        change: impl FnOnce(&Value) -> Result<Value, String>,
        already: &str,
        done: &str,
    ) -> anyhow::Result<()> {
        let name = self.path.display().to_string();
        let settings = self.settings()?;
        let changed = change(&settings)
            .map_err(|why| anyhow::anyhow!("`{name}` does not hold settings: {why}"))
            .hint("mend it first; nothing was changed")?;
        if changed == settings {
            output::line(&format!("`{name}` {already}; there is nothing to do."));
            return Ok(());
        }
        let before = self.text.as_deref().unwrap_or_default();
        let after = written(&changed, before)?;
        for line in UnifiedDiff::between(&name, before, &after).lines {
            output::note(&line);
        }
        if !place.yes && !confirmed()? {
            bail!("nothing was changed");
        }
        self.write(&after)?;
        output::line(done);
        Ok(())
    }

    fn settings(&self) -> anyhow::Result<Value> {
        let Some(text) = self.text.as_deref().filter(|text| !text.trim().is_empty()) else {
            return Ok(none());
        };
        parse_input(text)
            .map_err(|Invalid(why)| anyhow::anyhow!("`{}`: {why}", self.path.display()))
            .hint("mend the file first; nothing was changed")
    }

    /// Replaces the file whole, if it still is the one that was shown.
    fn write(&self, text: &str) -> anyhow::Result<()> {
        if contents(&self.path)? != self.text {
            bail!("`{}` has changed meanwhile; nothing was changed", self.path.display());
        }
        // Many keep their settings elsewhere and a link here.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let folder = path.parent().context("it has no folder")?;
        fs::create_dir_all(folder)
            .with_context(|| format!("could not make `{}`", folder.display()))?;
        let mut draft = tempfile::NamedTempFile::new_in(folder)
            .with_context(|| format!("could not write in `{}`", folder.display()))?;
        draft.write_all(text.as_bytes())?;
        if let Ok(metadata) = path.metadata() {
            draft.as_file().set_permissions(metadata.permissions())?;
        }
        draft.as_file().sync_all()?;
        draft.persist(&path).with_context(|| format!("could not replace `{}`", path.display()))?;
        Ok(())
    }
}

fn contents(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("could not read `{}`", path.display())),
    }
}

fn confirmed() -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        let error = anyhow::anyhow!("there is nobody to confirm it");
        let hint = "say --yes if you agree with the change above".to_owned();
        return Err(Hinted { error, hint }.into());
    }
    let mut out = std::io::stderr();
    write!(out, "Write this? [y/N] ").and_then(|()| out.flush())?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
