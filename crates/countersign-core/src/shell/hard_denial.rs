//! Floors: what is never a coding task, whoever asks and however it is written.
//!
//! Destroying the system, the home folder, devices or keys; taking the machine down by multiplying;
//! our own state and approval channel; the cloud's metadata endpoints. Names are looked at however
//! they are spelled, by their last component and without case.

mod self_protection;
mod shutdown;

pub(super) use self_protection::check_variable;
pub(super) use shutdown::check_shutdown;

use std::path::{Path, PathBuf};

use super::{CommandWord, HardDenial, ShellContext, WordValue, program_traits};
use crate::url_host::is_metadata;
use crate::{Effect, EffectTarget, SensitiveKind, WorkspaceSide, normalize_lexically};

/// Folders without which the machine or its people lose everything.
const SYSTEM: &[&str] = &[
    "/Applications",
    "/Library",
    "/System",
    "/Users",
    "/Volumes",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/media",
    "/mnt",
    "/opt",
    "/private",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local",
    "/usr/sbin",
    "/usr/share",
    "/var",
    "/var/lib",
    "/var/log",
];

/// Files without which nobody can log in, or nothing starts.
const VITAL: &[&str] =
    &["/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/sudoers", "/etc/fstab"];

/// Folders of keys that nobody can make again.
const KEYS: &[&str] = &[".ssh", ".gnupg"];

/// Devices that hold nothing.
const HARMLESS_DEVICES: &[&str] = &[
    "null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "fd", "shm",
    "pts", "tcp", "udp", "ptmx",
];

/// Programs that make, wipe or repartition what a device holds.
const DEVICE_TOOLS: &[&str] = &[
    "badblocks",
    "blkdiscard",
    "cfdisk",
    "cryptsetup",
    "diskutil",
    "fdisk",
    "gdisk",
    "hdparm",
    "mdadm",
    "mke2fs",
    "mkdosfs",
    "mkntfs",
    "mkswap",
    "nvme",
    "parted",
    "pvcreate",
    "sfdisk",
    "sgdisk",
    "shred",
    "wipefs",
    "zpool",
];

/// Operands looked at; a text that was not understood may seem to have thousands.
const MAX_OPERANDS: usize = 64;

/// Where a command would run, as far as denials must know.
pub(super) struct DenialContext<'a> {
    pub(super) context: &'a ShellContext<'a>,
    /// The folders it may be in.
    pub(super) folders: Option<&'a [PathBuf]>,
}

fn deny(reason: impl Into<String>) -> HardDenial {
    HardDenial { reason: reason.into() }
}

/// Returns the hard denial of a command, if any.
pub(super) fn check_call(
    name: &str,
    args: &[CommandWord],
    scene: &DenialContext<'_>,
) -> Option<HardDenial> {
    let name = name.to_lowercase();
    destroys(&name, args, scene)
        .or_else(|| harms_devices(&name, args))
        .or_else(|| talks_to_metadata(&name, args))
        .or_else(|| self_protection::check_call(&name, args))
        .or_else(|| harms_vital(&name, args, scene))
}

/// Returns the hard denial of a redirection into a file.
pub(super) fn check_write(path: &str) -> Option<HardDenial> {
    let vital =
        is_device(path) || normalize_lexically(Path::new(path)) == Path::new("/proc/sysrq-trigger");
    vital.then(|| format!("it writes over the device `{path}`")).map(deny)
}

/// Returns the hard denial of a function that starts itself twice.
pub(super) fn check_function(name: &str, text: &str) -> Option<HardDenial> {
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let twice = [format!("{name}|{name}"), format!("{name}&{name}")];
    let bomb = twice.iter().any(|twice| squeezed.contains(twice)) && squeezed.contains('&');
    bomb.then_some("it is a fork bomb").map(deny)
}

/// Returns the hard denial of what a part would do to single files.
pub(super) fn check_effects(
    effects: &[Effect],
    argv: &[CommandWord],
    context: &ShellContext<'_>,
) -> Option<HardDenial> {
    let vital = effects.iter().find_map(|effect| match effect {
        Effect::Write(target)
        | Effect::Delete(target)
        | Effect::DeleteAll(target)
        | Effect::Rename { from: target, .. } => Some(&target.path).filter(|path| is_vital(path)),
        _ => None,
    });
    let vital = vital.map(|path| {
        format!("it changes `{}`, without which nobody can log in or start", path.display())
    });
    vital.map(deny).or_else(|| self_protection::check_effects(effects, argv, context))
}

fn is_vital(path: &Path) -> bool {
    let below = ["/boot", "/etc/sudoers.d", "/proc/sysrq-trigger"];
    VITAL.iter().any(|vital| path == Path::new(vital))
        || below.iter().any(|it| path.starts_with(it))
}

