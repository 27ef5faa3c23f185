//! The environment: the only file that reads it (but for the flags, which clap reads).
#![expect(clippy::disallowed_methods, reason = "this is the seam the others go through")]

use std::path::PathBuf;

/// What a tool's process may know of our environment. Nothing that could be a secret.
const PASSED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "NVM_DIR",
    "JAVA_HOME",
    "VIRTUAL_ENV",
];

/// Returns the environment of tools' processes.
pub(crate) fn for_tools() -> Vec<(String, String)> {
    let mut passed: Vec<_> = PASSED_ON
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    passed.push(("TERM".to_owned(), "dumb".to_owned()));
    passed
}

/// What Claude Code may know beyond that: how it reaches its API, and how it was set up.
const FOR_CLAUDE: &[&str] = &[
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "AWS_PROFILE",
    "AWS_REGION",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CONFIG_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "NODE_EXTRA_CA_CERTS",
];

/// Returns the environment of the Claude Code CLI, but for the key.
pub(crate) fn for_claude() -> Vec<(String, String)> {
    let known = |name: &&str| Some(((**name).to_owned(), std::env::var(name).ok()?));
    PASSED_ON.iter().chain(FOR_CLAUDE).filter_map(known).collect()
}

/// Returns the folder for our data, as the platform has it.
pub(crate) fn data_folder() -> Option<PathBuf> {
    own_folder("XDG_DATA_HOME", ".local/share")
}

/// Returns the folder of the user's settings, as the platform has it.
pub(crate) fn config_folder() -> Option<PathBuf> {
    own_folder("XDG_CONFIG_HOME", ".config")
}

/// Returns the user's home.
pub(crate) fn home() -> Option<PathBuf> {
    path("HOME").filter(|home| home.is_absolute())
}

/// Returns the folder of the project that Claude Code works in, as it tells its hooks.
pub(crate) fn claude_project() -> Option<PathBuf> {
    path("CLAUDE_PROJECT_DIR").filter(|folder| folder.is_absolute())
}

/// Returns where Claude Code keeps its user's settings.
pub(crate) fn claude_config() -> Option<PathBuf> {
    let own = path("CLAUDE_CONFIG_DIR").filter(|folder| folder.is_absolute());
    own.or_else(|| Some(home()?.join(".claude")))
}

/// Returns the folder this was started in.
pub(crate) fn working_folder() -> std::io::Result<PathBuf> {
    std::env::current_dir()
}

/// Returns the file of the program that runs: the sandbox starts it once more.
pub(crate) fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// Returns what the user is called.
pub(crate) fn user_name() -> Option<String> {
    let name = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    name.filter(|name| !name.is_empty() && !name.chars().any(char::is_control))
}

/// Returns everything in the environment, for a child that is to see what its user's shell would give it.
pub(crate) fn all_variables() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::vars_os().collect()
}

/// Returns the folders that programs are looked for in.
pub(crate) fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

/// Returns whether approvals may not be bypassed here.
pub(crate) fn approval_is_enforced() -> bool {
    std::env::var_os("TOOL_APPROVAL_ENABLED").is_some_and(|value| value == "true")
}

fn own_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    path(variable)
        .filter(|folder| folder.is_absolute())
        .or_else(|| path("HOME").map(|home| home.join(below_home)))
        .map(|folder| folder.join("countersign"))
}

fn path(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns whether colours are unwelcome.
pub(crate) fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Returns which log lines are wanted.
pub(crate) fn log_filter() -> String {
    std::env::var("COUNTERSIGN_LOG")
        .unwrap_or_else(|_| "warn,countersign=info,activity=info".to_owned())
}

/// Keeps our environment, which holds the keys, from the processes of our own user.
///
/// Without this a tool's process could read `/proc/<our id>/environ` or attach to us. A kernel that
/// does not know the call leaves things as they are; root can do as it likes in any case.
pub(crate) fn hide_from_children() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
