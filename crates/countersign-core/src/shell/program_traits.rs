//! What is known of programs that are not read-only: what they change, whom they talk to.

mod file_changes;
mod tree_effects;

pub(super) use file_changes::file_change_effects;

use super::CommandWord;
use crate::Effect;

/// Programs that talk to other machines.
const NETWORK: &[&str] = &[
    "aria2c",
    "curl",
    "dig",
    "drill",
    "ftp",
    "getent",
    "host",
    "http",
    "https",
    "lftp",
    "mail",
    "mosh",
    "mtr",
    "nc",
    "ncat",
    "netcat",
    "nmap",
    "nslookup",
    "ping",
    "ping6",
    "rclone",
    "rsync",
    "scp",
    "sendmail",
    "sftp",
    "socat",
    "ssh",
    "sshfs",
    "telnet",
    "tftp",
    "traceroute",
    "wget",
    "whois",
    "xh",
];

/// Agents, ours aside.
const AGENTS: &[&str] = &[
    "aider",
    "amp",
    "auggie",
    "claude",
    "codex",
    "copilot",
    "crush",
    "cursor-agent",
    "gemini",
    "goose",
    "llm",
    "opencode",
    "openhands",
    "q",
    "qwen",
    "roo",
    "sgpt",
];

/// Programs that keep something to run later.
const LATER: &[&str] =
    &["anacron", "at", "batch", "crontab", "launchctl", "systemctl", "update-rc.d", "schtasks"];

/// Programs that run text they are given.
const INTERPRETERS: &[&str] = &[
    "ash",
    "awk",
    "bash",
    "bun",
    "clojure",
    "csh",
    "dash",
    "deno",
    "elixir",
    "emacs",
    "erl",
    "expect",
    "fish",
    "gawk",
    "gdb",
    "ghci",
    "groovy",
    "irb",
    "julia",
    "ksh",
    "lua",
    "luajit",
    "m4",
    "make",
    "mawk",
    "mysql",
    "node",
    "nodejs",
    "octave",
    "osascript",
    "perl",
    "php",
    "powershell",
    "psql",
    "pwsh",
    "python",
    "python2",
    "python3",
    "r",
    "rscript",
    "ruby",
    "scala",
    "sed",
    "sh",
    "sqlite3",
    "ssh",
    "tclsh",
    "tcsh",
    "ts-node",
    "tsx",
    "vi",
    "vim",
    "watch",
    "xonsh",
    "zsh",
    "parallel",
    "entr",
    "script",
    "su",
    "env",
    "xargs",
    "docker",
    "podman",
    "kubectl",
    "npx",
    "bunx",
    "uvx",
    "pipx",
];

/// What is known of a program beside that it runs.
pub(super) struct ProgramTraits {
    pub(super) effects: Vec<Effect>,
    pub(super) why: String,
}

/// Returns what is known of any other program.
pub(super) fn describe(name: &str, args: &[CommandWord]) -> ProgramTraits {
    let folded = name.to_lowercase();
    let (effects, why) = if NETWORK.contains(&folded.as_str()) {
        let hosts = hosts(args);
        let found: Vec<_> =
            hosts.into_iter().map(|host| Effect::Net { host: Some(host) }).collect();
        let found = if found.is_empty() { vec![Effect::Net { host: None }] } else { found };
        (found, format!("`{name}` talks to other machines"))
    } else if AGENTS.contains(&folded.as_str()) {
        (
            vec![Effect::SpawnAgent { agent: name.to_owned() }],
            format!("`{name}` is an agent of its own"),
        )
    } else if LATER.contains(&folded.as_str()) {
        (
            vec![Effect::RunsLater { what: name.to_owned() }],
            format!("`{name}` keeps something to run later"),
        )
    } else if is_interpreter(&folded) {
        (Vec::new(), format!("`{name}` runs code that it is given"))
    } else if name == "git" && args.first().is_some_and(|it| is_remote(it.effective_text())) {
        (vec![Effect::Net { host: None }], "git talks to another machine".to_owned())
    } else {
        (Vec::new(), format!("`{name}` is not among the programs known to only read"))
    };
    ProgramTraits { effects, why }
}

fn is_remote(command: &str) -> bool {
    matches!(command, "clone" | "fetch" | "pull" | "push" | "ls-remote")
}

/// Returns whether a program may run text from its arguments or its input.
pub(super) fn is_interpreter(name: &str) -> bool {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&base)
}

/// Interpreters that run their standard input when they are given nothing else.
const RUN_INPUT: &[&str] = &[
    "ash",
    "bash",
    "bun",
    "csh",
    "dash",
    "fish",
    "irb",
    "julia",
    "ksh",
    "lua",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "python",
    "r",
    "rscript",
    "ruby",
    "sh",
    "tclsh",
    "tcsh",
    "xonsh",
    "zsh",
];

/// Returns whether a program runs the text on its standard input: it is given no file and no code.
pub(super) fn runs_its_input(name: &str, args: &[CommandWord]) -> bool {
    let name = name.to_lowercase();
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let given = |word: &CommandWord| !word.effective_text().starts_with('-');
    let says_so = |word: &CommandWord| matches!(word.effective_text(), "-" | "-s" | "/dev/stdin");
    RUN_INPUT.contains(&base) && (!args.iter().any(given) || args.iter().any(says_so))
}

/// The hosts that stand in the arguments: of addresses, of `user@host:path`, or bare names.
fn hosts(args: &[CommandWord]) -> Vec<String> {
    let words =
        args.iter().map(CommandWord::effective_text).filter(|word| !word.starts_with(['-', '+']));
    let mut found: Vec<String> = words.filter_map(host).collect();
    found.dedup();
    found
}

fn host(word: &str) -> Option<String> {
    let (address, is_address) = match word.split_once("://") {
        Some((_, rest)) => (rest, true),
        None => (word, false),
    };
    let authority = address.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = if host.starts_with('[') { host } else { host.split(':').next()? };
    let plain = host.chars().all(|c| c.is_alphanumeric() || ".-_[]:".contains(c));
    let named = is_address || (host.contains('.') && !word.starts_with(['.', '/']));
    (plain && named && !host.is_empty()).then(|| host.to_lowercase())
}

/// Returns whether a program talks to other machines.
pub(super) fn is_network(name: &str) -> bool {
    NETWORK.contains(&name)
}
