//! A repository's config: which of its settings are known to be harmless.
//!
//! gix-config reads the text, and beside it a reading line by line that accepts only the shape in which
//! git itself writes. Where the two do not find the same settings, git might find others still: a hazard.
//! Without the feature `git` there is no second reading, so every config is a hazard.

#[cfg(feature = "git")]
use gix_config::parse::{EventRef, Events};

/// Keys that are plain data, by section, and whether the section's headers may name a subsection.
const HARMLESS: &[(&str, SubsectionPolicy, &[&str])] = &[
    (
        "core",
        SubsectionPolicy::No,
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "quotepath",
            "untrackedcache",
            "longpaths",
            "abbrev",
            "bigfilethreshold",
            "checkstat",
            "commentchar",
            "compression",
            "fscache",
            "hidedotfiles",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "sharedrepository",
            "trustctime",
            "whitespace",
        ],
    ),
    (
        "remote",
        SubsectionPolicy::Yes,
        &["url", "fetch", "pushurl", "push", "mirror", "prune", "tagopt", "gh-resolved"],
    ),
    (
        "branch",
        SubsectionPolicy::Yes,
        &[
            "remote",
            "merge",
            "rebase",
            "pushremote",
            "description",
            "vscode-merge-base",
            "gh-merge-base",
            "github-pr-owner-number",
            "autosetupmerge",
            "sort",
        ],
    ),
    ("user", SubsectionPolicy::No, &["name", "email", "signingkey"]),
    ("commit", SubsectionPolicy::No, &["gpgsign", "verbose"]),
    // The drivers of a kind of file have keys of their own, and none of them is here.
    (
        "diff",
        SubsectionPolicy::No,
        &["algorithm", "renames", "colormoved", "context", "mnemonicprefix"],
    ),
    ("status", SubsectionPolicy::No, &["showuntrackedfiles", "short", "branch"]),
    ("log", SubsectionPolicy::No, &["date", "decorate"]),
    ("tag", SubsectionPolicy::No, &["sort", "gpgsign"]),
    ("maintenance", SubsectionPolicy::No, &["auto", "strategy"]),
    ("submodule", SubsectionPolicy::Yes, &["url", "active", "branch"]),
    ("pull", SubsectionPolicy::No, &["rebase", "ff"]),
    ("push", SubsectionPolicy::No, &["default", "autosetupremote", "followtags"]),
    ("fetch", SubsectionPolicy::No, &["prune", "prunetags"]),
    ("init", SubsectionPolicy::No, &["defaultbranch"]),
    ("merge", SubsectionPolicy::No, &["conflictstyle", "ff"]),
    ("rebase", SubsectionPolicy::No, &["autostash", "autosquash"]),
    ("rerere", SubsectionPolicy::No, &["enabled", "autoupdate"]),
    ("color", SubsectionPolicy::No, &["ui"]),
    ("extensions", SubsectionPolicy::No, &["objectformat", "worktreeconfig", "refstorage"]),
    ("gc", SubsectionPolicy::No, &["auto"]),
    ("lfs", SubsectionPolicy::Yes, &["repositoryformatversion", "access", "locksverify"]),
];

/// Whether the headers of a section may name a subsection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SubsectionPolicy {
    Yes,
    No,
}

/// Why a build without the feature `git` knows no harmless config.
const UNREAD: &str =
    "this build does not read the repository's config; build it with the feature `git`";

/// What was found in a config.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ConfigFindings {
    /// Why it is not harmless.
    pub(super) hazards: Vec<String>,
    /// Where it says the files are (`core.worktree`): harmless only if that is where they are.
    pub(super) worktree: Option<String>,
    /// Whether objects have names of 32 bytes, not 20.
    pub(super) wide_names: bool,
}

/// One setting: its names in lower case, but for the subsection.
#[derive(Debug, PartialEq, Eq)]
struct GitSetting {
    section: String,
    subsection: Option<String>,
    key: String,
    value: String,
}

/// Looks at the text of a config.
pub(super) fn inspect_config(bytes: &[u8]) -> ConfigFindings {
    let mut findings = ConfigFindings::default();
    let plain = std::str::from_utf8(bytes).ok().and_then(read_lines);
    match (read_events(bytes), plain) {
        (Some(settings), Some(plain)) if settings == plain => {
            for setting in settings {
                findings.add(setting);
            }
        }
        _ if !cfg!(feature = "git") => findings.hazards.push(UNREAD.to_owned()),
        _ => findings.hazards.push("the repository's config is not written plainly".to_owned()),
    }
    findings
}

