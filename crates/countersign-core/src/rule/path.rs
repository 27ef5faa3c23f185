//! Patterns of paths: gitignore's, with Claude Code's anchors.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};

use super::BadRule;
use super::pattern::matches_wildcard;

/// No pattern is longer: up to here every one can be compiled.
const LONGEST: usize = 4096;

/// The folders that patterns start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternAnchors {
    /// The workspace: `/src/**`.
    pub root: PathBuf,
    /// The user's home: `~/notes/**`.
    pub home: Option<PathBuf>,
}

/// A path as rules look for it.
///
/// `//etc/**` is absolute, `~/x` starts at the user's home, `/src/**` at the workspace, anything else
/// where the call runs. As in a `.gitignore`, a name without a slash is meant at any depth, and a
/// folder stands for all that is in it.
#[derive(Clone, Debug)]
pub struct PathPattern {
    text: String,
    start: PatternStart,
    /// As written, from its start.
    near: Box<PathMatcher>,
    /// The same at any depth below its start: what restricts means every `secrets/`, not one.
    deep: Box<PathMatcher>,
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathPattern {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternStart {
    Absolute,
    Home,
    Root,
    Cwd,
}

/// What a pattern is compared by.
#[derive(Clone, Debug)]
enum PathMatcher {
    /// Names, and all that is below: no need for a glob.
    Plain(PlainNameMatcher),
    /// A glob, and the same for all that is below; to the letter, and whatever the case.
    Wild { exact: Box<LazyGlob>, folded: Box<LazyGlob> },
}

/// Names, one by one, and where they are looked for.
#[derive(Clone, Debug)]
struct PlainNameMatcher {
    names: Vec<String>,
    /// Whether the names themselves are not meant, only what is in them.
    only_below: bool,
    /// Whether they may stand at any depth.
    anywhere: bool,
}

impl PlainNameMatcher {
    fn from_glob(glob: &str, anywhere: bool) -> Option<Self> {
        let (body, only_below) = match glob.strip_suffix("/**") {
            Some(folder) if !folder.is_empty() => (folder, true),
            _ => (glob, false),
        };
        // A `*` within a name is as easily compared as a name.
        let plain = |name: &str| {
            let odd = name.contains(['?', '[', ']', '{', '}', '\\']) || name.contains("**");
            !name.is_empty() && name != "." && !odd
        };
        let names: Vec<_> = body.split('/').map(str::to_owned).collect();
        names.iter().all(|name| plain(name)).then_some(Self { names, only_below, anywhere })
    }

    fn is_match(&self, path: &Path, fold: bool) -> bool {
        let found: Vec<_> = path.components().map(|it| it.as_os_str().to_string_lossy()).collect();
        let same = |(name, found): (&String, &std::borrow::Cow<'_, str>)| {
            if fold {
                matches_wildcard(&name.to_lowercase(), &found.to_lowercase())
            } else {
                matches_wildcard(name, found)
            }
        };
        let windows = found.windows(self.names.len()).enumerate();
        let mut windows = windows.take(if self.anywhere { usize::MAX } else { 1 });
        windows.any(|(at, window)| {
            let more = at + self.names.len() < found.len();
            (more || !self.only_below) && self.names.iter().zip(window).all(same)
        })
    }
}

/// A glob that is compiled when it is first asked: most of a rule's never are, and it takes long.
#[derive(Clone, Debug)]
struct LazyGlob {
    glob: Glob,
    matcher: OnceLock<GlobMatcher>,
}

impl LazyGlob {
    fn is_match(&self, path: &Path) -> bool {
        self.matcher.get_or_init(|| self.glob.compile_matcher()).is_match(path)
    }
}

impl PathMatcher {
    /// Reads a glob that is meant from the start, or at any depth.
    fn new(glob: &str, anywhere: bool) -> Result<Self, BadRule> {
        if let Some(plain) = PlainNameMatcher::from_glob(glob, anywhere) {
            return Ok(Self::Plain(plain));
        }
        Self::wild(glob, anywhere)
    }

    fn wild(glob: &str, anywhere: bool) -> Result<Self, BadRule> {
        let whole = if anywhere { format!("{{{glob},**/{glob}}}") } else { glob.to_owned() };
        let whole = match glob.strip_suffix("/**") {
            // What is meant by "all that is in it" holds without it already.
            Some(folder) if !folder.is_empty() => whole,
            _ => format!("{{{whole},{whole}/**}}"),
        };
        let build = |fold: bool| {
            GlobBuilder::new(&whole)
                .literal_separator(true)
                .case_insensitive(fold)
                .build()
                .map(|glob| Box::new(LazyGlob { glob, matcher: OnceLock::new() }))
                .map_err(|error| {
                    BadRule::new(format!("`{glob}` is not a pattern: {}", error.kind()))
                })
        };
        Ok(Self::Wild { exact: build(false)?, folded: build(true)? })
    }

    fn is_exactly(&self, path: &Path) -> bool {
        match self {
            Self::Plain(plain) => plain.is_match(path, false),
            Self::Wild { exact, .. } => exact.is_match(path),
        }
    }

    fn is_whatever_case(&self, path: &Path) -> bool {
        match self {
            Self::Plain(plain) => plain.is_match(path, true),
            Self::Wild { folded, .. } => folded.is_match(path),
        }
    }
}

impl PathPattern {
    /// Reads the inside of `Read(…)` or `Edit(…)`.
    pub(crate) fn parse(text: &str) -> Result<Self, BadRule> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(BadRule::new(format!("a path of more than {LONGEST} bytes")));
        }
        let (start, body) = if let Some(rest) = text.strip_prefix("//") {
            (PatternStart::Absolute, rest)
        } else if let Some(rest) = text.strip_prefix("~/") {
            (PatternStart::Home, rest)
        } else if text == "~" {
            (PatternStart::Home, "**")
        } else if let Some(rest) = text.strip_prefix('/') {
            (PatternStart::Root, rest)
        } else {
            (PatternStart::Cwd, text.strip_prefix("./").unwrap_or(text))
        };
        let glob = body.trim_end_matches('/');
        let glob = if glob.is_empty() { "**" } else { glob };
        if glob.split('/').any(|name| name == "..") {
            return Err(BadRule::new(format!("`{text}` goes up with `..`: write where it leads")));
        }
        let anywhere = start == PatternStart::Cwd && !glob.contains('/');
        let deep = Box::new(PathMatcher::new(glob, true)?);
        let near = if anywhere { deep.clone() } else { Box::new(PathMatcher::new(glob, false)?) };
        Ok(Self { text: text.to_owned(), start, near, deep })
    }

