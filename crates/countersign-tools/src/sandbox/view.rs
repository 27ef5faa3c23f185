//! The view: what of the machine a child sees, and what of it it can change.

use std::path::{Path, PathBuf};

use countersign_core::{Effect, EffectTarget, OutsideFile};

use super::guarded_paths;
use super::mounts::MountTable;
use crate::files::workspace::Workspace;

/// Which other machines a child can reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NetworkAccess {
    /// None.
    #[default]
    Off,
    /// These hosts, by way of a proxy that knows them by name.
    Hosts(Vec<String>),
    /// Any public host, by way of a proxy that notes which.
    Public,
}

/// What a child sees and what it can change.
#[derive(Clone, Debug)]
pub struct ChildView {
    pub(super) roots: Vec<ViewRoot>,
    /// Where we keep our own state.
    pub(super) own: Vec<PathBuf>,
    home: Option<PathBuf>,
    /// What may be read although it holds keys, and written although it steers what runs later.
    pub(super) reads: Vec<PathBuf>,
    pub(super) writes: Vec<PathBuf>,
    /// What the call itself moves or removes.
    pub(super) moved: Vec<PathBuf>,
    /// Whether it is git alone that runs: it changes its own folder, but not what makes it run things.
    pub(super) only_git: bool,
    pub(super) network: NetworkAccess,
    /// Files outside that may be written.
    pub(super) outside: Vec<OutsideFile>,
    /// Files that are seen even where the view has folders of its own.
    pub(super) seen: Vec<PathBuf>,
    /// Folders beside the roots whose changes nobody keeps.
    pub(super) borrowed: Vec<PathBuf>,
    /// Whether it goes on beside calls, so that nothing may stand in the workspace for it.
    pub(super) lasts: bool,
}

/// A folder the child works in.
#[derive(Clone, Debug)]
pub(super) struct ViewRoot {
    /// Where the child finds it.
    pub(super) path: PathBuf,
    /// Where it is.
    pub(super) source: PathBuf,
    /// Where changes to it are kept, if not there: a folder for them, and one for the kernel.
    pub(super) changes: Option<(PathBuf, PathBuf)>,
    /// Whether it can only be looked at.
    pub(super) is_fixed: bool,
}

impl ViewRoot {
    fn new(path: &Path) -> Self {
        let path = path.to_owned();
        Self { source: path.clone(), path, changes: None, is_fixed: false }
    }
}

impl ChildView {
    /// Returns the view of a workspace: its roots can be changed, the rest can be looked at, keys and
    /// our own state cannot even be seen.
    pub fn for_workspace(workspace: &Workspace, home: Option<&Path>) -> Self {
        Self {
            roots: workspace.roots().iter().map(|root| ViewRoot::new(root)).collect(),
            own: workspace.off_limits().to_vec(),
            home: home.map(Path::to_owned),
            reads: Vec::new(),
            writes: Vec::new(),
            moved: Vec::new(),
            only_git: false,
            network: NetworkAccess::Off,
            outside: Vec::new(),
            seen: Vec::new(),
            borrowed: Vec::new(),
            lasts: false,
        }
    }

    /// Also gives what these effects name: a person or a rule has said yes to each of them.
    #[must_use]
    pub fn with_granted_effects(mut self, effects: &[Effect]) -> Self {
        let path = |target: &EffectTarget| target.path.clone();
        for effect in effects {
            match effect {
                Effect::Read(target) | Effect::ReadAll(target) => self.reads.push(path(target)),
                Effect::Write(target) => self.writes.push(path(target)),
                Effect::Delete(target) | Effect::DeleteAll(target) => {
                    self.writes.push(path(target));
                    self.moved.push(path(target));
                }
                Effect::Rename { from, to } => {
                    self.writes.extend([path(from), path(to)]);
                    self.moved.extend([path(from), path(to)]);
                }
                Effect::Net { host: Some(host) } => self.network = self.network.and(host),
                Effect::Net { host: None } | Effect::RemoteRead { .. } => {
                    self.network = NetworkAccess::Public;
                }
                Effect::Env { .. }
                | Effect::Exec { .. }
                | Effect::ReadsByName { .. }
                | Effect::SpawnAgent { .. }
                | Effect::RunsLater { .. }
                | Effect::LeavesSandbox
                | Effect::Forbidden { .. }
                | Effect::Opaque { .. } => {}
            }
        }
        self.only_git = is_git_alone(effects);
        if self.only_git {
            let fresh = self.roots.iter().map(|root| root.path.join(".git"));
            self.writes.extend(fresh.filter(|git| git.symlink_metadata().is_err()));
        }
        self
    }

