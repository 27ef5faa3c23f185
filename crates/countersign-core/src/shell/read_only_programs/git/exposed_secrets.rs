//! Which secrets a command of git shows beside what it names: those that are tracked, and those that a
//! pattern of paths may stand for.

use std::path::{Path, PathBuf};

use super::super::super::CommandWord;
use super::super::super::machine_view::MachineView;
use super::super::GIT_FORMS;
use crate::{Effect, EffectTarget, SensitiveKind, WorkspaceSide};

/// Long options with which contents are shown, or searched, whatever else is given.
const PATCHES: &[&str] = &[
    "--patch",
    "--unified",
    "--patch-with-raw",
    "--patch-with-stat",
    "--word-diff",
    "--word-diff-regex",
    "--color-words",
    "--binary",
    "--check",
    "--cc",
];

/// The same, of one letter.
const PATCH_LETTERS: &str = "puUSGLc";

/// Options with which a difference is only counted or named.
const SUMMARIES: &[&str] = &[
    "-s",
    "--no-patch",
    "--stat",
    "--compact-summary",
    "--numstat",
    "--shortstat",
    "--dirstat",
    "--summary",
    "--raw",
    "--name-only",
    "--name-status",
    "--quiet",
];

/// Returns the secrets that a command may show without naming them, or why that is unknown.
pub(super) fn find_exposed_secrets(
    command: &str,
    args: &[CommandWord],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let given = GitArguments::sort(command, args);
    let mut found = given.named_in_revisions(view)?;
    if command == "diff" {
        found.extend(given.compared(view)?);
    }
    if given.show_contents(command) {
        let scope = GitPathScope::from_arguments(&given, view)?;
        found.extend(tracked(command, &scope, view)?);
        for folder in &scope.searched {
            found.extend(secrets_below(folder, view)?);
        }
    }
    if command == "grep" {
        found.extend(tracked_links(view)?);
    }
    Ok(found.into_iter().map(Effect::Read).collect())
}

/// The words of a command, as far as their order tells what they are.
#[derive(Default)]
struct GitArguments<'a> {
    /// Words with a dash, and whether each can be the value of the one before.
    options: Vec<(&'a str, bool)>,
    /// Words without one before `--` that are no option's value.
    operands: Vec<&'a str>,
    /// Everything after `--`.
    paths: Vec<&'a str>,
    /// Every word of these but options.
    words: Vec<&'a str>,
}

