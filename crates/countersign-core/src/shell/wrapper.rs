//! Wrappers: programs that run another program, with the options that come before it.

mod xargs;

use super::CommandWord;

/// A program that runs the rest of its words.
struct WrapperProgram {
    names: &'static [&'static str],
    /// Options that take no value, as letters; then long ones and ones with values, one blank apart.
    flags: &'static str,
    values: &'static str,
    /// Words of its own before the command.
    operands: usize,
    /// Whether variables may stand before the command.
    assigns: bool,
    /// What it adds that has to be asked for; nothing when it only runs the command.
    adds: Option<&'static str>,
}

const fn wrapper(
    names: &'static [&'static str],
    flags: &'static str,
    values: &'static str,
    operands: usize,
    adds: Option<&'static str>,
) -> WrapperProgram {
    WrapperProgram { names, flags, values, operands, assigns: false, adds }
}

const RIGHTS: Option<&str> = Some("it runs with another user's rights");
const OUTLIVES: Option<&str> = Some("it goes on when the call is over");
const TRACES: Option<&str> = Some("it runs under a program that can change it");

const ALL: &[WrapperProgram] = &[
    WrapperProgram {
        names: &["env", "genv"],
        flags: "-i -0 -v --ignore-environment --null --debug -",
        values: "-u --unset",
        operands: 0,
        assigns: true,
        adds: None,
    },
    wrapper(
        &["timeout", "gtimeout"],
        "-v --verbose --foreground --preserve-status",
        "-k -s --kill-after --signal",
        1,
        None,
    ),
    wrapper(&["nice", "gnice"], "-#", "-n --adjustment", 0, None),
    wrapper(&["ionice"], "-t --ignore", "-c -n --class --classdata", 0, None),
    // Newer ones need no priority, and take its place for the command's.
    wrapper(&["chrt"], "-b -f -i -o -r -R", "", 1, Some("it runs with another priority")),
    wrapper(&["taskset"], "-a --all-tasks", "", 1, None),
    wrapper(&["stdbuf", "gstdbuf"], "", "-i -o -e --input --output --error", 0, None),
    wrapper(&["time", "gtime"], "-p -v --portability --verbose", "-f --format", 0, None),
    wrapper(&["command"], "-p", "", 0, None),
    wrapper(&["builtin"], "", "", 0, None),
    wrapper(&["exec"], "-c -l", "-a", 0, Some("it takes the shell's place")),
    wrapper(&["nohup"], "", "", 0, None),
    wrapper(&["setsid"], "-c -f -w --ctty --fork --wait", "", 0, OUTLIVES),
    wrapper(
        &["systemd-run"],
        "-d -G -P -q -S -t --user --scope --pty --pipe --wait --quiet --collect --no-block --same-dir --system",
        "-p -u -M -H -E --unit --property --setenv --slice --uid --gid --working-directory --on-calendar --on-active",
        0,
        OUTLIVES,
    ),
    WrapperProgram {
        names: &["sudo"],
        flags: "-A -b -E -e -H -i -K -k -l -n -P -S -s -V -v --askpass --background --preserve-env --set-home --login --non-interactive --preserve-groups --stdin --shell",
        values: "-C -D -g -h -p -R -r -T -t -U -u --chdir --close-from --group --host --prompt --chroot --role --type --user --command-timeout",
        operands: 0,
        assigns: true,
        adds: RIGHTS,
    },
    WrapperProgram {
        names: &["doas"],
        flags: "-L -n -s",
        values: "-C -u -a",
        operands: 0,
        assigns: true,
        adds: RIGHTS,
    },
    wrapper(&["pkexec"], "--disable-internal-agent --keep-cwd", "--user", 0, RIGHTS),
    wrapper(
        &["runuser", "setpriv", "gosu", "su-exec"],
        "-l -m -p --login --fast",
        "-u -g -G -s --user --group",
        0,
        RIGHTS,
    ),
    wrapper(
        &["chroot"],
        "--skip-chdir",
        "--groups --userspec",
        1,
        Some("it runs with another root folder"),
    ),
    wrapper(
        &["unshare", "nsenter"],
        "-a -C -c -f -i -m -n -p -r -T -u -U --fork --mount --net --pid --user --map-root-user --all",
        "-t -R -w --target --root --wd",
        0,
        Some("it runs in other namespaces"),
    ),
    wrapper(
        &["setarch", "linux32", "linux64", "i386", "x86_64"],
        "-R -v -3 -B -F -I -L -S -T -X -Z",
        "",
        0,
        None,
    ),
    wrapper(
        &["watch"],
        "-b -c -C -d -e -g -p -q -r -t -w -x --beep --color --differences --errexit --chgexit --exec --no-title --precise",
        "-n --interval",
        0,
        Some("it runs it again and again"),
    ),
    wrapper(
        &["flock"],
        "-e -F -n -o -s -u -v -x --exclusive --nonblock --nb --close --shared --unlock --no-fork --verbose",
        "-E -w --conflict-exit-code --wait --timeout",
        1,
        Some("it makes a lock file"),
    ),
    wrapper(
        &["strace", "ltrace"],
        "-C -c -d -D -f -ff -F -h -i -k -n -q -qq -r -S -t -tt -ttt -T -v -V -w -x -xx -y -yy -z -Z",
        "-a -b -e -E -I -o -O -p -P -s -u -U -X",
        0,
        TRACES,
    ),
    wrapper(
        &["busybox", "toybox"],
        "",
        "",
        0,
        Some("the program inside it is not the one of that name"),
    ),
    wrapper(
        &[
            "fakeroot",
            "unbuffer",
            "catchsegv",
            "dbus-run-session",
            "torsocks",
            "proxychains",
            "proxychains4",
            "rlwrap",
            "ltsudo",
            "caffeinate",
            "firejail",
            "bwrap",
            "daemonize",
            "script",
        ],
        "-q -a --",
        "",
        0,
        TRACES,
    ),
];

