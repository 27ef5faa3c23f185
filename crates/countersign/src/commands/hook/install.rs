//! `hook install` and `hook uninstall`: shows what would change in the settings, asks, and writes it.

use std::fs;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use countersign_agent::ClaudeSetup;
use countersign_core::{InvalidCall, UnifiedDiff, parse_input};
use countersign_gate::TokenRole;
use serde_json::Value;

use crate::claude_hook::backup::SettingsBackup;
use crate::claude_hook::choices::HookChoices;
use crate::claude_hook::probe::{self, ClaudeProof};
use crate::claude_hook::settings::{
    empty_settings, guarded_command, quote_word, to_text_like, with_hooks, without_hooks,
};
use crate::claude_hook::settings_files::{self, SettingsScope, find_disabled};
use crate::cli::{DatabaseArgs, HookInstallArgs, HookSettingsArgs, HookUninstallArgs};
use crate::hint::{HintExt, HintedError};
use crate::runtime::small_runtime;
use crate::server_target::{is_on_this_machine, read_credential};
use crate::token_store::{NewToken, agent_token_file, is_good};
use crate::user_process::find_program;
use crate::{environment, output};

pub(super) fn install(args: &HookInstallArgs) -> anyhow::Result<()> {
    let project = environment::working_folder().context("the working folder is gone")?;
    check_shareable(args)?;
    check_enabled(&args.place, &project)?;
    let token_file = HookTokenFile::choose(args)?;
    let command = command(args, token_file.path())?;
    let file = EditableSettings::read(&args.place, &project)?;
    file.change(&args.place, |settings| with_hooks(settings, &command), "is set up")?;
    HookChoices { follow_bypass: args.follow_bypass }.write(args.data.as_deref())?;
    match token_file {
        HookTokenFile::Given(_) => {}
        HookTokenFile::OfThisMachine(path) => keep_agent_token(args, &path)?,
        HookTokenFile::None => output::note(
            "The server is on another machine: make a token there with `countersign token create \
             --role agent --file FILE`, and install with --token-file. Without one Claude Code asks you \
             itself.",
        ),
    }
    prove(args, &command, &project)?;
    let by = format!("Claude Code asks Countersign now, by `{}`.", file.path.display());
    output::line(&by);
    if args.follow_bypass {
        output::note("While it bypasses its permissions, only denials and `ask` rules hold.");
    }
    Ok(())
}

/// Refuses to write what is only of this machine into a file that others get.
fn check_shareable(args: &HookInstallArgs) -> anyhow::Result<()> {
    if args.place.project && (args.token_file.is_some() || args.data.is_some()) {
        bail!(HintedError {
            error: anyhow::anyhow!(
                "`.claude/settings.json` is shared, and --token-file and --data would write a path of \
                 this machine into it"
            ),
            hint: "use --local for what holds on this machine only".to_owned(),
        });
    }
    Ok(())
}

/// Refuses where Claude Code would not call the hook; nothing was changed yet.
fn check_enabled(place: &HookSettingsArgs, project: &Path) -> anyhow::Result<()> {
    let Some(disabled) = find_disabled(&settings_files::read_settings_files(project)) else {
        return Ok(());
    };
    let is_of_folder = matches!(disabled.scope, SettingsScope::Project | SettingsScope::Local);
    if scope(place) == SettingsScope::User && is_of_folder {
        output::note(&format!("warning: in this folder the hook has no effect: {disabled}"));
        return Ok(());
    }
    let hint = match disabled.scope {
        SettingsScope::Managed => "ask whoever manages this machine; nothing was changed",
        _ => "take that setting out, then install; nothing was changed",
    };
    Err(HintedError { error: anyhow::anyhow!("{disabled}"), hint: hint.to_owned() }.into())
}

