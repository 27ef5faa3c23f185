//! What is known of programs that are not read-only: what they change, whom they talk to.

use super::Word;
use super::grammar::{self, Entry, Eye, entry};
use crate::Effect;

/// Programs that change files, and nothing else, with these options.
const CHANGES: &[Entry] = &[
    entry(
        &["touch"],
        "-a -c -h -m -d=text -t=text --date=text --no-create --time=text",
        "write write*",
    ),
    entry(&["mkdir"], "-p -v -m=text --parents --verbose --mode=text", "write write*"),
    entry(&["tee"], "-a -i --append --ignore-interrupts", "write*"),
    entry(&["truncate"], "-c -o -s=text --no-create --size=text", "write write*"),
    entry(
        &["rm", "unlink"],
        "-d -f -i -I -r -R -v --dir --force --interactive[=text] --recursive --verbose --one-file-system --preserve-root",
        "delete delete*",
    ),
    entry(&["rmdir"], "-p -v --parents --verbose --ignore-fail-on-non-empty", "delete delete*"),
    entry(
        &["cp"],
        "-a -b -d -f -i -l -n -p -P -r -R -T -u -v -x --archive --force --interactive --no-clobber --no-dereference --preserve[=text] --recursive --update[=text] --verbose --no-target-directory",
        "path path* write",
    ),
    entry(
        &["mv"],
        "-b -f -i -n -T -u -v --force --interactive --no-clobber --update[=text] --verbose --no-target-directory",
        "delete delete* write",
    ),
    entry(
        &["ln"],
        "-f -i -n -r -s -T -v --force --interactive --no-dereference --relative --symbolic --verbose",
        "path path* write",
    ),
    entry(
        &["chmod"],
        "-c -f -R -v --changes --silent --quiet --recursive --verbose",
        "text write write*",
    ),
];

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
pub(super) struct Known {
    pub(super) effects: Vec<Effect>,
    pub(super) why: String,
}

/// Returns what a program changes, if that is all it does.
pub(super) fn changes(name: &str, args: &[Word], eye: Eye<'_>) -> Option<Vec<Effect>> {
    let entry = CHANGES.iter().find(|entry| entry.names.contains(&name))?;
    let mut effects = grammar::apply(entry, args, eye).ok()?;
    if matches!(name, "mv" | "cp" | "ln") {
        effects.extend(into_folder(args, eye));
    }
    if name == "mv" {
        effects = renames(effects);
    }
    Some(effects)
}

/// The last operand may be a folder, and then the file of the same name in it is what changes.
fn into_folder(args: &[Word], eye: Eye<'_>) -> Vec<Effect> {
    let operands: Vec<_> =
        args.iter().filter_map(Word::literal).filter(|it| !it.starts_with('-')).collect();
    let Some((folder, sources)) = operands.split_last() else { return Vec::new() };
    let inside = sources.iter().filter_map(|source| {
        let name = source.trim_end_matches('/').rsplit('/').next()?;
        eye.targets(&Word::plain(&format!("{folder}/{name}"))).ok()
    });
    inside.flatten().map(Effect::Write).collect()
}

/// What is taken away at one place and written at another is moved.
fn renames(effects: Vec<Effect>) -> Vec<Effect> {
    let to: Vec<_> = effects
        .iter()
        .filter_map(|it| if let Effect::Write(to) = it { Some(to.clone()) } else { None })
        .collect();
    let moves = effects.into_iter().flat_map(|effect| match effect {
        Effect::Delete(from) => {
            to.iter().map(|to| Effect::Rename { from: from.clone(), to: to.clone() }).collect()
        }
        other => vec![other],
    });
    moves.collect()
}

/// Returns what is known of any other program.
pub(super) fn describe(name: &str, args: &[Word]) -> Known {
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
    } else if name == "git" && args.first().is_some_and(|it| is_remote(it.shown())) {
        (vec![Effect::Net { host: None }], "git talks to another machine".to_owned())
    } else {
        (Vec::new(), format!("`{name}` is not among the programs known to only read"))
    };
    Known { effects, why }
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
pub(super) fn runs_its_input(name: &str, args: &[Word]) -> bool {
    let name = name.to_lowercase();
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let given = |word: &Word| !word.shown().starts_with('-');
    let says_so = |word: &Word| matches!(word.shown(), "-" | "-s" | "/dev/stdin");
    RUN_INPUT.contains(&base) && (!args.iter().any(given) || args.iter().any(says_so))
}

/// The hosts that stand in the arguments: of addresses, of `user@host:path`, or bare names.
fn hosts(args: &[Word]) -> Vec<String> {
    let words = args.iter().map(Word::shown).filter(|word| !word.starts_with(['-', '+']));
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