impl ConfigFindings {
    fn add(&mut self, setting: GitSetting) {
        match (setting.section.as_str(), setting.key.as_str(), setting.value.as_str()) {
            ("core", "worktree", _) if setting.subsection.is_none() => {
                self.worktree = Some(setting.value);
            }
            // git takes a repository that it does not understand for none.
            ("core", "repositoryformatversion", "0" | "1") => {}
            ("extensions", "objectformat", "sha1") => self.wide_names = false,
            ("extensions", "objectformat", "sha256") => self.wide_names = true,
            ("core", "repositoryformatversion", _) | ("extensions", "objectformat", _) => {
                self.hazards.push(setting.as_hazard());
            }
            _ if setting.is_harmless() => {}
            _ => self.hazards.push(setting.as_hazard()),
        }
    }
}

impl GitSetting {
    fn is_harmless(&self) -> bool {
        let known = HARMLESS.iter().find(|(section, ..)| *section == self.section);
        known.is_some_and(|(_, subsections, keys)| {
            let fits = self.subsection.is_none() || *subsections == SubsectionPolicy::Yes;
            fits && keys.contains(&self.key.as_str())
        })
    }

    fn as_hazard(&self) -> String {
        let Self { section, key, .. } = self;
        match &self.subsection {
            Some(name) => format!("the repository's config sets `{section}.{name}.{key}`"),
            None => format!("the repository's config sets `{section}.{key}`"),
        }
    }
}

/// Returns the settings as gix-config finds them; none if it cannot read the text.
#[cfg(not(feature = "git"))]
fn read_events(_: &[u8]) -> Option<Vec<GitSetting>> {
    None
}

/// Returns the settings as gix-config finds them; none if it cannot read the text.
#[cfg(feature = "git")]
fn read_events(bytes: &[u8]) -> Option<Vec<GitSetting>> {
    let events = Events::from_bytes(bytes, None).ok()?;
    let mut settings = Vec::new();
    let mut header: Option<(String, Option<String>)> = None;
    for event in events.iter() {
        match event {
            EventRef::SectionHeader { name, subsection_name, .. } => {
                let subsection = subsection_name.map(ToString::to_string);
                header = Some((name.to_string().to_lowercase(), subsection));
            }
            EventRef::SectionValueName(key) => {
                let (section, subsection) = header.clone()?;
                let key = key.to_string().to_lowercase();
                settings.push(GitSetting { section, subsection, key, value: String::new() });
            }
            EventRef::Value(value) => settings.last_mut()?.value = value.to_string(),
            // A value that goes on in the next line could hide a key there.
            EventRef::ValueNotDone(_) | EventRef::ValueDone(_) => return None,
            _ => {}
        }
    }
    Some(settings)
}