impl<'a> GitArguments<'a> {
    fn sort(command: &str, args: &'a [CommandWord]) -> Self {
        let mut sorted = Self::default();
        let mut is_value = false;
        let mut literals = args.iter().map(CommandWord::effective_text);
        for word in literals.by_ref() {
            if word == "--" && !is_value {
                break;
            }
            let is_option = word.starts_with('-') && word.len() > 1;
            if is_option {
                sorted.options.push((word, is_value));
            } else {
                sorted.words.push(word);
                sorted.operands.extend((!is_value).then_some(word));
            }
            is_value = is_option && takes_next(command, word);
        }
        sorted.paths = literals.collect();
        sorted.words.extend(&sorted.paths);
        sorted
    }

    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(word, _)| name_of(word) == option)
    }

    /// Whether an option may show contents, wherever it stands.
    fn has_patch(&self) -> bool {
        self.options.iter().any(|(word, _)| {
            let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            PATCHES.contains(&name_of(word))
                || letters.is_some_and(|letters| letters.contains(|c| PATCH_LETTERS.contains(c)))
        })
    }

    /// Whether an option that only counts or names is there for certain.
    fn has_summary(&self) -> bool {
        let is = |(word, is_value): &(&str, bool)| !is_value && SUMMARIES.contains(&name_of(word));
        self.options.iter().any(is)
    }

    fn show_contents(&self, command: &str) -> bool {
        let has_letter = |letter| {
            let short = |word: &str| !word.starts_with("--") && word.contains(letter);
            self.options.iter().any(|(word, _)| short(word))
        };
        // `HEAD:a` shows that file and nothing else; a bare name may be that of any object.
        let only_files = || {
            let is_file = |word: &&str| word.contains(':') && !word.starts_with(":/");
            !self.operands.is_empty() && self.operands.iter().all(is_file)
        };
        let is_object = |word: &&str| word.len() > 3 && word.bytes().all(|b| b.is_ascii_hexdigit());
        match command {
            "grep" => true,
            "cat-file" => has_letter('p') && !only_files(),
            "diff" | "stash show" => self.has_patch() || !self.has_summary(),
            "show" if only_files() => self.has_patch(),
            "show" => {
                self.has_patch() || !self.has_summary() || self.operands.iter().any(is_object)
            }
            "branch" | "tag" | "for-each-ref" => {
                let raw = |word: &str| word.contains("raw") || word.contains("contents");
                self.options
                    .iter()
                    .map(|(word, _)| *word)
                    .chain(self.words.iter().copied())
                    .any(raw)
            }
            _ => self.has_patch(),
        }
    }

    /// Returns the secrets among the paths in revisions: `:0:.env`, `HEAD^{/a: b}:.env`, `-L:f:.env`.
    fn named_in_revisions(&self, view: MachineView<'_>) -> Result<Vec<EffectTarget>, String> {
        let lines =
            self.options.iter().map(|(word, _)| *word).filter(|word| word.starts_with("-L"));
        let mut found = Vec::new();
        for word in self.words.iter().copied().chain(lines) {
            for (at, _) in word.match_indices([':', ')']) {
                let path = word.get(at + 1..).unwrap_or_default();
                if !path.is_empty() {
                    found.extend(view.lowering.targets(path, view.state)?);
                }
            }
        }
        found.retain(|target| target.place.special == Some(SensitiveKind::Secret));
        Ok(found)
    }

    /// Returns the secrets in two folders: git compares any two paths where it accepts no repository,
    /// for instance because somebody else owns it.
    fn compared(&self, view: MachineView<'_>) -> Result<Vec<EffectTarget>, String> {
        let mut found = Vec::new();
        for words in [&self.operands, &self.paths].into_iter().filter(|words| words.len() == 2) {
            for word in words {
                for target in view.lowering.targets(word, view.state)? {
                    if target.place.side == WorkspaceSide::Inside {
                        found.extend(secrets_below(&target.path, view)?);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Returns an option without its value.
fn name_of(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// Whether an option of a command takes the next word as its value.
fn takes_next(command: &str, option: &str) -> bool {
    let listed = GIT_FORMS.iter().filter(|entry| entry.names.contains(&command));
    let listed = listed.flat_map(|entry| entry.options.split(' '));
    let takes = |name: &str| {
        listed.clone().any(|item| item.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
    };
    if option.starts_with("--") {
        return takes(option);
    }
    let mut letters = option.char_indices().skip(1);
    let first = letters.find(|(_, letter)| takes(&format!("-{letter}")));
    first.is_some_and(|(at, letter)| at + letter.len_utf8() == option.len())
}

/// Which part of the tree a command is limited to.
struct GitPathScope {
    /// Only what is below one of these, if there are any.
    below: Option<Vec<PathBuf>>,
    /// Only what has one of these endings, if there are any.
    endings: Vec<String>,
    /// Where a pattern may stand for any name.
    searched: Vec<PathBuf>,
}

impl GitPathScope {
    fn from_arguments(given: &GitArguments<'_>, view: MachineView<'_>) -> Result<Self, String> {
        let mut scope = Self { below: None, endings: Vec::new(), searched: Vec::new() };
        let mut below = Vec::new();
        let mut everything = given.has("--full-diff");
        for path in given.paths.iter().filter(|path| !is_exclusion(path)) {
            match GitPathspec::parse(path) {
                GitPathspec::Literal => below.extend(resolve(path, view)?),
                GitPathspec::Ending(ending) => scope.endings.push(ending.to_owned()),
                GitPathspec::Any { folder } => {
                    everything = true;
                    scope.searched.extend(resolve(folder, view)?);
                }
            }
        }
        // Before `--` it is a path only if it is no revision, and no revision has these characters.
        let is_pattern =
            |word: &&&str| word.contains(['*', '?', '[', '\\']) || word.starts_with(':');
        for word in given.operands.iter().filter(is_pattern).filter(|word| !word.contains("^{")) {
            if let GitPathspec::Any { folder } = GitPathspec::parse(word) {
                scope.searched.extend(resolve(folder, view)?);
            }
        }
        let named = !below.is_empty() || !scope.endings.is_empty();
        let limited = named && !everything;
        scope.below = limited.then_some(below);
        Ok(scope)
    }

    fn holds(&self, path: &Path) -> bool {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        let ends = |ending: &String| name.as_ref().is_some_and(|name| name.ends_with(ending));
        self.below.as_ref().is_none_or(|below| {
            below.iter().any(|folder| path.starts_with(folder)) || self.endings.iter().any(ends)
        })
    }
}

/// What a path limits a command to, as git reads it.
enum GitPathspec<'a> {
    /// This file or folder.
    Literal,
    /// Files with this ending: `*.rs`, `src/**/*.rs`.
    Ending(&'a str),
    /// Whatever it may match below a folder.
    Any { folder: &'a str },
}

impl<'a> GitPathspec<'a> {
    fn parse(text: &'a str) -> Self {
        if text.starts_with(':') {
            return Self::Any { folder: "." };
        }
        let Some(wild) = text.find(['*', '?', '[', '\\']) else { return Self::Literal };
        let (fixed, pattern) = text.split_at_checked(wild).unwrap_or(("", text));
        let ending = pattern.trim_start_matches("**/").strip_prefix('*').unwrap_or_default();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_ending =
            ending.strip_prefix('.').is_some_and(|it| !it.is_empty() && it.chars().all(plain));
        if is_ending && !may_be_secret(ending) && (fixed.is_empty() || fixed.ends_with('/')) {
            return Self::Ending(ending);
        }
        let folder = fixed.rsplit_once('/').map_or(".", |(folder, _)| folder);
        Self::Any { folder: if folder.is_empty() { "/" } else { folder } }
    }
}

fn is_exclusion(path: &str) -> bool {
    let long = path.strip_prefix(":(").and_then(|rest| rest.split(')').next());
    path.starts_with(":!")
        || path.starts_with(":^")
        || long.is_some_and(|magic| magic.split(',').any(|word| word == "exclude"))
}

/// Whether a file with this ending holds secrets wherever it lies.
fn may_be_secret(ending: &str) -> bool {
    let path = PathBuf::from(format!("/x{ending}"));
    crate::PathClass::from_path(&path, &[PathBuf::from("/")]).special == Some(SensitiveKind::Secret)
}

fn resolve(path: &str, view: MachineView<'_>) -> Result<Vec<PathBuf>, String> {
    let found = view.lowering.targets(path, view.state)?;
    Ok(found.into_iter().map(|target| target.path).collect())
}

fn folders<'e>(view: &MachineView<'e>) -> Result<&'e [PathBuf], String> {
    let unclear = || "in which folder git runs is not clear".to_owned();
    view.state.folders.as_deref().ok_or_else(unclear)
}

fn tracked(
    command: &str,
    scope: &GitPathScope,
    view: MachineView<'_>,
) -> Result<Vec<EffectTarget>, String> {
    let mut found = Vec::new();
    for folder in folders(&view)? {
        let secrets = view.lowering.context.machine.git_tracked_secrets(folder);
        let secrets = secrets.ok_or("which secrets git tracks here is unknown")?;
        // Without a path it searches only where it runs.
        let is_searched = |target: &EffectTarget| {
            let everywhere =
                command != "grep" || scope.below.is_some() || !scope.searched.is_empty();
            everywhere || target.path.starts_with(folder)
        };
        let shown = |target: &EffectTarget| is_searched(target) && scope.holds(&target.path);
        found.extend(secrets.into_iter().filter(shown));
    }
    Ok(found)
}

fn tracked_links(view: MachineView<'_>) -> Result<Vec<EffectTarget>, String> {
    let mut found = Vec::new();
    for folder in folders(&view)? {
        let links = view.lowering.context.machine.git_tracked_links(folder);
        found.extend(links.ok_or("where tracked folders lead is unknown")?);
    }
    Ok(found)
}

fn secrets_below(folder: &Path, view: MachineView<'_>) -> Result<Vec<EffectTarget>, String> {
    let found = view.lowering.context.machine.secrets_below(folder);
    found.ok_or_else(|| format!("whether `{}` holds secrets is unknown", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::super::super::super::tests::{Fake, HOME, WORKSPACE, verdict};
    use super::super::super::super::{Machine, ShellContext, analyse};
    use super::*;
    use crate::VerdictAction;

    #[test]
    fn a_tracked_secret_is_one_for_whatever_prints_contents() {
        for command in [
            "git diff",
            "git diff HEAD~1",
            "git diff --cached",
            "git diff --stat -p",
            "git diff -s -U3",
            "git diff --src-prefix --stat",
            "git diff --check",
            "git log -p",
            "git log -Stoken --oneline",
            "git log -G x",
            "git log -pm",
            "git log --cc",
            "git log -p --full-diff -- src",
            "git whatchanged -p",
            "git show",
            "git show HEAD",
            "git show --stat abc123f",
            "git show --author HEAD:a",
            "git grep token",
            "git grep -l token",
            "git grep token -- .",
            "git stash show",
            "git stash show -p",
            "git stash list -p",
            "git reflog -p",
            "git diff-tree -p HEAD",
            "git cat-file -p abc123f",
            "git diff -- .",
            "git diff -- ':!src'",
            "git diff -- ':(top)src'",
            "git diff -- '*'",
            "git for-each-ref --format='%(raw)'",
            "git -C src diff",
            "cd src && git log -p",
        ] {
            check(command, true, VerdictAction::Ask);
            check(
                &command.replace("':(top)src'", "src").replace("'*'", "src"),
                false,
                VerdictAction::Allow,
            );
        }
    }

    #[test]
    fn it_does_not_matter_where_it_cannot_be_shown() {
        for command in [
            "git status",
            "git log --oneline",
            "git log --stat",
            "git log -3 --format=%h",
            "git diff --stat",
            "git diff --name-only HEAD~1",
            "git diff HEAD~1 -- src",
            "git diff -- src/a.rs src",
            "git diff -- '*.rs' 'src/**/*.ts'",
            "git log -p -- src ':!src/gen'",
            "git show --stat HEAD",
            "git show HEAD:src/a.rs",
            "git cat-file -p HEAD:src/a.rs",
            "git cat-file -t abc123f",
            "git grep token -- src",
            "cd src && git grep token",
            "git blame src/a.rs",
            "git ls-files",
            "git diff-tree --name-only -r HEAD",
        ] {
            check(command, true, VerdictAction::Allow);
        }
    }

    #[test]
    fn a_pattern_may_stand_for_a_secret_that_is_not_tracked_any_more() {
        for command in [
            "git log -p -- '.e*'",
            "git log -p '.e*'",
            "git diff --no-renames HEAD -- '.en[v]'",
            "git diff -- '*nv'",
            "git diff -- '*.env'",
            "git diff -- ':(glob)**/x'",
            "git diff -- :/x",
            "git show :0:.env",
            "git show 'HEAD^{/a: b}:.env'",
            "git show HEAD:.env",
            "git cat-file -p :0:.env",
            "git blame -- .en''v",
            "git log -L:f:.env",
            "git log -L ':f:.env'",
            "git diff -- ':(icase)ID_RSA'",
            "git diff . src",
        ] {
            check(command, false, VerdictAction::Ask);
        }
    }

    #[track_caller]
    fn check(command: &str, tracks_secret: bool, expected: VerdictAction) {
        let machine = Tracking(tracks_secret);
        let context = ShellContext {
            cwd: Path::new(WORKSPACE),
            home: Some(Path::new(HOME)),
            env: &[],
            own: &[],
            machine: &machine,
        };
        assert_eq!(verdict(&analyse(command, &context)), expected, "{command}");
    }

    /// The fake machine, whose repository may track a `.env`.
    struct Tracking(bool);

    impl Machine for Tracking {
        fn target(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
            Fake.target(cwd, path)
        }

        fn matches(&self, cwd: &Path, pattern: &str) -> Option<Vec<EffectTarget>> {
            Fake.matches(cwd, pattern)
        }

        fn secrets_below(&self, folder: &Path) -> Option<Vec<EffectTarget>> {
            Fake.secrets_below(folder)
        }

        fn trusted_program(&self, name: &str) -> Option<PathBuf> {
            Fake.trusted_program(name)
        }

        fn git_hazards(&self, cwd: &Path) -> Option<Vec<String>> {
            Fake.git_hazards(cwd)
        }

        fn git_top(&self, cwd: &Path) -> Option<PathBuf> {
            Fake.git_top(cwd)
        }

        fn git_tracked_secrets(&self, _: &Path) -> Option<Vec<EffectTarget>> {
            let env = Fake.target(Path::new(WORKSPACE), ".env");
            Some(env.filter(|_| self.0).into_iter().collect())
        }

        fn git_tracked_links(&self, _: &Path) -> Option<Vec<EffectTarget>> {
            Some(Vec::new())
        }
    }
}
