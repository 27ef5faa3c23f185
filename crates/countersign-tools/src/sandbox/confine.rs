//! How a command is confined: from a view of the machine to a command line that runs inside.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::bwrap_args::{self, BwrapArgs, GuardedRoot};
use super::denial_notes;
use super::guarded_paths::{GuardedPath, GuardedTree};
use super::launch_spec::{LaunchSpec, ProxyForward};
use super::outside_files::WritableOutsideFiles;
use super::overlay::{self, OverlayMount};
use super::pinned_folders::PinnedFolders;
use super::placeholders::RootPlaceholders;
use super::proxy::SandboxProxy;
use super::sandboxed_command::{CommandSpec, SandboxedCommand};
use super::scratch::ScratchFolder;
use super::variables::{self, scrub_environment};
use super::view::{ChildView, NetworkAccess, ViewRoot};
use super::{IsolationLevel, Sandbox};
use crate::machine::process::UsageWatch;

/// The port of the proxy inside, where there is nothing else.
const PROXY_PORT: u16 = 3128;

/// What a child may write besides its workspace.
const SCRATCH: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// Tells the sockets of several proxies apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Sandbox {
    /// Returns how to start a child inside, with a view of its own. Looks at the disk.
    ///
    /// Where there is no sandbox this is the command as it is: ask [`Sandbox::level`] first if that
    /// must not be. To be called on a runtime, which the proxy needs.
    pub fn confine(
        &self,
        view: &ChildView,
        start: &CommandSpec<'_>,
    ) -> io::Result<SandboxedCommand> {
        if self.0.level == IsolationLevel::None {
            return Ok(SandboxedCommand::without_sandbox(start));
        }
        if let Some(why) = view.impossible() {
            return Err(io::Error::other(format!("there can be no sandbox: {why}")));
        }
        if !self.0.level.holds() {
            return self.confine_by_fence(view, start);
        }
        let (view, scratch) = self.lend_folders(view)?;
        Ok(SandboxedCommand { _scratch: scratch, ..self.with_view(&view, start)? })
    }

    /// A view by bubblewrap, and the fence inside it.
    fn with_view(&self, view: &ChildView, start: &CommandSpec<'_>) -> io::Result<SandboxedCommand> {
        let mut stand_ins: Vec<_> = view
            .sources()
            .filter(|_| !view.lasts)
            .map(|source| {
                RootPlaceholders::make(&self.0.stand_ins, source, &view.granted_in(source))
            })
            .collect();
        let proxy = self.start_proxy(&view.network)?;
        let launcher = self.0.launcher.first().map(PathBuf::from).unwrap_or_default();
        let guarded = guarded_roots(view, &mut stand_ins, &launcher);
        let layers = self.layers(view)?;
        let outside = WritableOutsideFiles::open_for_view(view, &launcher);
        let words = BwrapArgs {
            nothing: &self.0.nothing(),
            launcher: &launcher,
            proxy: proxy.as_ref().map(SandboxProxy::socket),
            limits: self.0.limits,
            cwd: start.cwd,
            guarded: &guarded,
            overlays: &layers,
            outside: outside.files(),
        };
        let mut arguments = self.over(&layers)?;
        arguments.extend(words.to_args(view));
        let door = proxy.is_some().then(|| ProxyForward {
            port: PROXY_PORT,
            socket: bwrap_args::PROXY.into(),
            launcher: self.0.launcher_inside(),
        });
        let writable = view.writable().into_iter().chain(outside.files().iter().cloned());
        let order = self.order(writable.collect(), Vec::new(), door);
        arguments.extend(self.0.launcher_inside());
        arguments.extend(as_words(&order, start)?);
        let environment = scrub_environment(start.environment);
        let environment = if proxy.is_some() {
            environment.with(&variables::by_proxy(PROXY_PORT))
        } else {
            environment
        };
        Ok(SandboxedCommand {
            program: self.0.bubblewrap.clone(),
            arguments,
            environment,
            network: view.network.clone(),
            level: self.0.level,
            leaving: denial_notes::LEAVING,
            watch: Some(UsageWatch::new(self.0.limits, &view.lands())),
            stand_ins,
            proxy,
            _outside: outside,
            _scratch: None,
        })
    }

    /// Starts the proxy of a child that may reach other machines.
    fn start_proxy(&self, network: &NetworkAccess) -> io::Result<Option<SandboxProxy>> {
        if *network == NetworkAccess::Off {
            return Ok(None);
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("proxy-{}-{number}", std::process::id());
        SandboxProxy::start(&self.0.state, &name, network.clone()).map(Some)
    }

    /// Returns a view with what it borrows, and where changes to that are.
    fn lend_folders(&self, view: &ChildView) -> io::Result<(ChildView, Option<ScratchFolder>)> {
        if view.borrowed.is_empty() {
            return Ok((view.clone(), None));
        }
        let mut scratch = ScratchFolder::make(&self.0.state)?;
        let mut lending = view.clone();
        for (number, folder) in view.borrowed.iter().enumerate() {
            let (upper, work) = scratch.layer(number)?;
            lending = lending.lent(folder, &upper, &work);
        }
        Ok((lending, Some(scratch)))
    }

    /// Returns the overlays of a view, each with a place to be mounted at.
    fn layers(&self, view: &ChildView) -> io::Result<Vec<OverlayMount>> {
        let changes = |root: &ViewRoot| root.changes.clone().map(|it| (root.source.clone(), it));
        let changes = view.roots.iter().filter_map(changes).enumerate();
        let layers = changes.map(|(number, (lower, (upper, work)))| {
            // Each child mounts its own there, unseen by others.
            let at = self.0.state.join(format!("overlay-{number}"));
            std::fs::create_dir_all(&at)?;
            Ok(OverlayMount { lower, upper, work, at })
        });
        layers.collect()
    }

    /// Returns the words that come before those of a view with overlays.
    fn over(&self, layers: &[OverlayMount]) -> io::Result<Vec<String>> {
        if layers.is_empty() {
            return Ok(Vec::new());
        }
        let mut words = overlay::words(layers, &self.0.launcher)?;
        words.push(self.0.bubblewrap.to_string_lossy().into_owned());
        Ok(words)
    }

    /// The fence alone, where there can be no view.
    fn confine_by_fence(
        &self,
        view: &ChildView,
        start: &CommandSpec<'_>,
    ) -> io::Result<SandboxedCommand> {
        if view.roots.iter().any(|root| root.changes.is_some() || root.source != root.path) {
            return Err(io::Error::other(
                "without bubblewrap a folder is shown as it is or not at all",
            ));
        }
        let writable = view.writable();
        let Some((launcher, rest)) = self.0.launcher.split_first() else {
            return Err(io::Error::other("there is no launcher"));
        };
        // Who could change the launcher would run outside the fence the next time.
        if writable.iter().any(|root| Path::new(launcher).starts_with(root)) {
            return Err(io::Error::other(
                "there can be no sandbox: its launcher is in the workspace",
            ));
        }
        let scratch = ScratchFolder::make(Path::new("/tmp"))?;
        let own = scratch.path().to_owned();
        let given = writable.iter().cloned().chain([own.clone()]).collect();
        let order = self.order(given, view.hidden(), None);
        let mut arguments = rest.to_vec();
        arguments.extend(as_words(&order, start)?);
        let temporary = [("TMPDIR".to_owned(), own.to_string_lossy().into_owned())];
        Ok(SandboxedCommand {
            program: PathBuf::from(launcher),
            arguments,
            environment: scrub_environment(start.environment).with(&temporary),
            network: NetworkAccess::Off,
            level: self.0.level,
            leaving: denial_notes::LEAVING,
            watch: Some(UsageWatch::new(self.0.limits, &writable)),
            stand_ins: Vec::new(),
            proxy: None,
            _outside: WritableOutsideFiles::default(),
            _scratch: Some(scratch),
        })
    }

    fn order(
        &self,
        roots: Vec<PathBuf>,
        hidden: Vec<PathBuf>,
        proxy: Option<ProxyForward>,
    ) -> LaunchSpec {
        let scratch = SCRATCH.iter().map(PathBuf::from);
        let has_view = self.0.level.holds();
        LaunchSpec {
            // Without a view `/tmp` is everybody's.
            writable: if has_view { roots.into_iter().chain(scratch).collect() } else { roots },
            hidden,
            limits: self.0.limits,
            has_view,
            needs_landlock: self.0.level != IsolationLevel::View,
            proxy,
        }
    }
}

