//! A finding: a command that would run unasked and did harm, and to which known class it belongs.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::batch::CommandFamily;
use super::examination::Harm;
use super::variant::{VariantKind, WorkspaceVariant};
use super::verdict::OracleMode;

/// The classes that a test of commit cb46461 found, in the order of its report.
pub(super) const CLASSES: [(&str, &str); 15] = [
    ("A", "`( (cmd) )` is read as arithmetic"),
    ("B", "`$((a)|(b))` is a command substitution"),
    ("C", "another shell's text is read as bash"),
    ("D", "what is known of the shell goes stale"),
    ("E", "programs read more than their entry says"),
    ("F", "git's configuration runs programs"),
    ("G", "trees arrive at protected names, or links lead out"),
    ("1", "a bare repository at the top"),
    ("2", "stale numbers run code"),
    ("3", "`-` is a file"),
    ("4", "a link under a new name"),
    ("5", "a copy through a link at the destination"),
    ("6", "git prints files of its own that are links"),
    ("7", "`git diff` without a repository"),
    ("8", "another file than the one that is named"),
];

/// A command that did harm.
#[derive(Clone, Debug)]
pub(super) struct OracleFinding {
    pub(super) seed: u64,
    pub(super) round: u64,
    pub(super) family: CommandFamily,
    pub(super) variant: WorkspaceVariant,
    pub(super) mode: OracleMode,
    pub(super) command: String,
    /// The text that was run, where it is another one.
    pub(super) canonical: Option<String>,
    pub(super) harm: Harm,
}

impl OracleFinding {
    /// Returns the class that the finding belongs to, as far as its form tells; else `new`.
    pub(super) fn class(&self) -> &'static str {
        match self.variant.kind {
            VariantKind::GitConfig => return "F",
            VariantKind::BareAtTop => return "1",
            VariantKind::GitFiles => return "6",
            VariantKind::BrokenGit => return "7",
            _ => {}
        }
        if let Harm::ChangedFiles(paths) = &self.harm
            && paths == &[PathBuf::from("ws/-")]
        {
            return "3";
        }
        match self.family {
            CommandFamily::Edits => self.class_of_edit(),
            CommandFamily::Parentheses if self.command.contains('$') => "B",
            CommandFamily::Parentheses => "A",
            CommandFamily::PosixShell => "C",
            CommandFamily::StaleState => "D",
            CommandFamily::StaleNumber => "2",
            CommandFamily::GitOptions => "E",
            CommandFamily::ProgramOptions => self.class_of_call(),
            CommandFamily::Script | CommandFamily::Mutation => self.class_of_text(),
        }
    }

    /// Returns what a command looks like that no generator was aiming with.
    fn class_of_text(&self) -> &'static str {
        let has = |parts: &[&str]| parts.iter().any(|it| self.command.contains(it));
        if has(&["sh -c", "--posix", "sh -ec"]) {
            "C"
        } else if has(&["((", "( ("]) {
            if has(&["$(("]) { "B" } else { "A" }
        } else if has(&["git "]) {
            "E"
        } else {
            "new"
        }
    }

    fn class_of_call(&self) -> &'static str {
        let words: Vec<_> = self.command.split_whitespace().collect();
        let first = words.iter().find(|it| PACKED.contains(it) || **it == "xxd");
        if first.is_some() {
            return "8";
        }
        let follows_dash = words.contains(&"-");
        if follows_dash { "3" } else { "E" }
    }

    fn class_of_edit(&self) -> &'static str {
        match &self.harm {
            Harm::ChangedFiles(paths) if paths.iter().any(|it| !it.starts_with("ws")) => {
                if self.command.contains("mv ") { "4" } else { "5" }
            }
            Harm::ChangedFiles(_) | Harm::MadeLinkOut(_) => "G",
            _ => "4",
        }
    }

    /// Returns the finding as one line for people and scripts: enough to see it again.
    pub(super) fn to_line(&self) -> Value {
        let files: Vec<_> =
            self.variant.files.iter().map(super::given_file::GivenFile::to_row).collect();
        json!({
            "class": self.class(),
            "command": self.command,
            "canonical": self.canonical,
            "harm": format!("{:?}", self.harm),
            "family": format!("{:?}", self.family),
            "seed": self.seed,
            "round": self.round,
            "given": {
                "mode": self.mode.wire_name(),
                "tracks_secrets": self.variant.tracks_secrets,
                "files": files,
            },
        })
    }
}

const PACKED: &[&str] =
    &["zcat", "gzcat", "bzcat", "xzcat", "zstdcat", "lzcat", "gzip", "unzip", "xz", "zstd"];