fn destroys(name: &str, args: &[CommandWord], scene: &DenialContext<'_>) -> Option<HardDenial> {
    let recursive = has_flag(args, &['r', 'R'], "--r");
    let mut operands = args
        .iter()
        .filter(|word| !is_option(word))
        .take(MAX_OPERANDS)
        .collect::<Vec<_>>()
        .into_iter();
    let critical = |word: &&CommandWord| is_critical(word, scene);
    let found = match name {
        "rm" | "rmdir" | "unlink" | "srm" | "trash" => operands.find(|word| {
            let everything = recursive
                || matches!(word.value, WordValue::Glob(_))
                || word.effective_text().contains('*');
            everything && (critical(word) || holds_keys(word, scene))
        }),
        "shred" => operands.find(|word| is_precious(word, scene)),
        // The last operand is where things go, not what goes away.
        "mv" => operands.rev().skip(1).find(critical),
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" if recursive => operands.find(critical),
        "tar" if has_flag(args, &[], "--remove-f") => operands.find(critical),
        "rsync" if has_flag(args, &[], "--del") => operands.find(critical),
        "find" if finds_all_to_destroy(args) => operands.find(critical),
        _ => None,
    };
    found.map(|word| format!("`{name}` would destroy `{}`", word.text)).map(deny)
}

fn is_option(word: &CommandWord) -> bool {
    word.literal().is_some_and(|text| text.len() > 1 && text.starts_with('-'))
}

fn has_flag(args: &[CommandWord], letters: &[char], long: &str) -> bool {
    args.iter().filter_map(CommandWord::literal).any(|text| match text.strip_prefix("--") {
        Some(_) => text.starts_with(long),
        None => text.starts_with('-') && text.contains(letters),
    })
}

/// Programs that write over a file that they are given, however they are told to.
fn harms_vital(name: &str, args: &[CommandWord], scene: &DenialContext<'_>) -> Option<HardDenial> {
    let writes = match name {
        "sed" | "gsed" | "perl" | "ruby" => has_flag(args, &['i'], "--in-place"),
        "dd" => args.iter().any(|word| word.effective_text().starts_with("of=")),
        "install" | "ed" | "ex" | "sponge" | "rsync" | "patch" => true,
        _ => false,
    };
    let plain = |word: &CommandWord| match word.literal().and_then(|text| text.strip_prefix("of="))
    {
        Some(path) => CommandWord::from_literal(path),
        None => word.clone(),
    };
    let last = if name == "install" || name == "rsync" { 1 } else { MAX_OPERANDS };
    let operands = args.iter().rev().take(last).filter(|_| writes).map(plain);
    let found = operands.into_iter().find(|word| places(word, scene).iter().any(|it| is_vital(it)));
    found.map(|word| format!("`{name}` would write over `{}`", word.text)).map(deny)
}

/// Whether a `find` has a test that narrows what it finds.
pub(super) fn narrows(args: &[CommandWord]) -> bool {
    let tests = [
        "-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-newer", "-mtime", "-mmin",
        "-size", "-empty", "-user",
    ];
    args.iter().any(|word| tests.contains(&word.effective_text()))
}

/// `find` without a test that narrows what it finds.
fn finds_all_to_destroy(args: &[CommandWord]) -> bool {
    let has = |names: &[&str]| args.iter().any(|word| names.contains(&word.effective_text()));
    (has(&["-delete"])
        || (has(&["-exec", "-execdir", "-ok"])
            && has(&["rm", "shred", "unlink", "/bin/rm", "/usr/bin/rm"])))
        && !narrows(args)
}

/// Whether a word names a folder whose loss is the loss of everything, or all that is in it.
fn is_critical(word: &CommandWord, scene: &DenialContext<'_>) -> bool {
    let places = places(word, scene);
    places.iter().any(|path| {
        let system = SYSTEM.iter().any(|system| Path::new(system) == path);
        let home = scene.context.home.is_some_and(|home| home.starts_with(path));
        path.parent().is_none() || system || home || is_a_home(path)
    })
}

/// `~` and `~name`, where it is not known which folder that is.
fn is_a_home(path: &Path) -> bool {
    path.components().count() == 1 && path.to_string_lossy().starts_with('~')
}

fn holds_keys(word: &CommandWord, scene: &DenialContext<'_>) -> bool {
    let is_keys = |path: &Path| {
        path.file_name().is_some_and(|name| KEYS.contains(&name.to_string_lossy().as_ref()))
    };
    places(word, scene).iter().any(|path| is_keys(path))
}

/// What `shred` must not be pointed at: devices, secrets, all that lies outside.
fn is_precious(word: &CommandWord, scene: &DenialContext<'_>) -> bool {
    let cwd = scene.context.cwd;
    let is_lost = |target: EffectTarget| {
        target.place.side == WorkspaceSide::Outside
            || target.place.special == Some(SensitiveKind::Secret)
    };
    places(word, scene).iter().any(|path| {
        let target = path.to_str().and_then(|path| scene.context.machine.target(cwd, path));
        path.starts_with("~") || target.is_none_or(is_lost)
    })
}