/// Tries the hook: through the shell, and by Claude Code where that can be done without a network.
fn prove(args: &HookInstallArgs, command: &str, project: &Path) -> anyhow::Result<()> {
    let guarded = guarded_command(command);
    probe::run_by_shell(&guarded, project)
        .map_err(anyhow::Error::msg)
        .context("the hook is in the settings, but Claude Code would get no answer from it")
        .hint("fix that and install again, or remove the hook with `countersign hook uninstall`")?;
    let setup = ClaudeSetup { cli: args.claude.clone(), env: environment::for_claude() };
    let Ok(cli) = setup.find() else {
        output::note(
            "Tried through the shell: the hook answers. Claude Code was not found, so it was not tried \
             with it.",
        );
        return Ok(());
    };
    match probe::run_by_claude(&cli, scope(&args.place), project) {
        ClaudeProof::Called => {
            output::note(&format!("Tried with `{}`: Claude Code calls the hook.", cli.display()));
            Ok(())
        }
        ClaudeProof::NotTried(why) => {
            output::note(&format!(
                "Tried through the shell: the hook answers. With Claude Code it could not be tried: {why}."
            ));
            Ok(())
        }
        ClaudeProof::NotCalled(why) => Err(anyhow::anyhow!(why))
            .context("the hook is in the settings and answers, but Claude Code does not call it")
            .hint("`countersign doctor` says more; `countersign hook uninstall` removes the hook"),
    }
}

fn scope(place: &HookSettingsArgs) -> SettingsScope {
    match (place.project, place.local) {
        (true, _) => SettingsScope::Project,
        (_, true) => SettingsScope::Local,
        _ => SettingsScope::User,
    }
}

/// Which token the hook is to use.
enum HookTokenFile {
    /// The one that was named.
    Given(PathBuf),
    /// An agent's token that we make for the server of this machine.
    OfThisMachine(PathBuf),
    /// None: the server is elsewhere.
    None,
}