    /// Also lets files outside the workspace be written, each of which somebody has said yes to.
    ///
    /// What cannot be given as a single file, and what is our own or holds keys, stays closed.
    #[must_use]
    pub fn with_outside_files(self, outside: &[OutsideFile]) -> Self {
        Self { outside: outside.to_vec(), ..self }
    }

    /// Sets which other machines can be reached.
    #[must_use]
    pub fn with_network(self, network: NetworkAccess) -> Self {
        Self { network, ..self }
    }

    /// For a child that goes on beside calls: nothing stands in the workspace while it does, so what is
    /// protected is so only where it was there before.
    #[must_use]
    pub fn for_long_running(self) -> Self {
        Self { lasts: true, ..self }
    }

    /// Also shows files that lie in `/tmp`, say, which is another one inside.
    #[must_use]
    pub fn with_visible_files(mut self, files: &[PathBuf]) -> Self {
        self.seen.extend_from_slice(files);
        self
    }

    /// Lets the roots be looked at only.
    #[must_use]
    pub fn with_read_only_roots(mut self) -> Self {
        for root in &mut self.roots {
            root.is_fixed = true;
        }
        self
    }

    /// Also lends a folder, such as a cache: what the child changes in it is gone with the child.
    #[must_use]
    pub fn with_borrowed_folder(mut self, folder: &Path) -> Self {
        self.borrowed.push(folder.to_owned());
        self
    }

    /// Takes a lent folder for a root whose changes are kept apart.
    #[must_use]
    pub(super) fn lent(mut self, folder: &Path, upper: &Path, work: &Path) -> Self {
        self.roots.push(ViewRoot::new(folder));
        self.with_overlay(folder, upper, work)
    }

    /// Keeps what the child changes in a root apart, in `upper`; the root stays as it is.
    ///
    /// `upper` and `work` are folders on one disk, `work` an empty one. What lies in `upper` already is
    /// seen as if it had been done before.
    #[must_use]
    pub fn with_overlay(mut self, root: &Path, upper: &Path, work: &Path) -> Self {
        for known in self.roots.iter_mut().filter(|known| known.path == root) {
            known.changes = Some((upper.to_owned(), work.to_owned()));
        }
        self
    }

    /// Shows another folder in the place of a root, such as a copy of it. What the child does to the
    /// root, it does there.
    #[must_use]
    pub fn with_substitute_root(mut self, root: &Path, source: &Path) -> Self {
        for known in self.roots.iter_mut().filter(|known| known.path == root) {
            source.clone_into(&mut known.source);
        }
        self
    }

