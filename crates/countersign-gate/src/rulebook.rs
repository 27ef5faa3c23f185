//! The rulebook: the rules that stand in files, read anew whenever a file has changed.
//!
//! The user's file holds in every workspace. A workspace's `countersign.toml`, with what it imports,
//! may only tighten until its user has trusted exactly this content. What cannot be read makes
//! everything ask, and the denials it held before stay. Everything here blocks: call it off the
//! runtime.

mod rule_files;
mod trust;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::rule::{PatternAnchors, RuleFileProblem, RuleLayer, RuleSource};
use countersign_core::{Digest, ProjectId};

use self::rule_files::{CachedRuleFile, PathConfinement, RuleFileContent};
use self::trust::TrustedDigests;

/// The name of a workspace's file.
pub const WORKSPACE_FILE: &str = "countersign.toml";

/// Where the files are.
#[derive(Clone, Debug, Default)]
pub struct RulebookFiles {
    /// The user's own `config.toml`.
    pub user: Option<PathBuf>,
    /// Where we keep which workspaces' contents are trusted.
    pub trust: Option<PathBuf>,
    /// The user's home, for rules that start at it.
    pub home: Option<PathBuf>,
}

/// One file of rules, as it stands now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFileState {
    /// Whose it is.
    pub source: RuleSource,
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Whether it is there.
    pub present: bool,
    /// Whether what it allows counts.
    pub trusted: bool,
    /// The digest of it and of what it imports, where it can be read.
    pub digest: Option<Digest>,
    /// Why it could not be read: everything asks until it can be.
    pub broken: Option<String>,
    /// Rules of it that could not be followed.
    pub problems: Vec<RuleFileProblem>,
    /// Whether it allows anything, so that trusting it makes a difference.
    pub allows: bool,
}

/// Why a workspace's file was not trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Nobody has told us of this workspace.
    #[error("this server has no workspace for the project")]
    Unknown,
    /// It has no file that could be trusted.
    #[error("the workspace has no `{WORKSPACE_FILE}`")]
    Absent,
    /// It says something else by now.
    #[error("`{WORKSPACE_FILE}` or a file it imports has changed; look at it again")]
    Changed,
    /// It cannot be read.
    #[error("`{WORKSPACE_FILE}` cannot be read: {0}")]
    Broken(String),
    /// There is nowhere to keep it.
    #[error("trust cannot be recorded: there is no trust file")]
    Nowhere,
    /// It could not be written down, so it does not count.
    #[error("the trust could not be recorded")]
    Io(#[from] std::io::Error),
}

/// The rules that come from files.
#[derive(Default)]
pub struct Rulebook {
    files: RulebookFiles,
    // Held while files are looked at, never across an await: this module knows none.
    state: Mutex<RulebookState>,
}

#[derive(Default)]
struct RulebookState {
    roots: HashMap<ProjectId, PathBuf>,
    trusted: TrustedDigests,
    /// By root; without one, what holds wherever a call runs.
    standing: HashMap<Option<PathBuf>, WorkspaceRules>,
}

/// What the files say for one workspace.
struct WorkspaceRules {
    user: Option<CachedRuleFile>,
    workspace: Option<CachedRuleFile>,
    /// What the layers were made of, and the layers: the same as long as nothing changed.
    made: Option<(Vec<Arc<RuleFileContent>>, bool)>,
    layers: Arc<[RuleLayer]>,
}

