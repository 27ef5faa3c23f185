//! What the sub-commands of programs do, by the files in `programs/`.
//!
//! A class allows nothing. It says how risky a command is that is not proven, what people are told about
//! it, and whether "don't ask again" is offered.

use crate::Risk;

include!(concat!(env!("OUT_DIR"), "/program_verbs.rs"));

/// The verbs of one program.
struct ProgramVerbs {
    programs: &'static [&'static str],
    /// Options that may stand before the verb; those with `=` take a value.
    globals: &'static str,
    /// Sorted; `*` stands for every other call, and the empty verb for a call without one.
    verbs: &'static [(&'static str, VerbClass)],
}

/// What a sub-command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerbClass {
    /// Changes this clone, this folder or this machine in a way that is easily put back.
    Local,
    /// Builds, tests, lints or formats the project.
    Build,
    /// Runs the project's script that the next word names.
    Script,
    /// Installs what a lock file pins.
    LockedInstall,
    /// Reads from a service with the person's credentials.
    RemoteRead,
    /// Fetches code that was not pinned, and may run it.
    Install,
    /// Starts or stops something that goes on after the call.
    Service,
    /// Throws work away, or rewrites history.
    Discards,
    /// Sends something to others, or changes what others see.
    Outward,
    /// Runs code that it is given or fetches.
    RunsCode,
    /// Prints keys or passwords.
    SecretRead,
}

impl VerbClass {
    /// Returns how risky it is.
    pub(crate) fn risk(self) -> Risk {
        match self {
            Self::Local | Self::Build | Self::Script | Self::LockedInstall | Self::RemoteRead => {
                Risk::Medium
            }
            Self::Install
            | Self::Service
            | Self::Discards
            | Self::Outward
            | Self::RunsCode
            | Self::SecretRead => Risk::High,
        }
    }

    /// Returns what it does, for the person who decides.
    fn explain(self, command: &str) -> String {
        match self {
            Self::Local => format!("`{command}` changes local state"),
            Self::Build => "runs the project's own build or tests".to_owned(),
            Self::Script => format!("`{command}` runs a script of the project"),
            Self::LockedInstall => format!("`{command}` installs what a lock file pins"),
            Self::RemoteRead => format!("`{command}` reads from a service with your credentials"),
            Self::Install => format!("`{command}` fetches code and may run it"),
            Self::Service => format!("`{command}` starts or stops something that goes on"),
            Self::Discards => format!("`{command}` throws work away or rewrites history"),
            Self::Outward => {
                format!("`{command}` sends something to others, or changes what they see")
            }
            Self::RunsCode => format!("`{command}` runs code that it is given"),
            Self::SecretRead => format!("`{command}` prints keys or passwords"),
        }
    }
}

/// A command whose verb is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownVerb {
    pub(crate) class: VerbClass,
    /// How many words say what it does: the program, options before the verb, the verb, and a script's name.
    pub(crate) words: usize,
    /// Whether the same words can be the start of something worse: `git stash` and `git stash drop`.
    pub(crate) may_get_worse: bool,
    /// Those words.
    command: String,
}

impl KnownVerb {
    /// Returns how risky the command is, and why.
    pub(crate) fn factor(&self) -> (Risk, String) {
        (self.class.risk(), self.class.explain(&self.command))
    }
}

/// Words for work that reaches beyond the project, or cannot be taken back.
const OUTWARD_NAMES: &[&str] = &[
    "apply",
    "database",
    "db",
    "delete",
    "deploy",
    "destroy",
    "drop",
    "install",
    "migrate",
    "migration",
    "migrations",
    "prod",
    "production",
    "provision",
    "publish",
    "purge",
    "push",
    "release",
    "reset",
    "rollback",
    "seed",
    "ship",
    "uninstall",
    "upload",
    "wipe",
];