/// What came out of a wrapper.
pub(super) enum UnwrapResult {
    /// Another command.
    Command {
        inner: Vec<CommandWord>,
        /// Variables it is given.
        given: Vec<(String, String)>,
        /// What must be asked for beside it.
        adds: Option<&'static str>,
    },
    /// A text for a shell.
    Script { text: CommandWord, dialect: ShellDialect },
    /// Something that cannot be told.
    Unclear(String),
}

/// How a shell reads the text that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellDialect {
    /// As bash does.
    Bash,
    /// As the standard says, which is as bash does only for simple texts.
    Portable,
    /// Otherwise, or with start-up files or tracing.
    Other,
}

/// Shells that take a text with `-c`.
const SHELLS: &[&str] =
    &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "yash"];

/// Those that keep to the standard. In `fish`, to name one, `'\\''` is a quote in quotes.
const PORTABLE: &[&str] = &["sh", "dash"];

/// Takes one wrapper off. `None` when the program is no wrapper.
pub(super) fn unwrap(name: &str, args: &[CommandWord]) -> Option<UnwrapResult> {
    if name == "su" {
        return shell(args).map(|unwrapped| match unwrapped {
            UnwrapResult::Script { text, .. } => {
                UnwrapResult::Script { text, dialect: ShellDialect::Other }
            }
            other => other,
        });
    }
    if SHELLS.contains(&name) {
        return shell(args).map(|unwrapped| match unwrapped {
            UnwrapResult::Script { text, dialect: ShellDialect::Bash }
                if PORTABLE.contains(&name) =>
            {
                UnwrapResult::Script { text, dialect: ShellDialect::Portable }
            }
            UnwrapResult::Script { text, .. } if name != "bash" && !PORTABLE.contains(&name) => {
                UnwrapResult::Script { text, dialect: ShellDialect::Other }
            }
            other => other,
        });
    }
    if name == "xargs" || name == "gxargs" {
        return Some(xargs::unwrap(args));
    }
    let wrapper = ALL.iter().find(|wrapper| wrapper.names.contains(&name))?;
    let rest = match skip_options(args, wrapper.flags, wrapper.values) {
        Ok(rest) => rest,
        Err(why) => return Some(UnwrapResult::Unclear(why)),
    };
    // Without `PATH`, where programs are looked up is for each C library to say.
    let cleared = wrapper.assigns && rest.len() < args.len();
    let adds = wrapper.adds.or(cleared.then_some("it runs without the usual environment"));
    let args = rest.get(wrapper.operands..).unwrap_or_default();
    let mut given = Vec::new();
    let mut rest = args.iter();
    let mut inner: Vec<CommandWord> = Vec::new();
    while let Some(word) = rest.next() {
        match word.literal().and_then(|text| text.split_once('=')) {
            Some((name, value)) if wrapper.assigns => {
                given.push((name.to_owned(), value.to_owned()));
            }
            _ => {
                inner.push(word.clone());
                inner.extend(rest.by_ref().cloned());
            }
        }
    }
    if let [flag, text] = inner.as_slice()
        && flag.literal() == Some("-c")
    {
        return Some(UnwrapResult::Script { text: text.clone(), dialect: ShellDialect::Other });
    }
    if inner.is_empty() {
        return Some(UnwrapResult::Unclear(format!("what `{name}` runs is not said")));
    }
    Some(UnwrapResult::Command { inner, given, adds })
}

/// Skips options up to the first word that is none.
fn skip_options<'a>(
    args: &'a [CommandWord],
    flags: &str,
    values: &str,
) -> Result<&'a [CommandWord], String> {
    let mut rest = args;
    while let [word, after @ ..] = rest {
        let Some(text) = word.literal() else {
            return Err(format!("`{}` may turn out to be an option", word.text));
        };
        if text == "--" {
            return Ok(after);
        }
        if !text.starts_with('-') {
            break;
        }
        rest = match option(text, flags, values) {
            Some(0) => after,
            Some(_) => after.get(1..).ok_or("an option lacks its value")?,
            None => return Err(format!("the option `{text}` is not known")),
        };
    }
    Ok(rest)
}

