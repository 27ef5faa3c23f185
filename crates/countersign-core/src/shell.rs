//! What a bash command line would do, read from its text.
//!
//! The reading proves a small positive set (read-only commands, by a table of flags) and finds
//! hard denials (what is never a coding task). Everything else is named as well as it can be and left to
//! a person. Whatever cannot be read is [`Effect::Opaque`]: a failure here never makes a call look
//! harmless. Pure: what must be known of the machine comes through [`Machine`].
//!
//! The way of a text: `text_guard` (may it be parsed at all) → `quoted_document` (texts that are given as
//! here-documents) → `syntax` (brush-parser, which only
//! proposes) → `lower` (the walk over the tree, with `simple_command`, `redirect`, `condition`, `word` and
//! `shell_state`) → `judgement` (one simple command: `builtin`, `wrapper`, `read_only_programs` by their
//! `argument_grammar`, `program_traits` of the rest) with `hard_denial` beside all of it. The walk also
//! writes the `canonical` form: what is executed instead of the text when nobody is asked.

mod argument_grammar;
mod argument_kinds;
mod builtin;
mod canonical;
mod command_judgement;
mod condition;
mod expanded_word;
mod file_tree;
mod hard_denial;
mod judgement;
mod lower;
mod machine_view;
mod portable_text;
mod program_traits;
mod quoted_document;
mod raw_tokens;
mod read_only_programs;
mod redirect;
mod shell_state;
mod simple_command;
mod syntax;
mod text_guard;
mod variable;
mod word;
mod wrapper;

#[cfg(test)]
mod tests;

pub use canonical::{
    CanonicalAssignment, CanonicalCommand, CanonicalCommandLine, CanonicalRedirection,
    CanonicalScript, CanonicalWord, WordPiece,
};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::file_tree::{FileTree, SearchScope, TreeEntry, TreeKind};
use crate::{Effect, EffectTarget};

use lower::LoweredCommand;

/// What the analysis must know of the machine.
///
/// Every answer that cannot be given is `None`, and `None` never makes a command look harmless.
pub trait Machine: Sync {
    /// Returns where a path leads (links resolved, the missing rest attached) and what place that is.
    fn target(&self, cwd: &Path, path: &str) -> Option<EffectTarget>;

    /// Returns what a glob pattern matches now, each match resolved as by [`Machine::target`].
    ///
    /// In the pattern, `\` makes the next character literal.
    fn matches(&self, cwd: &Path, pattern: &str) -> Option<Vec<EffectTarget>> {
        let _ = (cwd, pattern);
        None
    }

    /// Returns the names that the shell puts in the place of a glob pattern now, sorted, each written as
    /// the pattern is; none of them if nothing matches.
    ///
    /// In the pattern, `\` makes the next character literal.
    fn expand_pattern(&self, cwd: &Path, pattern: &str) -> Option<Vec<String>> {
        let _ = (cwd, pattern);
        None
    }

    /// Returns the secrets that a program meets which reads everything below a folder.
    fn secrets_below(&self, folder: &Path) -> Option<Vec<EffectTarget>> {
        let _ = folder;
        None
    }

    /// Returns where the links below a folder lead; no answer if one leads to another folder.
    fn links_below(&self, folder: &Path) -> Option<Vec<EffectTarget>> {
        let _ = folder;
        None
    }

    /// Returns where a path lies: as [`Machine::target`], but a link at its end is not followed.
    fn entry(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        let _ = (cwd, path);
        None
    }

    /// Returns what lies at a resolved path; a link at its end is not followed.
    fn kind(&self, path: &Path) -> Option<TreeKind> {
        let _ = path;
        None
    }

    /// Returns what lies at a resolved path and everything below it, through no link.
    ///
    /// There is no answer for what cannot be read or is too large to be judged.
    fn tree(&self, path: &Path) -> Option<Arc<FileTree>> {
        let _ = path;
        None
    }