/// Where a word may lead, by its components alone and through links. Unknown home: `~` itself.
fn places(word: &CommandWord, scene: &DenialContext<'_>) -> Vec<PathBuf> {
    let text = match &word.value {
        WordValue::Literal(text) => text.clone(),
        WordValue::Glob(pattern) => pattern.clone(),
        WordValue::Text | WordValue::Words => word.text.replace(['"', '\''], ""),
    };
    let text = match (home_prefix(&text), scene.context.home.and_then(Path::to_str)) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        (Some(rest), None) => format!("~{rest}"),
        (None, _) => text,
    };
    let text = without_wildcards(&text);
    let root = [PathBuf::from("/")];
    let folders =
        if text.starts_with(['/', '~']) { &root } else { scene.folders.unwrap_or_default() };
    let mut found = Vec::new();
    for folder in folders {
        let lexical = if text.starts_with('~') {
            PathBuf::from(text)
        } else {
            normalize_lexically(&folder.join(text))
        };
        let resolved =
            scene.context.machine.target(folder, if text.is_empty() { "." } else { text });
        found.extend(resolved.map(|target| target.path).filter(|_| !text.starts_with('~')));
        found.push(lexical);
    }
    found
}

/// Takes a spelling of the home folder off.
fn home_prefix(text: &str) -> Option<&str> {
    let rest = ["${HOME}", "$HOME", "~"].iter().find_map(|home| text.strip_prefix(home));
    let guarded =
        || text.strip_prefix("${HOME:").and_then(|it| it.split_once('}')).map(|(_, rest)| rest);
    rest.or_else(guarded).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Everything in a folder is the folder: `/*`, `/.*`, `/**`, `/.[!.]*`.
fn without_wildcards(text: &str) -> &str {
    let wild = |name: &str| {
        !name.is_empty() && name.chars().all(|c| "*?.[]!^{},".contains(c)) && name.contains('*')
    };
    match text.rsplit_once('/') {
        Some(("", name)) if wild(name) => "/",
        Some((folder, name)) if wild(name) => folder,
        None if wild(text) => "",
        _ => text,
    }
}

fn harms_devices(name: &str, args: &[CommandWord]) -> Option<HardDenial> {
    let asks = ["-l", "--list", "-n", "--no-act", "print", "-I", "list", "info"];
    let device = |word: &&CommandWord| is_device(word.effective_text().trim_start_matches("of="));
    let found = match name {
        "dd" => args.iter().find(|word| word.effective_text().starts_with("of=") && device(word)),
        "tee" | "cp" | "mv" | "truncate" | "install" | "ln" => args.last().filter(device),
        _ if name.starts_with("mkfs")
            || name.starts_with("newfs")
            || DEVICE_TOOLS.contains(&name) =>
        {
            args.iter()
                .find(device)
                .filter(|_| !args.iter().any(|word| asks.contains(&word.effective_text())))
        }
        _ => None,
    };
    found.map(|word| format!("`{name}` would overwrite the device `{}`", word.text)).map(deny)
}

fn is_device(path: &str) -> bool {
    let path = normalize_lexically(Path::new(path));
    let name = path.strip_prefix("/dev").ok().and_then(|rest| rest.components().next());
    name.is_some_and(|name| {
        !HARMLESS_DEVICES.contains(&name.as_os_str().to_string_lossy().as_ref())
    })
}

fn talks_to_metadata(name: &str, args: &[CommandWord]) -> Option<HardDenial> {
    let talks = program_traits::is_network(name) || program_traits::is_interpreter(name);
    let is_part = |c: char| c.is_alphanumeric() || "._-:[]".contains(c);
    let names = |word: &&CommandWord| {
        word.effective_text().to_lowercase().split(|c| !is_part(c)).any(is_metadata)
    };
    let found = args.iter().filter(|_| talks).find(names);
    found.map(|_| "it asks the cloud's metadata endpoint, which hands out credentials").map(deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fork_bombs_are_known_by_their_shape() {
        assert!(check_function(":", ":(){ :|:& };:").is_some());
        assert!(check_function("bomb", "bomb() { bomb | bomb & }").is_some());
        assert!(check_function("f", "f() { ls | sort & }").is_none());
    }

    #[test]
    fn devices_are_not_streams() {
        assert!(
            is_device("/dev/sda")
                && is_device("/dev/../dev/nvme0n1")
                && is_device("/dev/disk/by-id/x")
        );
        assert!(!is_device("/dev/null") && !is_device("/ws/dev/sda") && !is_device("/dev/shm/x"));
    }
}