/// Returns the settings of a text in the shape in which git writes: one header or setting per line.
fn read_lines(text: &str) -> Option<Vec<GitSetting>> {
    let is_blank = |c: char| c == ' ' || c == '\t';
    let mut settings = Vec::new();
    let mut header: Option<(String, Option<String>)> = None;
    for line in text.lines() {
        let line = line.trim_matches(is_blank);
        if line.chars().any(|c| c.is_control() && c != '\t') || line.ends_with('\\') {
            return None;
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(inner) = line.strip_prefix('[') {
            header = Some(read_header(inner.strip_suffix(']')?)?);
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let (key, value) = (key.trim_end_matches(is_blank), value.trim_matches(is_blank));
        let named = key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(is_named);
        let value = (named && !has_comment(value)).then(|| value.to_owned())?;
        let (section, subsection) = header.clone()?;
        settings.push(GitSetting { section, subsection, key: key.to_lowercase(), value });
    }
    Some(settings)
}

/// Reads what stands between the brackets of a header.
fn read_header(inner: &str) -> Option<(String, Option<String>)> {
    let (name, subsection) = match inner.split_once(' ') {
        Some((name, quoted)) => {
            let subsection = quoted.strip_prefix('"')?.strip_suffix('"')?;
            (name, (!subsection.contains(['"', '\\'])).then(|| Some(subsection.to_owned()))?)
        }
        None => (inner, None),
    };
    let named = !name.is_empty() && name.chars().all(is_named);
    named.then(|| (name.to_lowercase(), subsection))
}

/// Whether a comment may stand behind a value: that is not how git writes.
fn has_comment(value: &str) -> bool {
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let closed = quoted.is_some_and(|inner| !inner.contains(['"', '\\']));
    value.contains(['#', ';']) && !closed
}

fn is_named(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_config_has_no_hazards() {
        let config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n# a note\n\
                      [remote \"origin\"]\n\turl = git@example.org:a/b\n\tfetch = +refs/*:refs/*\n\
                      [branch \"feat/x.y\"]\n\tremote = origin\n[user]\n\tname = \"A B\"\n\
                      [branch \"x\"]\n\tgithub-pr-owner-number = \"o#r#1\"\n";
        check(config, &[]);
        check(&config.replace('\n', "\r\n"), &[]);
        check("", &[]);
        check("[core]\n\tbare\n", &[]);
    }

    #[test]
    fn whatever_could_start_a_program_is_a_hazard() {
        for config in [
            "[core]\n\tfsmonitor = ./x\n",
            "[CORE]\nFsMonitor=./x\n",
            "[core]\n\tpager = ./x\n",
            "[core]\n\thooksPath = x\n",
            "[core]\n\tattributesFile = x\n",
            "[core]\n\tworktree = ../x\n\tsshCommand = ./x\n",
            "[diff \"evil\"]\n\ttextconv = ./x\n",
            "[diff \"evil\"]\n\tcommand = ./x\n",
            "[diff]\n\texternal = ./x\n",
            "[merge \"x\"]\n\tdriver = ./x\n",
            "[filter \"x\"]\n\tclean = ./x\n",
            "[include]\n\tpath = ../evil\n",
            "[includeIf \"gitdir:/\"]\n\tpath = ../evil\n",
            "[alias]\n\tstatus = !./x\n",
            "[remote \"x\"]\n\tuploadpack = ./x\n",
            "[remote \"x\"]\n\tpromisor = true\n",
            "[remote \"x\"]\n\tpartialclonefilter = blob:none\n",
            "[remote \"x\"]\n\tvcs = x\n",
            "[extensions]\n\tpartialclone = x\n",
            "[submodule \"x\"]\n\tupdate = !./x\n",
            "[log]\n\tshowSignature = true\n",
            "[gpg]\n\tprogram = ./x\n",
            "[core \"x\"]\n\tbare = true\n",
            "[core]\n\trepositoryformatversion = 9\n",
            "[extensions]\n\tobjectformat = md5\n",
        ] {
            assert!(!inspect_config(config.as_bytes()).hazards.is_empty(), "{config}");
        }
    }

    #[test]
    fn what_is_not_written_plainly_is_a_hazard() {
        for config in [
            "[core] fsmonitor = ./x\n",
            "[core] bare = true\n",
            "[diff \"evil\"] textconv = ./x #]\n",
            "[remote \"origin\"] promisor = true ;]\n",
            "[core]\n\tquotepath = a\\\n\tfsmonitor = ./x\n",
            "[core]\n\tquotepath = \\\n  fsmonitor = ./x\n",
            "\u{feff}[core]\n\tbare = true\n",
            "[core.x]\n\tbare = true\n",
            "[branch.main]\n\tremote = x\n",
            "[branch \"a\\\"b\"]\n\tremote = x\n",
            "[branch  \"a\"]\n\tremote = x\n",
            "[branch \"a\" ]\n\tremote = x\n",
            "[core]\n\u{b}bare = true\n",
            "[core]\rbare = true\n",
            "[core]\n\tbare = true ; x\n",
            "[core]\n\tname = \"a\nfsmonitor = x\"\n",
            "[core]\n\tbare true\n",
            "[core\n\tbare = true\n",
            "bare = true\n",
            "[]\n",
            "[core]\n\tb\u{e4}re = true\n",
            "[core]\n= x\n",
            "[core]\n\tbare = \0\n",
        ] {
            check(config, &["the repository's config is not written plainly"]);
        }
        assert_eq!(inspect_config(b"[core]\n\tbare = \xff\n").hazards.len(), 1);
    }

    #[test]
    fn what_else_is_asked_of_a_config_is_told() {
        let config = "[core]\n\tworktree = ../../../sub\n[extensions]\n\tobjectformat = sha256\n";
        let found = inspect_config(config.as_bytes());
        let worktree = Some("../../../sub".to_owned());
        assert_eq!(found, ConfigFindings { hazards: vec![], worktree, wide_names: true });
    }

    #[track_caller]
    fn check(config: &str, hazards: &[&str]) {
        assert_eq!(inspect_config(config.as_bytes()).hazards, hazards, "{config:?}");
    }
}