    /// Returns whether a rule that restricts means this path: at any depth, whatever the case.
    pub fn restricts(&self, path: &Path, cwd: &Path, anchors: &PatternAnchors) -> bool {
        if self.start != PatternStart::Cwd {
            return self.below(path, cwd, anchors).is_some_and(|p| self.near.is_whatever_case(p));
        }
        [cwd, anchors.root.as_path()]
            .iter()
            .filter_map(|start| path.strip_prefix(start).ok())
            .any(|below| self.deep.is_whatever_case(below))
    }

    /// Returns whether an allowing rule means this path: from its start, to the letter.
    pub fn permits(&self, path: &Path, cwd: &Path, anchors: &PatternAnchors) -> bool {
        self.below(path, cwd, anchors).is_some_and(|below| self.near.is_exactly(below))
    }

    /// Returns whether what a restricting rule means may lie below a folder.
    pub(crate) fn may_lie_in(&self, folder: &Path, cwd: &Path, anchors: &PatternAnchors) -> bool {
        let starts: Vec<&Path> = match self.start {
            PatternStart::Absolute => vec![Path::new("/")],
            PatternStart::Home => anchors.home.iter().map(PathBuf::as_path).collect(),
            PatternStart::Root => vec![&anchors.root],
            // Meant at any depth: wherever the folder touches the workspace.
            PatternStart::Cwd => return [cwd, &anchors.root].iter().any(|it| meets(folder, it)),
        };
        let body = self.text.trim_start_matches("~/").trim_start_matches('/');
        let plain = |name: &&str| !name.contains(['*', '?', '[', '{', '\\']);
        let fixed: PathBuf = body.split('/').take_while(plain).collect();
        starts.iter().any(|start| meets(folder, &start.join(&fixed)))
    }

    /// Returns whether the pattern reaches out of the workspace by what it spells out.
    pub(crate) fn is_outside_workspace(&self) -> bool {
        matches!(self.start, PatternStart::Absolute | PatternStart::Home)
    }

    fn below<'p>(&self, path: &'p Path, cwd: &Path, anchors: &PatternAnchors) -> Option<&'p Path> {
        match self.start {
            PatternStart::Absolute => path.strip_prefix("/").ok(),
            PatternStart::Home => path.strip_prefix(anchors.home.as_ref()?).ok(),
            PatternStart::Root => path.strip_prefix(&anchors.root).ok(),
            PatternStart::Cwd => path.strip_prefix(cwd).ok(),
        }
    }
}

/// Whether one of two paths lies in the other.
fn meets(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(most: usize, names: &'static [&'static str]) -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(names), 1..most)
            .prop_map(|names| names.join("/"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Names are compared without a glob for speed: it must make no difference.
        #[test]
        fn plain_names_mean_what_their_glob_means(
            names in path(4, &["a", "b", "A.c", "*", "*.c", "a*", "*b*"]),
            below in any::<bool>(),
            anywhere in any::<bool>(),
            found in path(6, &["a", "b", "A.c", "ab", ".c", "x.c"]),
        ) {
            let glob = if below { format!("{names}/**") } else { names };
            let plain = PathMatcher::new(&glob, anywhere).unwrap();
            prop_assert!(matches!(plain, PathMatcher::Plain(_)));
            let wild = PathMatcher::wild(&glob, anywhere).unwrap();
            let found = Path::new(&found);
            prop_assert_eq!(plain.is_exactly(found), wild.is_exactly(found));
            prop_assert_eq!(plain.is_whatever_case(found), wild.is_whatever_case(found));
        }
    }

    /// Compiling comes late, so nothing that parses may fail at it.
    #[test]
    fn whatever_parses_can_be_asked() {
        let anchors = PatternAnchors { root: "/ws".into(), home: None };
        for piece in ["a", "?", "*", "[a-z]", "[!é-ü]", "{a,b}", "**/", "é", "a/**/"] {
            let text = piece.repeat(LONGEST / piece.len());
            let Ok(pattern) = PathPattern::parse(&text) else { continue };
            let path = Path::new("/ws/src/a.rs");
            pattern.permits(path, &anchors.root, &anchors);
            pattern.restricts(path, &anchors.root, &anchors);
        }
        assert!(PathPattern::parse(&"a".repeat(LONGEST + 1)).is_err());
    }
}