impl fmt::Debug for Rulebook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rulebook").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Rulebook {
    /// Returns the rulebook of these files.
    pub fn new(files: RulebookFiles) -> Self {
        Self { files, state: Mutex::default() }
    }

    /// Returns the rulebook that has no files: what a library without people goes by.
    pub fn none() -> Self {
        Self::default()
    }

    /// Tells which folder a project's workspace is.
    pub fn add_project(&self, project: ProjectId, root: PathBuf) {
        self.lock().roots.insert(project, root);
    }

    /// Returns the folders that patterns start from in a project.
    pub fn anchors(&self, project: &ProjectId) -> PatternAnchors {
        let root = self.lock().roots.get(project).cloned();
        self.anchors_at(&root.unwrap_or_else(|| PathBuf::from("/")))
    }

    fn anchors_at(&self, root: &Path) -> PatternAnchors {
        PatternAnchors { root: root.to_owned(), home: self.files.home.clone() }
    }

    /// Returns the layers of a project's files, as they stand now. Blocks.
    pub fn layers(&self, project: &ProjectId) -> Vec<RuleLayer> {
        self.shared_layers(project).to_vec()
    }

    /// Returns the layers of the files for a workspace that no project was told of. Blocks.
    pub fn layers_at(&self, root: &Path) -> Vec<RuleLayer> {
        let mut state = self.lock();
        self.refresh_workspace(&mut state, Some(root)).0.layers.to_vec()
    }

    /// Returns the layers, the same allocation as long as no file has changed. Blocks.
    pub(crate) fn shared_layers(&self, project: &ProjectId) -> Arc<[RuleLayer]> {
        let mut state = self.lock();
        let root = state.roots.get(project).cloned();
        self.refresh_workspace(&mut state, root.as_deref()).0.layers.clone()
    }

    /// Returns whether a project has files at all: without, there is nothing to look at.
    pub(crate) fn has_files(&self, project: &ProjectId) -> bool {
        self.files.user.is_some() || self.lock().roots.contains_key(project)
    }

    /// Returns the files of a project, as they stand now. Blocks.
    pub fn files(&self, project: &ProjectId) -> Vec<RuleFileState> {
        let root = self.lock().roots.get(project).cloned();
        self.file_states(root.as_deref())
    }

    /// Returns the files for a workspace that no project was told of. Blocks.
    pub fn files_at(&self, root: &Path) -> Vec<RuleFileState> {
        self.file_states(Some(root))
    }

    fn file_states(&self, root: Option<&Path>) -> Vec<RuleFileState> {
        let mut state = self.lock();
        let (standing, trusted) = self.refresh_workspace(&mut state, root);
        let user = standing.user.as_ref().map(|kept| rule_file_state(RuleSource::User, true, kept));
        let workspace = standing.workspace.as_ref();
        let workspace = workspace.map(|kept| rule_file_state(RuleSource::Workspace, trusted, kept));
        user.into_iter().chain(workspace).collect()
    }

    /// Trusts the content of a project's workspace file, if it is the one with this digest. Blocks.
    pub fn trust(&self, project: &ProjectId, digest: &Digest) -> Result<(), TrustError> {
        let root = self.lock().roots.get(project).cloned().ok_or(TrustError::Unknown)?;
        self.trust_at(&root, digest)
    }

    /// Trusts the content of a workspace's file, if it is the one with this digest. Blocks.
    pub fn trust_at(&self, root: &Path, digest: &Digest) -> Result<(), TrustError> {
        let mut state = self.lock();
        let standing = self.refresh_workspace(&mut state, Some(root)).0;
        let reading = &standing.workspace.as_ref().ok_or(TrustError::Unknown)?.reading;
        if let Some(why) = &reading.broken {
            return Err(TrustError::Broken(why.clone()));
        }
        match &reading.digest {
            None => return Err(TrustError::Absent),
            Some(now) if now != digest => return Err(TrustError::Changed),
            Some(_) => {}
        }
        let file = self.files.trust.as_deref().ok_or(TrustError::Nowhere)?;
        Ok(trust::add_trusted_digest(file, root, digest)?)
    }

    /// Brings what is known of a workspace up to date; returns it and whether its file is trusted.
    fn refresh_workspace<'a>(
        &self,
        state: &'a mut RulebookState,
        root: Option<&Path>,
    ) -> (&'a WorkspaceRules, bool) {
        let anchors = self.anchors_at(root.unwrap_or(Path::new("/")));
        let RulebookState { trusted, standing, .. } = state;
        if let Some(file) = &self.files.trust {
            trusted.refresh(file);
        }
        let standing = standing.entry(root.map(Path::to_owned)).or_insert_with(|| WorkspaceRules {
            user: self
                .files
                .user
                .clone()
                .map(|file| CachedRuleFile::new(file, PathConfinement::Imports)),
            workspace: root
                .map(|root| CachedRuleFile::new(root.join(WORKSPACE_FILE), PathConfinement::All)),
            made: None,
            layers: Arc::default(),
        });
        if let Some(user) = &mut standing.user {
            user.refresh(&anchors);
        }
        if let Some(workspace) = &mut standing.workspace {
            workspace.refresh(&anchors);
        }
        let workspace = standing.workspace.as_ref();
        let digest = workspace.and_then(|workspace| workspace.reading.digest.as_ref());
        let is_trusted =
            root.zip(digest).is_some_and(|(root, digest)| trusted.is_trusted(root, digest));
        standing.rebuild(is_trusted);
        (standing, is_trusted)
    }

    fn lock(&self) -> MutexGuard<'_, RulebookState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkspaceRules {
    fn rebuild(&mut self, trusted: bool) {
        let kept = || self.user.iter().chain(&self.workspace);
        let same = |(readings, was_trusted): &(Vec<Arc<RuleFileContent>>, bool)| {
            *was_trusted == trusted
                && readings.iter().zip(kept()).all(|(old, now)| Arc::ptr_eq(old, &now.reading))
        };
        if self.made.as_ref().is_some_and(same) {
            return;
        }
        let user = self.user.as_ref().and_then(|kept| kept.layer(RuleSource::User, true));
        let workspace =
            self.workspace.as_ref().and_then(|kept| kept.layer(RuleSource::Workspace, trusted));
        let made = kept().map(|kept| kept.reading.clone()).collect();
        self.layers = user.into_iter().chain(workspace).collect();
        self.made = Some((made, trusted));
    }
}

fn rule_file_state(source: RuleSource, trusted: bool, kept: &CachedRuleFile) -> RuleFileState {
    let RuleFileContent { present, digest, broken, file, .. } = &*kept.reading;
    RuleFileState {
        source,
        path: kept.path().to_owned(),
        present: *present,
        trusted,
        digest: digest.clone(),
        broken: broken.clone(),
        problems: file.problems.clone(),
        allows: file
            .rules
            .iter()
            .any(|rule| rule.outcome == countersign_core::VerdictAction::Allow),
    }
}