    /// Returns where each entry of a tree would come to lie if the tree were put at another resolved
    /// path, in the order of the tree's entries. Links at the destination are followed.
    fn arrivals(&self, from: &Path, to: &Path) -> Option<Vec<EffectTarget>> {
        let _ = (from, to);
        None
    }

    /// Returns the secrets below a folder that `rg` opens, started in `cwd`.
    fn searched_secrets(
        &self,
        cwd: &Path,
        folder: &Path,
        search: &SearchScope,
    ) -> Option<Vec<EffectTarget>> {
        let _ = (cwd, folder, search);
        None
    }

    /// Returns whether a file of one of these names lies in a folder, or above it as far as the
    /// workspace goes.
    fn has_file_above(&self, cwd: &Path, names: &[&str]) -> Option<bool> {
        let _ = (cwd, names);
        None
    }

    /// Returns the file a program name resolves to through `PATH`, links resolved, if nobody but the
    /// system and the user can change it and no untrusted entry of `PATH` comes first.
    fn trusted_program(&self, name: &str) -> Option<PathBuf>;

    /// Returns the same for a program that is started in a folder: one that stands in for another
    /// (`rustup`, `pyenv`) is trusted where no file tells it which.
    fn trusted_program_in(&self, cwd: &Path, name: &str) -> Option<PathBuf> {
        let _ = cwd;
        self.trusted_program(name)
    }

    /// Returns whether a name is no program at all: no folder of `PATH` holds it, and none of them
    /// could come to hold it by what happens in the workspace.
    fn is_missing(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Returns why git's reading commands are not harmless in this folder (configuration or
    /// attributes that run programs): empty when audited and clean.
    fn git_hazards(&self, cwd: &Path) -> Option<Vec<String>>;

    /// Returns the topmost folder of the repository that git uses in this folder; none where there is no
    /// repository.
    fn git_top(&self, cwd: &Path) -> Option<PathBuf> {
        let _ = cwd;
        None
    }

    /// Returns the secrets that this folder's repository tracks, wherever in it they lie.
    fn git_tracked_secrets(&self, cwd: &Path) -> Option<Vec<EffectTarget>> {
        let _ = cwd;
        None
    }

    /// Returns where those folders lead that this folder's repository tracks and that are links now.
    fn git_tracked_links(&self, cwd: &Path) -> Option<Vec<EffectTarget>> {
        let _ = cwd;
        None
    }
}

/// Where and with what a command line would run.
#[derive(Clone, Copy)]
pub struct ShellContext<'a> {
    /// The folder it starts in, resolved.
    pub cwd: &'a Path,
    /// The user's home, for `~` and `$HOME`.
    pub home: Option<&'a Path>,
    /// Variables that the call itself adds to the environment.
    pub env: &'a [(String, String)],
    /// The folders where Countersign keeps its own state: no command may touch them.
    pub own: &'a [PathBuf],
    /// The machine.
    pub machine: &'a dyn Machine,
}

/// What a command line would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandAnalysis {
    /// Its simple commands, wherever they stand (pipelines, loops, substitutions, `sh -c`), in the
    /// order in which they are met.
    pub parts: Vec<CommandPart>,
    /// Everything it would do; never empty.
    pub effects: Vec<Effect>,
    /// What is denied whatever else holds.
    pub denials: Vec<HardDenial>,
    /// What makes the text hard to read for a person: invisible characters, padding and the like.
    pub warnings: Vec<String>,
    /// What is executed in its place when nobody is asked; none where the text cannot be expressed so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<CanonicalCommandLine>,
}

impl CommandAnalysis {
    /// Returns whether every part is proven to only read. Where it reads is in the effects.
    pub fn is_read_only(&self) -> bool {
        self.denials.is_empty()
            && self.parts.iter().all(|part| part.finding == PartFinding::ReadOnly)
            && self.effects.iter().all(Effect::is_read_only)
    }
}