impl HookTokenFile {
    fn choose(args: &HookInstallArgs) -> anyhow::Result<Self> {
        if let Some(file) = &args.token_file {
            read_credential(file)?;
            return Ok(Self::Given(std::path::absolute(file)?));
        }
        if !args.server.as_deref().is_none_or(is_on_this_machine) {
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
    let records = DatabaseArgs { data: args.data.clone(), database: args.database.clone() };
    small_runtime()?.block_on(async {
        if let Ok(known) = read_credential(file)
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
    let project = environment::working_folder().context("the working folder is gone")?;
    let file = EditableSettings::read(&args.place, &project)?;
    let name = file.path.display().to_string();
    let now = file.text.clone().unwrap_or_default();
    if let Some(backup) = SettingsBackup::find(&file.path, &now) {
        file.give_back(&args.place, &backup)?;
        output::line(&format!("Countersign is out of `{name}`, which is as it was before."));
        return Ok(());
    }
    if file.change(&args.place, without_hooks, "has no hook of ours")? {
        SettingsBackup::forget(&file.path);
        output::line(&format!(
            "Countersign is out of `{name}`. Others have changed the file since, so the rest of it stays \
             as it is."
        ));
    }
    Ok(())
}

/// Returns the command that Claude Code is to run.
///
/// In a file that is shared it names nothing of this machine.
fn command(args: &HookInstallArgs, token_file: Option<&Path>) -> anyhow::Result<String> {
    let program = if args.place.project {
        shared_program()?
    } else {
        path(&environment::own_program().context("where this program lies is not known")?)?
    };
    let mut words = vec![program, "hook".to_owned()];
    if let Some(server) = &args.server {
        words.extend(["--server".to_owned(), server.clone()]);
    }
    let token_file = token_file.filter(|_| !args.place.project);
    for (flag, file) in [("--token-file", token_file), ("--data", args.data.as_deref())] {
        if let Some(file) = file {
            words.extend([flag.to_owned(), path(&std::path::absolute(file)?)?]);
        }
    }
    let words: Vec<_> = words.iter().map(|word| quote_word(word)).collect();
    Ok(words.join(" "))
}

/// Returns our program by its name, which has to be enough to find it.
fn shared_program() -> anyhow::Result<String> {
    const NAME: &str = "countersign";
    if find_program(NAME).is_none() {
        bail!(HintedError {
            error: anyhow::anyhow!(
                "`{NAME}` is not on the path, by which a shared file has to name it"
            ),
            hint: "put it there (for example in ~/.local/bin), or use --local".to_owned(),
        });
    }
    Ok(NAME.to_owned())
}

fn path(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("`{}` is not UTF-8", path.display()))?;
    Ok(text.to_owned())
}

/// A file of settings, as it was read.
struct EditableSettings {
    path: PathBuf,
    /// None where it is not there.
    text: Option<String>,
    scope: SettingsScope,
}

impl EditableSettings {
    fn read(place: &HookSettingsArgs, project: &Path) -> anyhow::Result<Self> {
        let scope = scope(place);
        let path =
            settings_files::settings_path(scope, project).context("there is no home to look in")?;
        let text = contents(&path)?;
        Ok(Self { path, text, scope })
    }

    /// Shows what a change does, and does it if the person agrees; returns whether there was one.
    fn change(
        &self,
        place: &HookSettingsArgs,
        change: impl FnOnce(&Value) -> Result<Value, String>,
        already: &str,
    ) -> anyhow::Result<bool> {
        let name = self.path.display().to_string();
        let settings = self.settings()?;
        let changed = change(&settings)
            .map_err(|why| anyhow::anyhow!("`{name}` holds no settings: {why}"))
            .hint("fix it first; nothing was changed")?;
        if changed == settings {
            output::line(&format!("`{name}` {already}; there is nothing to do."));
            return Ok(false);
        }
        let before = self.text.as_deref().unwrap_or_default();
        let after = to_text_like(&changed, before)?;
        self.confirm(place, Some(&after))?;
        let backup = self.backup(&settings, &after)?;
        self.write(&after)?;
        if let Some(backup) = backup {
            output::note(&format!("What it was before is kept in `{}`.", backup.display()));
        }
        Ok(true)
    }

    /// Gives back what was there before us, if the person agrees.
    fn give_back(&self, place: &HookSettingsArgs, backup: &SettingsBackup) -> anyhow::Result<()> {
        self.confirm(place, backup.before.as_deref())?;
        if let Some(text) = &backup.before {
            self.write(text)?;
        } else {
            fs::remove_file(&self.path)
                .with_context(|| format!("could not remove `{}`", self.path.display()))?;
            if backup.made_folder
                && let Some(folder) = self.path.parent()
            {
                // Others may have put something there since.
                let _ = fs::remove_dir(folder);
            }
        }
        SettingsBackup::forget(&self.path);
        Ok(())
    }

    /// Shows what the file would become, and asks.
    fn confirm(&self, place: &HookSettingsArgs, after: Option<&str>) -> anyhow::Result<()> {
        let (name, before) = (self.path.display().to_string(), self.text.as_deref());
        let shown = name.trim_start_matches('/');
        let (before, text) = (before.unwrap_or_default(), after.unwrap_or_default());
        for line in UnifiedDiff::from_texts(shown, before, text).lines {
            output::note(&line);
        }
        if after.is_none() {
            output::note("The file was made by `hook install`: it is removed.");
        }
        if !place.yes && !confirmed()? {
            bail!("nothing was changed");
        }
        Ok(())
    }

    /// Keeps what is to be given back; returns where. Nothing is kept where our hooks only go.
    fn backup(&self, settings: &Value, after: &str) -> anyhow::Result<Option<PathBuf>> {
        let now = self.text.clone().unwrap_or_default();
        let had_hooks = without_hooks(settings).is_ok_and(|without| without != *settings);
        let known = SettingsBackup::find(&self.path, &now);
        let (before, made_folder) = match known {
            // Installed again: what was there before the first time counts.
            Some(known) => (known.before, known.made_folder),
            None if had_hooks => {
                let without = without_hooks(settings).map_err(anyhow::Error::msg)?;
                (Some(to_text_like(&without, &now)?), false)
            }
            None => {
                let has_folder = self.path.parent().is_some_and(Path::exists);
                (self.text.clone(), !has_folder)
            }
        };
        if before.as_deref() == Some(after) {
            return Ok(None);
        }
        SettingsBackup::new(&self.path, before, made_folder, after).keep().map(Some)
    }

    fn settings(&self) -> anyhow::Result<Value> {
        let Some(text) = self.text.as_deref().filter(|text| !text.trim().is_empty()) else {
            return Ok(empty_settings());
        };
        parse_input(text)
            .map_err(|InvalidCall(why)| anyhow::anyhow!("`{}`: {why}", self.path.display()))
            .hint("fix the file first; nothing was changed")
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
        match path.metadata() {
            Ok(metadata) => draft.as_file().set_permissions(metadata.permissions())?,
            // Others are to read what is shared.
            Err(_) if self.scope == SettingsScope::Project => {
                draft.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
            }
            Err(_) => {}
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
        return Err(HintedError { error, hint }.into());
    }
    let mut out = std::io::stderr();
    write!(out, "Write this? [y/N] ").and_then(|()| out.flush())?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