    /// Returns where the child can write, as it names the folders.
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        let changing = self.roots.iter().filter(|root| !root.is_fixed);
        changing.map(|root| root.path.clone()).collect()
    }

    /// Returns the folders that really change.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Path> {
        let changing = self.roots.iter().filter(|it| it.changes.is_none() && !it.is_fixed);
        changing.map(|root| root.source.as_path())
    }

    /// Returns where what it writes lands.
    pub(super) fn lands(&self) -> Vec<PathBuf> {
        let changes = self.roots.iter().filter_map(|root| root.changes.as_ref());
        self.sources().map(Path::to_owned).chain(changes.map(|it| it.0.clone())).collect()
    }

    /// Returns what it may write although it steers what runs later, as it is named in a source.
    pub(super) fn granted_in(&self, source: &Path) -> Vec<PathBuf> {
        let Some(root) = self.roots.iter().find(|root| root.source == source) else {
            return Vec::new();
        };
        let inside = self.writes.iter().filter_map(|path| path.strip_prefix(&root.path).ok());
        inside.map(|below| source.join(below)).collect()
    }

    /// Returns what the call itself moves or removes, as it is named in a source.
    pub(super) fn moved_in(&self, root: &ViewRoot) -> Vec<PathBuf> {
        let inside = self.moved.iter().filter_map(|path| path.strip_prefix(&root.path).ok());
        inside.map(|below| root.source.join(below)).collect()
    }

    /// Returns our own state within a root, as it is named in its source.
    pub(super) fn own_in(&self, root: &ViewRoot) -> Vec<PathBuf> {
        let inside = self.own.iter().filter_map(|path| path.strip_prefix(&root.path).ok());
        inside.map(|below| root.source.join(below)).collect()
    }

    /// Returns what it cannot see outside the roots, under none of its names. A root below it can be
    /// seen all the same.
    pub(super) fn hidden(&self) -> Vec<PathBuf> {
        let keys = guarded_paths::keys(self.home.as_deref());
        let is_asked_for = |key: &PathBuf| self.reads.contains(key);
        let keys = keys.into_iter().filter(|key| !is_asked_for(key));
        let mut hidden: Vec<_> = self.own.iter().cloned().chain(keys).collect();
        let mounts = MountTable::read();
        let second: Vec<_> = hidden.iter().flat_map(|path| mounts.other_names(path)).collect();
        hidden.extend(second);
        hidden.extend(self.second_names(&mounts));
        hidden.retain(|it| !self.roots.iter().any(|root| root.path.starts_with(it)));
        hidden.sort();
        hidden.dedup();
        hidden
    }

    /// Returns where else the roots can be seen, in which nothing would be hidden or protected.
    fn second_names(&self, mounts: &MountTable) -> Vec<PathBuf> {
        let places = self.roots.iter().flat_map(|root| [&root.path, &root.source]);
        let names = places.flat_map(|place| mounts.other_names(place));
        // Within a root it is looked at like everything else there.
        let is_in_root = |name: &PathBuf| self.roots.iter().any(|it| name.starts_with(&it.path));
        names.filter(|name| !is_in_root(name)).collect()
    }

    /// Returns why there can be no such view.
    pub(super) fn impossible(&self) -> Option<String> {
        let top = self.roots.iter().any(|root| root.path.parent().is_none());
        let own = self.roots.iter().any(|r| self.own.iter().any(|own| r.path.starts_with(own)));
        let text = |path: &Path| path.to_str().is_none_or(|text| text.contains('\0'));
        if top {
            Some("the workspace is the whole file system".to_owned())
        } else if own {
            Some("the workspace lies where Countersign keeps its own state".to_owned())
        } else if let Some(name) = self
            .second_names(&MountTable::read())
            .into_iter()
            .find(|name| self.roots.iter().any(|root| root.path.starts_with(name)))
        {
            Some(format!(
                "the workspace can also be seen at `{}`, in which another of its roots lies",
                name.display()
            ))
        } else {
            let odd = self.roots.iter().find(|root| text(&root.path) || text(&root.source))?;
            Some(format!("the path `{}` is not text", odd.path.display()))
        }
    }
}

impl NetworkAccess {
    fn and(&self, host: &str) -> Self {
        match self {
            Self::Off => Self::Hosts(vec![host.to_owned()]),
            Self::Hosts(hosts) => {
                let mut hosts = hosts.clone();
                hosts.push(host.to_owned());
                Self::Hosts(hosts)
            }
            Self::Public => Self::Public,
        }
    }
}

/// Whether nothing runs but git, and all that happens is known.
fn is_git_alone(effects: &[Effect]) -> bool {
    let program = |effect: &Effect| match effect {
        Effect::Exec { argv, .. } => Some(argv.first().is_some_and(|it| it == "git")),
        Effect::Opaque { .. } => Some(false),
        _ => None,
    };
    let mut programs = effects.iter().filter_map(program).peekable();
    programs.peek().is_some() && programs.all(|is_git| is_git)
}