/// Returns whether the name of a script or target says that it does more than build or test.
pub(crate) fn is_outward_name(name: &str) -> bool {
    let mut word = String::new();
    let mut is_outward = false;
    let mut last = ' ';
    // `db:reset`, `drop-database` and `publishPlugins` are two words each.
    for c in name.chars().chain([' ']) {
        if !c.is_alphanumeric() || (c.is_uppercase() && last.is_lowercase()) {
            is_outward |= OUTWARD_NAMES.contains(&word.as_str());
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        last = c;
    }
    is_outward
}

/// Parts of options that bring code or settings from elsewhere.
const STEERING: &[&str] = &[
    "config",
    "directory",
    "env-file",
    "eval",
    "exec",
    "file",
    "import",
    "index-url",
    "init-hook",
    "init-script",
    "loader",
    "manifest-path",
    "overlay",
    "plugin",
    "prefix",
    "preset",
    "raw-command",
    "registry",
    "require",
    "rulesdir",
    "run_under",
    "runner",
    "setup",
    "shell",
    "toolchain",
    "vettool",
    "wrapper",
];

/// Returns what is known of a command, by its words.
pub(crate) fn find_verb(argv: &[&str]) -> Option<KnownVerb> {
    let (program, words) = argv.split_first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let known = VERBS.iter().find(|it| it.programs.contains(&name))?;
    let before = count_globals(words, known.globals);
    let rest = words.get(before..).unwrap_or_default();
    let (verb, class) = known.longest(rest)?;
    let verb_words = verb.split(' ').filter(|word| !matches!(*word, "" | "*")).count();
    let behind = rest.get(verb_words..).unwrap_or_default();
    let mut counted = 1 + before + verb_words;
    let mut may_get_worse = known.has_worse(verb);
    let class = match class {
        VerbClass::Script => {
            // Without its name, nothing tells this script from any other.
            let is_named = behind.first().is_some_and(|word| !word.starts_with('-'));
            counted += usize::from(is_named);
            may_get_worse = !is_named;
            script_class(behind, verb_words == 0)
        }
        VerbClass::Build | VerbClass::Local if behind.iter().any(|word| brings_code(word)) => {
            VerbClass::RunsCode
        }
        class => class,
    };
    let command = argv.get(..counted).unwrap_or(argv).join(" ");
    Some(KnownVerb { class, words: counted, may_get_worse, command })
}

/// Returns what running scripts of the project is, given their names and options.
fn script_class(args: &[&str], takes_several: bool) -> VerbClass {
    let is_steered =
        |word: &&str| brings_code(word) || *word == "-f" || (takes_several && word.contains('='));
    if args.iter().any(is_steered) {
        return VerbClass::RunsCode;
    }
    let most = if takes_several { usize::MAX } else { 1 };
    let mut names = args.iter().filter(|word| !word.starts_with('-')).take(most);
    if names.any(|name| is_outward_name(name)) { VerbClass::Outward } else { VerbClass::Script }
}

impl ProgramVerbs {
    /// Returns whether a longer verb that starts like this one is HIGH.
    fn has_worse(&self, verb: &str) -> bool {
        self.verbs.iter().any(|(longer, class)| {
            let is_longer = match verb {
                "" | "*" => true,
                verb => longer.strip_prefix(verb).is_some_and(|rest| rest.starts_with(' ')),
            };
            is_longer && class.risk() == Risk::High
        })
    }

    /// Returns the verb of most words that the arguments start with.
    fn longest(&self, args: &[&str]) -> Option<(&'static str, VerbClass)> {
        let class = |verb: &str| {
            let at = self.verbs.binary_search_by(|(it, _)| it.cmp(&verb)).ok()?;
            self.verbs.get(at).copied()
        };
        let spelled = |count: usize| {
            let words = args.get(..count)?;
            class(&words.join(" "))
        };
        (1..=5).rev().find_map(spelled).or_else(|| {
            let none = args.iter().all(|word| word.starts_with('-'));
            none.then(|| class("")).flatten().or_else(|| class("*"))
        })
    }
}

/// Returns how many words options take that stand before the verb.
pub(crate) fn count_globals(args: &[&str], globals: &str) -> usize {
    let mut count = 0;
    while let Some(word) = args.get(count).filter(|word| word.starts_with('-')) {
        let name = word.split('=').next().unwrap_or(word);
        let listed = globals.split_whitespace().find(|it| it.split('=').next() == Some(name));
        match listed {
            Some(option) if option.contains('=') && !word.contains('=') => count += 2,
            Some(_) => count += 1,
            None => break,
        }
    }
    count
}

/// Returns whether a word may bring code or settings from elsewhere.
fn brings_code(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    let steers = word.starts_with('-') && STEERING.iter().any(|part| name.contains(part));
    steers || word.contains("://") || word.split(['/', '=']).any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_verb_counts_and_options_before_it_do_not() {
        check("git push --force", Some((VerbClass::Outward, 2)));
        check("git -C sub push", Some((VerbClass::Outward, 4)));
        check("git stash drop", Some((VerbClass::Discards, 3)));
        check("git stash", Some((VerbClass::Local, 2)));
        check("/usr/bin/git add .", Some((VerbClass::Local, 2)));
        check("frobnicate x", None);
    }

    #[test]
    fn a_script_is_known_by_its_name() {
        check("npm run lint", Some((VerbClass::Script, 3)));
        check("npm run deploy:staging", Some((VerbClass::Outward, 3)));
        check("mise run test", Some((VerbClass::Script, 3)));
        check("make check", Some((VerbClass::Script, 2)));
        check("make test release", Some((VerbClass::Outward, 2)));
        check("gradle publishPlugins", Some((VerbClass::Outward, 2)));
        check("make CC=./x all", Some((VerbClass::RunsCode, 2)));
        let unnamed = find_verb(&["make", "-j", "8"]).unwrap();
        assert!(unnamed.may_get_worse, "`make:*` would allow every target");
    }

    #[test]
    fn what_brings_code_from_elsewhere_is_code() {
        check("eslint --config /tmp/x.js .", Some((VerbClass::RunsCode, 1)));
        check("make -f ../x", Some((VerbClass::RunsCode, 1)));
        check("eslint src", Some((VerbClass::Build, 1)));
    }

    #[track_caller]
    fn check(command: &str, expected: Option<(VerbClass, usize)>) {
        let argv: Vec<_> = command.split(' ').collect();
        let found = find_verb(&argv).map(|it| (it.class, it.words));
        assert_eq!(found, expected, "{command}");
    }
}
