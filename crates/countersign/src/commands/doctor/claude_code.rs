//! What guards Claude Code here: the CLI, the hook in each of its settings, the token and the server.

use std::path::Path;
use std::time::Duration;

use countersign_agent::ClaudeSetup;
use countersign_claude::process::CliVersion;
use serde::de::IgnoredAny;

use super::{DoctorFinding, DoctorMark};
use crate::claude_hook::choices::HookChoices;
use crate::claude_hook::probe::run_by_shell;
use crate::claude_hook::settings::installed_command;
use crate::claude_hook::settings_files::{SettingsFile, find_disabled};
use crate::cli::DoctorArgs;
use crate::environment;
use crate::running_server::RunningServer;
use crate::server_target::{connect, is_on_this_machine, read_credential};
use crate::token_store::agent_token_file;
use crate::user_process::UserProcess;

const CLI: &str = "Claude Code";
const GUARD: &str = "Guard";
const SERVER: &str = "Server";

/// The newest CLI that is known to lack what the server's own runs need: a hook that blocks when it fails.
const LACKING: CliVersion = CliVersion { major: 2, minor: 1, patch: 197 };

/// The CLI that our tests drive.
const TESTED: CliVersion = CliVersion { major: 2, minor: 1, patch: 325 };

/// Says which CLI there is, and whether it is one that we can work with.
pub(super) fn version(args: &DoctorArgs) -> DoctorFinding {
    let setup = ClaudeSetup { cli: args.claude.clone(), env: environment::for_claude() };
    let Ok(cli) = setup.find() else {
        let text = "not found on the path or where installers put it; name it with --claude. Only \
                    needed to run it from the page";
        return DoctorFinding::new(CLI, DoctorMark::Note, text);
    };
    let shown = cli.display();
    match version_of(&cli) {
        Err(why) => DoctorFinding::new(
            CLI,
            DoctorMark::Wrong,
            format!("{shown} does not say its version: {why}"),
        ),
        Ok(version) if version <= LACKING => DoctorFinding::new(
            CLI,
            DoctorMark::Wrong,
            format!(
                "{version} ({shown}) is too old to be run from the page: it lets a call pass whose hook \
                 fails; update it to {TESTED} or newer"
            ),
        ),
        Ok(version) if version < TESTED => DoctorFinding::new(
            CLI,
            DoctorMark::Note,
            format!("{version} ({shown}); we test with {TESTED}, older ones may lack something"),
        ),
        Ok(version) => DoctorFinding::new(CLI, DoctorMark::Good, format!("{version} ({shown})")),
    }
}

fn version_of(cli: &Path) -> Result<CliVersion, String> {
    let child = UserProcess {
        program: cli,
        args: vec!["--version".into()],
        cwd: Path::new("/"),
        set: vec![("DISABLE_AUTOUPDATER", "1".to_owned())],
        unset: &[],
        stdin: String::new(),
        time: Duration::from_secs(20),
    };
    let said = child.output()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    CliVersion::parse(&said).ok_or_else(|| format!("it says `{}`", said.trim().escape_debug()))
}

/// Says for each of the settings whether Claude Code asks us by it, and which of our versions.
pub(super) fn guards(settings: &[SettingsFile], args: &DoctorArgs) -> Vec<DoctorFinding> {
    let ours = settings.iter().filter_map(|file| Some((file, installed_command(&file.settings)?)));
    let ours: Vec<_> = ours.collect();
    let disabled = find_disabled(settings);
    if ours.is_empty() {
        let mut text =
            "Claude Code is not guarded here: `countersign hook install` does that".to_owned();
        if let Some(disabled) = disabled {
            text = format!("{text}; but {disabled}");
        }
        return vec![DoctorFinding::new(GUARD, DoctorMark::Note, text)];
    }
    let project = environment::working_folder().unwrap_or_default();
    let mut findings: Vec<_> =
        ours.into_iter().map(|(file, command)| guard(file, command, &project)).collect();
    if let Some(disabled) = disabled {
        findings.push(DoctorFinding::new(GUARD, DoctorMark::Wrong, disabled.to_string()));
    }
    if HookChoices::read(args.records.data.as_deref()).follow_bypass {
        let text = "follows a bypass of Claude Code: only denials and `ask` rules hold then";
        findings.push(DoctorFinding::new(GUARD, DoctorMark::Note, text));
    }
    findings
}

fn guard(file: &SettingsFile, command: &str, project: &Path) -> DoctorFinding {
    let place = format!("{} settings `{}`", file.scope, file.path.display());
    match run_by_shell(command, project) {
        Ok(version) if version == env!("CARGO_PKG_VERSION") => DoctorFinding::new(
            GUARD,
            DoctorMark::Good,
            format!("Claude Code by the {place}: {version}"),
        ),
        Ok(version) => {
            let own = env!("CARGO_PKG_VERSION");
            let text = format!("Claude Code by the {place}: {version}, and this is {own}");
            DoctorFinding::new(GUARD, DoctorMark::Note, text)
        }
        Err(why) => {
            let text = format!("Claude Code by the {place}, but {why}; `hook install` mends it");
            DoctorFinding::new(GUARD, DoctorMark::Wrong, text)
        }
    }
}

/// Says whether a server runs here, proves itself, and takes the hook's token.
pub(super) async fn server(
    args: &DoctorArgs,
    running: Option<&RunningServer>,
    settings: &[SettingsFile],
) -> DoctorFinding {
    let is_guarded = settings.iter().any(|file| installed_command(&file.settings).is_some());
    let Some(running) = running else {
        let text = "none runs on this data folder; what the rules would ask about, Claude Code asks \
                    itself";
        return DoctorFinding::new(SERVER, DoctorMark::Note, text);
    };
    let url = &running.url;
    let own = connect(url, "default", running.credential());
    let own = match own {
        Ok(client) => client.get::<IgnoredAny>(&[], &[]).await,
        Err(error) => {
            return DoctorFinding::new(SERVER, DoctorMark::Wrong, format!("{url}: {error:#}"));
        }
    };
    if let Err(error) = own {
        let text = match error.into_refusal() {
            Ok(refusal) => format!("{url}: {}", refusal.message),
            Err(why) => format!("{url} does not answer ({why}): if it was killed, start it again"),
        };
        return DoctorFinding::new(SERVER, DoctorMark::Wrong, text);
    }
    match agent_token(args, url, is_guarded).await {
        Ok(text) => {
            DoctorFinding::new(SERVER, DoctorMark::Good, format!("{url} proves itself{text}"))
        }
        Err(why) => {
            DoctorFinding::new(SERVER, DoctorMark::Wrong, format!("{url} proves itself, but {why}"))
        }
    }
}

/// Says whether the server takes the hook's token.
async fn agent_token(args: &DoctorArgs, url: &str, is_guarded: bool) -> Result<String, String> {
    let file = agent_token_file(args.records.data.as_deref()).filter(|file| file.exists());
    let Some(file) = file else {
        let why = "the hook has no token: `countersign hook install` makes one";
        return if is_guarded { Err(why.to_owned()) } else { Ok(String::new()) };
    };
    if !is_on_this_machine(url) {
        return Ok(String::new());
    }
    let bad =
        |why: String| format!("the hook's token is not valid ({why}); install the hook again");
    let credential = read_credential(&file).map_err(|error| bad(format!("{error:#}")))?;
    let client = connect(url, "default", credential).map_err(|error| bad(format!("{error:#}")))?;
    match client.get::<IgnoredAny>(&["tools", "available"], &[]).await {
        Ok(_) => Ok(" and takes the hook's token".to_owned()),
        Err(error) => Err(bad(error.to_string())),
    }
}