/// One simple command of a command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPart {
    /// As it was written, wrappers and redirections included.
    pub text: String,
    /// The wrappers that were taken off, outermost first: `sudo`, `env`, `find -exec` …
    pub wrappers: Vec<String>,
    /// The words of the command itself, without wrappers.
    pub argv: Vec<CommandWord>,
    /// The file that would run, where it was found and is trusted.
    pub program: Option<PathBuf>,
    /// What it would do.
    pub effects: Vec<Effect>,
    /// What was found out about it.
    pub finding: PartFinding,
}

/// A word of a command, after the shell's expansions as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandWord {
    /// As it was written.
    pub text: String,
    /// What the program gets.
    pub value: WordValue,
    /// Whether a variable or a substitution had a hand in it.
    pub expanded: bool,
}

impl CommandWord {
    /// Returns the text the program gets, if it is known.
    pub fn literal(&self) -> Option<&str> {
        match &self.value {
            WordValue::Literal(text) => Some(text),
            WordValue::Glob(_) | WordValue::Text | WordValue::Words => None,
        }
    }

    /// Returns the word as rules compare it: what the program gets, or else what was written.
    pub fn effective_text(&self) -> &str {
        self.literal().unwrap_or(&self.text)
    }

    fn with_literal(self, text: &str) -> Self {
        Self { value: WordValue::Literal(text.to_owned()), ..self }
    }

    fn from_literal(text: &str) -> Self {
        let value = WordValue::Literal(text.to_owned());
        Self { text: text.to_owned(), value, expanded: false }
    }

    fn unknown_many(text: &str) -> Self {
        Self { text: text.to_owned(), value: WordValue::Words, expanded: true }
    }
}

/// What is known of a word before it is expanded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
pub enum WordValue {
    /// Exactly this.
    Literal(String),
    /// Every path that matches, or the pattern itself if none does.
    Glob(String),
    /// One word of some text.
    Text,
    /// Any number of words.
    Words,
}

/// What was found out about a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PartFinding {
    /// Proven to only read what its effects list.
    ReadOnly,
    /// Proven to change only what its effects list.
    Changes,
    /// Not proven.
    Unproven {
        /// Why not, for the person who decides.
        why: String,
    },
}

/// Something that is denied whatever else holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardDenial {
    /// Why, for the person who reads the refusal.
    pub reason: String,
}

/// Reads a command line.
pub fn analyse(command: &str, context: &ShellContext<'_>) -> CommandAnalysis {
    let warnings = text_guard::find_hazards(command);
    let mut denials = text_guard::find_denials(command);
    let LoweredCommand { parts, mut effects, script } = match text_guard::admit(command) {
        Ok(size) => lower::lower_command(command, size, context, &mut denials),
        Err(why) => {
            // Floors are looked for even in a text that cannot be read.
            denials.extend(raw_tokens::find_denials(command, context));
            LoweredCommand::opaque(why)
        }
    };
    let canonical = script.and_then(|script| CanonicalCommandLine::new(command, script));
    // What cannot be executed as it was judged was not judged.
    effects.extend(canonical.as_ref().err().map(|why| Effect::Opaque { why: why.clone() }));
    let unclear = warnings.iter().filter(|warning| warning.hides).map(|warning| &warning.text);
    effects.extend(unclear.map(|why| Effect::Opaque { why: why.clone() }));
    effects.extend(variable::env_effects(context.env));
    let mut once = Vec::new();
    for effect in effects {
        if !once.contains(&effect) {
            once.push(effect);
        }
    }
    denials.dedup();
    CommandAnalysis {
        parts,
        effects: known_or_opaque(once, context),
        denials,
        warnings: warnings.into_iter().map(|warning| warning.text).collect(),
        canonical: canonical.ok(),
    }
}

/// A command without effects (`pwd`, `true`) still looks at the folder it runs in.
fn known_or_opaque(effects: Vec<Effect>, context: &ShellContext<'_>) -> Vec<Effect> {
    if !effects.is_empty() {
        return effects;
    }
    let here = context.machine.target(context.cwd, ".").map(Effect::Read);
    vec![here.unwrap_or_else(|| Effect::Opaque { why: "where it runs is unknown".to_owned() })]
}
