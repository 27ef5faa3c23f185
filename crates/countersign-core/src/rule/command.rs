//! Patterns of commands: `npm run test:*`, `git * main`, `ls*`.

use crate::shell::{CommandPart, CommandWord, PartFinding, WordValue};

/// Wrappers that add nothing to what they run: an allowing rule sees through them.
const TRANSPARENT: &[&str] =
    &["timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "noglob", "env"];

/// Programs that run code from their arguments: a rule with a wildcard does not mean that.
const INLINE: &[(&str, &[&str])] = &[
    ("python", &["-c", "-m", "-"]),
    ("python3", &["-c", "-m", "-"]),
    ("node", &["-e", "--eval", "-p", "--print", "-r", "--require", "--import", "-"]),
    ("bun", &["-e", "--eval", "x"]),
    ("deno", &["eval", "run"]),
    ("ruby", &["-e", "-r"]),
    ("perl", &["-e", "-E", "-M", "-i"]),
    ("php", &["-r"]),
    ("lua", &["-e", "-l"]),
    ("awk", &[]),
    ("gawk", &[]),
    ("sed", &[]),
    ("find", &["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("git", &["-c", "-C", "--git-dir", "--work-tree", "--exec-path", "--config-env"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("docker", &["exec", "run"]),
    ("podman", &["exec", "run"]),
    ("kubectl", &["exec", "run"]),
    ("cargo", &["--config"]),
    ("make", &["--eval", "-E"]),
    ("tar", &["--to-command", "--checkpoint-action", "-I", "--use-compress-program"]),
];

/// Programs that run whatever follows: only a rule without wildcards covers them.
const RUNNERS: &[&str] = &[
    "bash",
    "sh",
    "dash",
    "zsh",
    "fish",
    "ksh",
    "eval",
    "exec",
    "source",
    ".",
    "xargs",
    "parallel",
    "watch",
    "setsid",
    "flock",
    "script",
    "sudo",
    "doas",
    "su",
    "ssh",
    "npx",
    "bunx",
    "uvx",
    "pipx",
    "direnv",
    "devbox",
    "nix",
    "nix-shell",
    "entr",
    "busybox",
    "strace",
    "gdb",
    "trap",
];

/// A command as rules look for it: text in which `*` stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPattern {
    /// The text between the stars.
    pieces: Vec<String>,
    /// Whether the last piece may be followed by more words: ` *` and `:*` at the end.
    open: bool,
}

impl CommandPattern {
    /// Reads the inside of `Bash(…)`.
    pub(crate) fn parse(text: &str) -> Self {
        let text = collapse_blanks(text);
        let prefix = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
        let (body, open) = prefix.map_or((text.as_str(), false), |body| (body, true));
        Self { pieces: body.split('*').map(str::to_owned).collect(), open }
    }

    /// Returns whether it has no wildcard at all.
    pub fn is_exact(&self) -> bool {
        !self.open && self.pieces.len() == 1
    }

    /// Returns the text before the first wildcard.
    pub fn head(&self) -> &str {
        self.pieces.first().map_or("", String::as_str)
    }

    /// Returns whether a wildcard follows a word without a border: `ls*`.
    pub(crate) fn is_loose(&self) -> bool {
        !self.open && self.pieces.len() > 1 && self.pieces.last().is_some_and(String::is_empty)
    }

    /// Returns whether a command looks like this, whatever wraps it and however it is written.
    ///
    /// For rules that restrict: all spellings of the part are tried.
    pub fn restricts(&self, part: &CommandPart) -> bool {
        self.is_among(&spellings(part))
    }

    /// Returns whether one of a part's [`spellings`] looks like this.
    pub(crate) fn is_among(&self, spellings: &[String]) -> bool {
        spellings.iter().any(|text| self.matches(text))
    }

    /// Returns whether an allowing rule covers a command: its words as the program gets them.
    pub fn permits(&self, part: &CommandPart) -> bool {
        LiteralCommand::from_part(part).is_some_and(|known| self.covers(&known))
    }

    /// Returns whether an allowing rule covers a command whose words are known.
    pub(crate) fn covers(&self, known: &LiteralCommand) -> bool {
        let matches = self.matches(&known.words)
            || (self.is_exact() && known.written.as_ref().is_some_and(|it| self.matches(it)));
        matches && (self.is_exact() || !known.runs_what_it_is_given || self.means_runners())
    }

    /// Returns whether the pattern may stand for a token sequence anywhere in a text that was not
    /// understood; `runs` are its [`runs_of`] tokens.
    pub(crate) fn occurs_in(&self, runs: &[String]) -> bool {
        // What follows in the text is anything: a pattern that is exact counts as a start.
        runs.iter().any(|run| self.found_in(run, true))
    }

    /// Interpreters and runners are meant when the pattern spells out more than the program.
    fn means_runners(&self) -> bool {
        let head = self.head();
        let inline = INLINE.iter().any(|(program, flags)| {
            let words: Vec<_> = head.split(' ').collect();
            words.first() == Some(program)
                && words.len() > 2
                && words.get(1).is_some_and(|flag| flags.contains(flag))
        });
        let runner = head.split(' ').next().is_some_and(|first| RUNNERS.contains(&first))
            && head.split(' ').filter(|word| !word.is_empty()).count() > 2;
        inline || runner
    }

    fn matches(&self, text: &str) -> bool {
        self.found_in(text, self.open)
    }

    fn found_in(&self, text: &str, open: bool) -> bool {
        let Some((first, rest)) = self.pieces.split_first() else { return false };
        let Some(mut text) = text.strip_prefix(first.as_str()) else { return false };
        let Some((last, between)) = rest.split_last() else { return ends(text, open) };
        for piece in between {
            // The earliest place leaves the most for what follows: no need to come back.
            let Some(at) = text.find(piece.as_str()) else { return false };
            text = text.get(at + piece.len()..).unwrap_or_default();
        }
        if !open {
            return text.ends_with(last.as_str());
        }
        let mut places = text.match_indices(last.as_str());
        places.any(|(at, found)| ends(text.get(at + found.len()..).unwrap_or_default(), open))
    }
}

fn ends(rest: &str, open: bool) -> bool {
    rest.is_empty() || (open && rest.starts_with(' '))
}

/// Returns a part in all ways in which a rule that restricts may mean it: made once, for all rules.
pub(crate) fn spellings(part: &CommandPart) -> Vec<String> {
    let words: Vec<_> = part.argv.iter().map(CommandWord::effective_text).collect();
    let wrappers: Vec<_> = part.wrappers.iter().map(String::as_str).collect();
    let mut found = vec![collapse_blanks(&part.text)];
    for from in 0..=wrappers.len() {
        let chain = wrappers.get(from..).unwrap_or_default().iter().chain(&words);
        let chain: Vec<_> = chain.copied().collect();
        for text in [collapse_blanks(&chain.join(" ")), by_name(&chain)] {
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}

/// Returns what starts at each token of a text that was not understood: made once, for all rules.
pub(crate) fn token_runs(tokens: &[&str]) -> Vec<String> {
    let mut runs = Vec::with_capacity(tokens.len());
    for from in 0..tokens.len() {
        let run: Vec<_> = tokens.iter().skip(from).take(RAW_TOKENS).copied().collect();
        if run.first().is_some_and(|first| first.contains('/')) {
            runs.push(by_name(&run));
        }
        runs.push(run.join(" "));
    }
    runs
}

/// A command whose every word is known, as rules that allow look at it: made once, for all rules.
pub(crate) struct LiteralCommand {
    /// Its words, in each of which a blank is no border.
    words: String,
    /// As it was written, where nothing stands around it.
    written: Option<String>,
    runs_what_it_is_given: bool,
}

impl LiteralCommand {
    /// Returns nothing where no such rule covers a part, whatever it says.
    pub(crate) fn from_part(part: &CommandPart) -> Option<Self> {
        let transparent = |wrapper: &String| sees_through(wrapper);
        let known =
            |word: &CommandWord| !word.expanded && matches!(word.value, WordValue::Literal(_));
        if part.argv.is_empty()
            || !part.wrappers.iter().all(transparent)
            || !part.argv.iter().all(known)
        {
            return None;
        }
        let words: Vec<_> = part
            .argv
            .iter()
            .map(|word| word.effective_text().replace([' ', '\t', '\n'], INNER))
            .collect();
        let bare = part.wrappers.is_empty() && !redirects(part);
        Some(Self {
            words: words.join(" "),
            written: bare.then(|| collapse_blanks(&part.text)),
            runs_what_it_is_given: runs_what_it_is_given(part),
        })
    }
}

/// Stands for a blank inside a word, so that a blank of a pattern is always a border of words.
const INNER: &str = "\u{1f}";

/// How far behind a token a raw text is compared.
const RAW_TOKENS: usize = 32;

/// Runs of blanks are one border.
pub(crate) fn collapse_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words with the program by its last component: `/bin/rm x` is `rm x`.
fn by_name(words: &[&str]) -> String {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut() {
        *first = first.rsplit('/').next().unwrap_or(first);
    }
    collapse_blanks(&words.join(" "))
}

/// Whether a rule that allows a command also allows it inside this wrapper.
pub(crate) fn sees_through(wrapper: &str) -> bool {
    TRANSPARENT.contains(&wrapper)
}

/// Whether a part redirects: its files are judged as files, not as part of the command.
pub(crate) fn redirects(part: &CommandPart) -> bool {
    part.text.contains(['<', '>'])
}

/// Whether a part seems to redirect to or from a file: `2>&1` and `2> /dev/null` do not.
///
/// Good enough to offer a rule, which is then tried on the call itself.
pub(crate) fn redirects_to_file(part: &CommandPart) -> bool {
    let mut text: String = part.text.split_whitespace().collect();
    for harmless in ["2>&1", "1>&2", ">&2", "&>/dev/null", "2>/dev/null", ">/dev/null"] {
        text = text.replace(harmless, "");
    }
    text.contains(['<', '>'])
}

/// Whether a command runs code or a program that stands in its own arguments.
pub(crate) fn runs_what_it_is_given(part: &CommandPart) -> bool {
    let Some(head) = part.argv.first() else { return true };
    let name = head.effective_text().rsplit('/').next().unwrap_or_default();
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if part.finding == PartFinding::ReadOnly {
        return false;
    }
    if RUNNERS.contains(&name) {
        return true;
    }
    let inline = INLINE.iter().find(|(program, _)| *program == name || *program == base);
    inline.is_some_and(|(_, flags)| {
        flags.is_empty()
            || part.argv.iter().skip(1).any(|word| is_inline(word.effective_text(), flags))
    })
}

fn is_inline(word: &str, flags: &[&str]) -> bool {
    flags.iter().any(|flag| {
        let long = flag.starts_with("--");
        word == *flag
            || (long && word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
            // A value may be attached to a short option, or the option stand in a bundle.
            || (!long && flag.len() == 2 && flag.starts_with('-') && word.starts_with(flag))
    })
}