/// Looks for what is guarded in each root of a view, and for the folders above it.
fn guarded_roots(
    view: &ChildView,
    stand_ins: &mut [RootPlaceholders],
    launcher: &Path,
) -> Vec<GuardedRoot> {
    let guarded = |root: &ViewRoot| {
        let mut tree = GuardedTree::find(&root.source);
        let made = stand_ins.iter().flat_map(RootPlaceholders::made).cloned();
        let more = made.chain([launcher.to_owned()]);
        let more = more.filter(|path| path.starts_with(&root.source));
        tree.found.extend(more.map(GuardedPath::protected));
        let own = view.own_in(root).into_iter().map(GuardedPath::protected);
        let pinned: Vec<_> = tree.found.iter().cloned().chain(own).collect();
        let pins = if root.is_fixed {
            PinnedFolders::default()
        } else {
            PinnedFolders::find(&root.source, &pinned, &view.moved_in(root))
        };
        for it in stand_ins.iter_mut().filter(|it| it.root() == root.source) {
            it.remember(&tree, &pins.left_out, view.only_git);
        }
        GuardedRoot { guarded: tree.found, pins }
    };
    view.roots.iter().map(guarded).collect()
}

fn as_words(order: &LaunchSpec, start: &CommandSpec<'_>) -> io::Result<Vec<String>> {
    let program = start.program.to_str().ok_or_else(|| io::Error::other("its path is not text"))?;
    let mut words = vec![serde_json::to_string(order)?, program.to_owned()];
    words.extend_from_slice(start.arguments);
    Ok(words)
}
