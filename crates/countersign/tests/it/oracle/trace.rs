//! What strace saw: files that were opened, programs that were started, hosts that were called.

use std::path::Path;

use super::manifest::JAVA_NOTES;
use super::world::World;

/// Where the system keeps what every program reads.
const SYSTEM: &[&str] = &[
    "/usr/",
    "/lib",
    "/bin/",
    "/sbin/",
    "/etc/",
    "/proc/",
    "/dev/",
    "/sys/",
    "/var/lib/",
    "/run/",
    "/var/cache/",
    "/opt/",
];

/// System files that no reader needs.
const SYSTEM_SECRETS: &[&str] = &["/etc/shadow", "/etc/gshadow", "/etc/sudoers"];

/// Files that search tools and git look for in every folder above what they read.
const LOOKED_FOR: &[&str] = &[
    ".gitignore",
    ".ignore",
    ".rgignore",
    ".fdignore",
    ".gitattributes",
    ".mailmap",
    ".gitmodules",
];

/// What a traced command may do beside what was predicted.
#[derive(Clone, Copy)]
pub(super) struct TraceLeave {
    /// It may change files; which, the manifests tell.
    pub(super) writes: bool,
    /// It is git in a repository that tracks a secret: git opens it to tell whether it changed.
    pub(super) compares_secrets: bool,
}

/// One thing that strace saw and that nobody had predicted.
pub(super) fn find_unpredicted(
    trace: &str,
    world: &World,
    predicted: &[String],
    leave: TraceLeave,
) -> Option<String> {
    trace.lines().find_map(|line| judge_line(line, world, predicted, leave))
}

fn judge_line(
    line: &str,
    world: &World,
    predicted: &[String],
    leave: TraceLeave,
) -> Option<String> {
    let call = line.split_once(' ').map(|(_, call)| call.trim_start())?;
    if call.starts_with("execve") && call.trim_end().ends_with("= 0") {
        let program = quoted(call)?;
        let ours = Path::new(&program).starts_with(world.mount()) || !program.starts_with('/');
        return ours.then(|| format!("started {program}"));
    }
    if call.starts_with("connect(") && call.contains("sa_family=AF_INET") {
        return Some(format!("connected: {call}"));
    }
    let opened = call.rsplit_once("= ").and_then(|(_, fd)| fd.split_once('<'))?.1;
    let opened = opened.strip_suffix('>').unwrap_or(opened);
    let opened = opened.strip_suffix("(deleted)").unwrap_or(opened);
    if !call.contains("open") && !call.contains("creat") {
        return None;
    }
    let writes = ["O_WRONLY", "O_RDWR", "creat("].iter().any(|it| call.contains(it));
    if leave.compares_secrets && !writes && opened.ends_with("/ws/.env") {
        return None;
    }
    judge_open(opened, call.contains("O_DIRECTORY"), writes && !leave.writes, world, predicted)
}

fn judge_open(
    path: &str,
    is_folder: bool,
    writes: bool,
    world: &World,
    predicted: &[String],
) -> Option<String> {
    let file = Path::new(path);
    if !path.starts_with('/') || file.starts_with(world.output_mount()) {
        return None;
    }
    if let Ok(below) = file.strip_prefix(world.workspace()) {
        let own = below.starts_with(".git");
        if writes && !own {
            return Some(format!("wrote {path}"));
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name == ".env" {
            return Some(format!("opened the secret {path}"));
        }
        let is_predicted = predicted.iter().any(|it| file.starts_with(it));
        let looked_for = is_folder || file.is_dir() || own || LOOKED_FOR.contains(&name.as_ref());
        return (!is_predicted && !looked_for)
            .then(|| format!("opened {path}, which no effect names"));
    }
    if file.starts_with(world.mount()) {
        // A folder above is opened on the way; what is in it is not.
        return (file != world.mount() && !predicted.iter().any(|it| file.starts_with(it)))
            .then(|| format!("opened {path} outside the workspace"));
    }
    if SYSTEM_SECRETS.iter().any(|it| path.starts_with(it)) {
        return Some(format!("opened the secret {path}"));
    }
    if is_scratch(path) || path.starts_with(&format!("/tmp/{JAVA_NOTES}")) {
        return None;
    }
    if writes && !path.starts_with("/dev/") && !path.starts_with("/proc/") {
        return Some(format!("wrote {path}"));
    }
    let is_below =
        |folder: &&str| path.starts_with(*folder) || path == folder.trim_end_matches('/');
    let is_system = SYSTEM.iter().any(is_below) || is_folder;
    let is_predicted = predicted.iter().any(|it| file.starts_with(it));
    (!is_system && !is_predicted).then(|| format!("opened {path} outside the workspace"))
}

/// Whether a path is a temporary file of a program that cannot hold its input in memory.
fn is_scratch(path: &str) -> bool {
    let name = path.strip_prefix("/tmp/tac").or_else(|| path.strip_prefix("/tmp/sort"));
    name.is_some_and(|rest| rest.len() == 6 && rest.chars().all(|c| c.is_ascii_alphanumeric()))
}

fn quoted(call: &str) -> Option<String> {
    let (_, rest) = call.split_once('"')?;
    rest.split_once('"').map(|(text, _)| text.to_owned())
}
