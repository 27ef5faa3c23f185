//! Variables: which may be set or shown without changing what programs do or giving secrets away.

use crate::Effect;

/// Variables that only change how programs print.
const FREE: &[&str] = &[
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ADDRESS",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// Variables that may have exactly this value.
const FIXED: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_PAGER", ""),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("PAGER", "cat"),
    ("PAGER", ""),
];

/// Variables of the environment that hold no secret.
const SHOWABLE: &[&str] = &[
    "BASH_VERSION",
    "COLUMNS",
    "EUID",
    "HOME",
    "HOSTNAME",
    "HOSTTYPE",
    "LANG",
    "LC_ALL",
    "LINENO",
    "LINES",
    "LOGNAME",
    "MACHTYPE",
    "OLDPWD",
    "OSTYPE",
    "PATH",
    "PIPESTATUS",
    "PPID",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHELL",
    "SHLVL",
    "TERM",
    "TMPDIR",
    "UID",
    "USER",
];

/// Lower-case names that shells or network tools give a meaning to.
const SPECIAL_LOWER: &[&str] = &[
    "all_proxy",
    "cdpath",
    "fpath",
    "ftp_proxy",
    "histchars",
    "http_proxy",
    "https_proxy",
    "mailpath",
    "manpath",
    "module_path",
    "no_proxy",
    "path",
    "prompt",
    "psvar",
    "watch",
];

/// Returns whether a program may be given this variable without doing anything else than before.
pub(super) fn may_be_given(name: &str, value: Option<&str>) -> bool {
    let Some(value) = value else { return false };
    FIXED.contains(&(name, value)) || (FREE.contains(&name) && is_plain(name, value))
}

/// A locale or a time zone with a path in it makes the C library read that file.
fn is_plain(name: &str, value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.@,:=+-*".contains(c);
    let zone = name == "TZ" && !value.starts_with(['/', ':']) && !value.contains("..");
    value.chars().all(|c| plain(c) || (zone && c == '/'))
}

/// Returns whether the shell itself may set this variable without steering programs or itself.
///
/// Capital names may already be exported, and nobody has a list of what they steer.
pub(super) fn may_be_set(name: &str, value: Option<&str>) -> bool {
    let lower = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (lower && name != "_" && !SPECIAL_LOWER.contains(&name)) || may_be_given(name, value)
}

/// Returns whether a variable that the text did not set may be shown.
pub(super) fn may_be_shown(name: &str) -> bool {
    SHOWABLE.contains(&name)
}

/// Returns the variables a call adds to its environment that are not harmless.
pub(super) fn env_effects(env: &[(String, String)]) -> impl Iterator<Item = Effect> {
    let steering = env.iter().filter(|(name, value)| !may_be_given(name, Some(value)));
    steering.map(|(name, _)| Effect::Env { name: name.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_steer_a_program_is_given() {
        for (name, value) in [("LANG", "C"), ("NO_COLOR", "1"), ("TZ", "Europe/Rome")] {
            assert!(may_be_given(name, Some(value)), "{name}");
        }
        let steering = [
            ("PATH", "."),
            ("LD_PRELOAD", "x"),
            ("GIT_PAGER", "./x"),
            ("BASH_ENV", "x"),
            ("IFS", ","),
            ("LC_ALL", "/ws/evil"),
            ("TZ", "/etc/shadow"),
            ("PS4", "$(x)"),
        ];
        for (name, value) in steering {
            assert!(!may_be_given(name, Some(value)), "{name}");
        }
        assert!(!may_be_given("LANG", None));
    }

    #[test]
    fn the_shell_may_set_its_own_small_variables() {
        assert!(may_be_set("file", None));
        assert!(
            !may_be_set("PAGER", None) && !may_be_set("path", None) && !may_be_set("IFS", None)
        );
    }
}
