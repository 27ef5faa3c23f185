//! The two sides of a client's tool: the server, which judges, and the client's machine, which runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::{ClientLook, EffectTarget, InvalidCall, SensitiveKind, WorkspaceSide};

use super::ClientRoot;
use crate::files::escape::escape_to_line;
use crate::files::workspace::{NotAFolder, Workspace};
use crate::tool_error::ToolError;

/// Where a client's tool stands: at the server, or on the machine whose files it is about.
#[derive(Clone, Debug)]
pub struct ClientSide(ClientSideKind);

#[derive(Clone, Debug)]
enum ClientSideKind {
    There {
        root: ClientRoot,
        /// What the client that would run a call says.
        look: Option<Arc<ClientLook>>,
    },
    // INVARIANT: the root of both is the same folder, links resolved.
    Here {
        root: ClientRoot,
        workspace: Workspace,
    },
}

/// What is to be done with a path: more is refused for a change than for a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathUse {
    Look,
    Change,
}

impl From<ClientRoot> for ClientSide {
    /// The server's side: its tools judge by the components of a path, and run nothing.
    fn from(root: ClientRoot) -> Self {
        Self(ClientSideKind::There { root, look: None })
    }
}

impl ClientSide {
    /// Returns the side of the machine the tools run on, below one folder that is there.
    ///
    /// Nothing in the folders `off_limits` is touched, wherever they lie.
    pub fn for_local_machine(
        root: &Path,
        off_limits: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Self, NotAFolder> {
        let workspace = Workspace::new([root.to_owned()])?.keeping_out_of(off_limits);
        let resolved = workspace.roots().first().map_or(root, PathBuf::as_path);
        Ok(Self(ClientSideKind::Here { root: ClientRoot::new(resolved), workspace }))
    }

    /// Returns the project's folder.
    pub fn root(&self) -> &Path {
        match &self.0 {
            ClientSideKind::There { root, .. } | ClientSideKind::Here { root, .. } => root.path(),
        }
    }

    /// Returns the folder as it was named, for paths by their components.
    pub(super) fn client_root(&self) -> &ClientRoot {
        match &self.0 {
            ClientSideKind::There { root, .. } | ClientSideKind::Here { root, .. } => root,
        }
    }

    /// Returns the workspace of this machine, if this is where tools run.
    pub(super) fn workspace(&self) -> Option<&Workspace> {
        match &self.0 {
            ClientSideKind::There { .. } => None,
            ClientSideKind::Here { workspace, .. } => Some(workspace),
        }
    }

    /// Returns the server's side, with what a client says of the call.
    pub(super) fn with_look(&self, look: &ClientLook) -> Self {
        let look = Some(Arc::new(look.clone()));
        Self(ClientSideKind::There { root: self.client_root().clone(), look })
    }

    /// Returns what the client says that would run the call, where one has said something.
    pub(super) fn look(&self) -> Option<&ClientLook> {
        match &self.0 {
            ClientSideKind::There { look, .. } => look.as_deref(),
            ClientSideKind::Here { .. } => None,
        }
    }

    /// Returns what there is to say of every call here: where it would run.
    pub(super) fn empty_look(&self) -> ClientLook {
        let root = self.root().display().to_string();
        ClientLook { root, file: None, command: None, refusal: None }
    }

    /// Refuses what the client would refuse.
    pub(super) fn check_look(&self) -> Result<(), InvalidCall> {
        match self.look().and_then(|look| look.refusal.as_ref()) {
            Some(why) => {
                Err(InvalidCall(format!("the client would refuse this: {}", escape_to_line(why))))
            }
            None => Ok(()),
        }
    }

    /// Returns a target of the project as people read it: by the client's folder where that is known,
    /// else from the project's folder on. The server's folder is nobody's business there.
    pub(super) fn as_shown(&self, target: EffectTarget) -> EffectTarget {
        let text = self.shown_path(&target.path);
        match text {
            Some(text) => target.with_display_path(text),
            None => target,
        }
    }

    /// Returns a path of the project as people read it who know the client's machine.
    pub(super) fn shown_path(&self, path: &Path) -> Option<String> {
        let ClientSideKind::There { root, look } = &self.0 else { return None };
        let below = path.strip_prefix(root.path()).ok()?;
        let below = below.display().to_string();
        Some(match (look, below.is_empty()) {
            (None, true) => ".".to_owned(),
            (None, false) => below,
            (Some(look), true) => look.root.clone(),
            (Some(look), false) if look.root.contains('\\') && !look.root.contains('/') => {
                format!("{}\\{}", look.root.trim_end_matches('\\'), below.replace('/', "\\"))
            }
            (Some(look), false) => format!("{}/{below}", look.root.trim_end_matches('/')),
        })
    }

    /// Checks that a tool runs on this side.
    pub(super) fn check_runs(&self, tool: &str) -> Result<&Workspace, ToolError> {
        self.workspace().ok_or_else(|| {
            ToolError::invalid(format!(
                "`{tool}` runs on the client's machine; the server only judges it"
            ))
        })
    }

    /// Returns where a path of a call leads, if it may be reached.
    ///
    /// Both sides read it by its components first, so that they mean the same path. The client then
    /// follows its links: what leads out of the folder, or to something that its name hid from the
    /// server, is refused.
    pub(super) fn find(&self, path: &str, to: PathUse) -> Result<EffectTarget, InvalidCall> {
        let named = self.client_root().find(path)?;
        let ClientSideKind::Here { workspace, .. } = &self.0 else {
            return Ok(self.as_shown(named));
        };
        let meant = self.client_root().posix(path);
        let Some(text) = meant.to_str() else {
            return Err(InvalidCall(
                "the project's folder has a name that is not UTF-8".to_owned(),
            ));
        };
        let found = workspace.find(self.root(), text)?;
        if found.place.side == WorkspaceSide::Outside {
            return Err(InvalidCall(format!(
                "`{}` leads out of the project's folder by a link: the client does not follow it",
                escape_to_line(path)
            )));
        }
        match found.place.special.filter(|_| found.place.special != named.place.special) {
            Some(SensitiveKind::RunsLater) if to == PathUse::Look => Ok(found),
            Some(hidden) => Err(InvalidCall(format!(
                "`{}` is a link to {}, which its name does not say: the client does not follow \
                 it; name the file itself",
                escape_to_line(path),
                what(hidden)
            ))),
            None => Ok(found),
        }
    }
}

fn what(special: SensitiveKind) -> &'static str {
    match special {
        SensitiveKind::Protected => "a protected file",
        SensitiveKind::Secret => "a file that holds secrets",
        SensitiveKind::RunsLater => "a file that runs by itself later",
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_only_to_what_the_server_could_judge() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("p");
        std::fs::create_dir_all(root.join("src/deep")).unwrap();
        for (to, name) in [
            ("/etc", "etc"),
            ("..", "up"),
            ("src/deep", "deep"),
            (".env", "notes.txt"),
            (".git/config", "conf"),
            ("package.json", "meta"),
            ("prod.env", ".env.local"),
        ] {
            symlink(to, root.join(name)).unwrap();
        }
        let side = ClientSide::for_local_machine(&root, [base.join("own")]).unwrap();
        let look = |path: &str| side.find(path, PathUse::Look).map(|target| target.path);
        assert_eq!(look("deep/a.rs"), Ok(root.join("src/deep/a.rs")));
        assert_eq!(look("meta"), Ok(root.join("package.json")));
        // The server took the way back by its components, so that is what is meant here too.
        assert_eq!(look("deep/../a.rs"), Ok(root.join("a.rs")));
        assert_eq!(look("etc/../b"), Ok(root.join("b")));
        assert_eq!(look(".env"), Ok(root.join(".env")));
        assert_eq!(look(".env.local"), Ok(root.join("prod.env")), "a secret by both names");
        let refuses = |path: &str, to, says: &str| {
            let InvalidCall(text) = side.find(path, to).unwrap_err();
            assert!(text.contains(says), "{path}: {text}");
        };
        refuses("etc/passwd", PathUse::Look, "leads out of the project's folder");
        refuses("up", PathUse::Look, "leads out");
        assert_eq!(look("up/p/a"), Ok(root.join("a")), "out and in again is in");
        refuses("notes.txt", PathUse::Look, "holds secrets");
        refuses("conf", PathUse::Look, "a protected file");
        refuses("meta", PathUse::Change, "runs by itself later");
        refuses("../own/x", PathUse::Look, "lies outside the project");
    }
}