/// Returns how many words an option takes beside its own.
fn option(text: &str, flags: &str, values: &str) -> Option<usize> {
    let listed = |list: &str, name: &str| list.split(' ').any(|it| it == name);
    let (name, attached) = text.split_once('=').map_or((text, false), |(name, _)| (name, true));
    if listed(values, name) && (attached == name.starts_with("--") || !attached) {
        return Some(usize::from(!attached));
    }
    if listed(flags, name) {
        return Some(0);
    }
    let bundle = text.strip_prefix('-')?;
    if bundle.bytes().all(|b| b.is_ascii_digit()) && listed(flags, "-#") {
        return Some(0);
    }
    if bundle.starts_with('-') {
        return None;
    }
    let mut chars = bundle.chars();
    while let Some(c) = chars.next() {
        let name = format!("-{c}");
        if listed(values, &name) {
            return Some(usize::from(chars.as_str().is_empty()));
        }
        if !listed(flags, &name) {
            return None;
        }
    }
    Some(0)
}

/// `bash [options] -c text`: the options of the shells differ, so only the common ones are plain.
fn shell(args: &[CommandWord]) -> Option<UnwrapResult> {
    let mut plain = true;
    let mut posix = false;
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        let text = word.literal()?;
        if let Some(long) = text.strip_prefix("--") {
            plain &= matches!(long, "norc" | "noprofile" | "posix");
            posix |= long == "posix";
            continue;
        }
        let letters = text.strip_prefix(['-', '+'])?;
        plain &= letters.chars().all(|c| "ceu".contains(c));
        if letters.contains(['o', 'O']) {
            rest.next();
        }
        if letters.contains('c') {
            // After `-c` more options may come, before the text.
            let is_option =
                |word: &&CommandWord| word.literal().is_some_and(|it| it.starts_with(['-', '+']));
            let more = rest.clone().take_while(is_option).count();
            let text = rest.nth(more)?;
            let dialect = match plain && more == 0 && rest.next().is_none() {
                true if posix => ShellDialect::Portable,
                true => ShellDialect::Bash,
                false => ShellDialect::Other,
            };
            return Some(UnwrapResult::Script { text: text.clone(), dialect });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_shows_what_it_wraps() {
        check("sudo", "-u root -E env X=1 touch pwned", "env X=1 touch pwned");
        check("timeout", "-k 1 --signal=9 5 touch pwned", "touch pwned");
        check("timeout", "-k1 5s ls -la", "ls -la");
        check("env", "-i -u PATH A=b C=d rm x", "rm x");
        check("nice", "-10 ls", "ls");
        check("nice", "-n 10 ls", "ls");
        check("ionice", "-c3 touch pwned", "touch pwned");
        check("stdbuf", "-oL touch pwned", "touch pwned");
        check("taskset", "1 touch pwned", "touch pwned");
        check("flock", "-n /tmp/l touch pwned", "touch pwned");
        check("xargs", "-0 -n1 rm -f", "rm -f …");
        check("xargs", "", "echo …");
    }

    #[test]
    fn what_the_grammar_does_not_know_is_unclear() {
        for (name, args) in
            [("env", "-S x"), ("env", ""), ("timeout", "--k=1 5 ls"), ("sudo", "--weird ls")]
        {
            let unwrapped = unwrap(name, &words(args));
            assert!(matches!(unwrapped, Some(UnwrapResult::Unclear(_))), "{name} {args}");
        }
    }

    #[test]
    fn a_shell_with_a_text_is_a_script() {
        for (args, expected) in [
            ("-c ls", true),
            ("-ec ls", true),
            ("--norc -c ls", true),
            ("-lc ls", false),
            ("-O extglob -c ls", false),
            ("-xc ls", false),
            ("-o pipefail -c ls", false),
        ] {
            let Some(UnwrapResult::Script { text, dialect }) = unwrap("bash", &words(args)) else {
                panic!("{args}")
            };
            let plain = dialect == ShellDialect::Bash;
            assert_eq!((text.literal(), plain), (Some("ls"), expected), "{args}");
        }
        assert!(unwrap("bash", &words("script.sh")).is_none());
        assert!(unwrap("bash", &words("")).is_none());
    }

    #[track_caller]
    fn check(name: &str, args: &str, expected: &str) {
        let Some(UnwrapResult::Command { inner, .. }) = unwrap(name, &words(args)) else {
            panic!("{name}")
        };
        let shown: Vec<_> = inner.iter().map(CommandWord::effective_text).collect();
        assert_eq!(shown.join(" "), expected, "{name} {args}");
    }

    fn words(text: &str) -> Vec<CommandWord> {
        text.split_whitespace().map(CommandWord::from_literal).collect()
    }
}
