//! A confined command: how a child is started inside, and what it had to do with its walls.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::guarded::{Guarded, GuardedTree};
use super::notes;
use super::order::{Door, Order};
use super::outside::Opened;
use super::overlay::{self, Layers};
use super::pins::Pins;
use super::proxy::{Proxy, Traffic};
use super::scratch::Scratch;
use super::standin::StandIns;
use super::variables::{self, scrubbed};
use super::view::{Network, Root, View};
use super::words::{self, GuardedRoot, Words};
use super::{Exceeded, Level, Sandbox, Watch};
use crate::process::Environment;

/// The port of the proxy inside, where there is nothing else.
const PROXY_PORT: u16 = 3128;

/// What a child may write besides its workspace.
const SCRATCH: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// How many of the files that were put aside are named in an answer.
const MOST_TOLD: usize = 20;

/// Tells the sockets of several proxies apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What is to be started.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The program, by its whole path.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// Where it works.
    pub cwd: &'a Path,
    /// What it knows of the environment, before what steers programs is taken out.
    pub environment: &'a Environment,
}

/// How to start a child inside. Keep it until the child is gone.
#[derive(Debug)]
pub struct Confined {
    program: PathBuf,
    arguments: Vec<String>,
    environment: Environment,
    network: Network,
    level: Level,
    /// How to get out, as whoever meets a wall is told.
    leaving: &'static str,
    watch: Option<Watch>,
    stand_ins: Vec<StandIns>,
    proxy: Option<Proxy>,
    _outside: Opened,
    /// Its temporary files, where it has no view in which `/tmp` is its own, and what it changed of
    /// what was lent. Gone with this.
    _scratch: Option<Scratch>,
}

impl Sandbox {
    /// Returns how to start a child inside, with a view of its own. Looks at the disk.
    ///
    /// Where there is no sandbox this is the command as it is: ask [`Sandbox::level`] first if that
    /// must not be. To be called on a runtime, which the proxy needs.
    pub fn confine(&self, view: &View, start: &Start<'_>) -> io::Result<Confined> {
        if self.0.level == Level::None {
            return Ok(Confined::bare(start));
        }
        if let Some(why) = view.impossible() {
            return Err(io::Error::other(format!("there can be no sandbox: {why}")));
        }
        if !self.0.level.holds() {
            return self.fenced(view, start);
        }
        let (view, scratch) = self.lending(view)?;
        Ok(Confined { _scratch: scratch, ..self.with_view(&view, start)? })
    }

    /// A view by bubblewrap, and the fence inside it.
    fn with_view(&self, view: &View, start: &Start<'_>) -> io::Result<Confined> {
        let mut stand_ins: Vec<_> = view
            .sources()
            .filter(|_| !view.lasts)
            .map(|source| StandIns::make(&self.0.stand_ins, source, &view.granted_in(source)))
            .collect();
        let proxy = match &view.network {
            Network::Off => None,
            open => {
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                let name = format!("proxy-{}-{number}", std::process::id());
                Some(Proxy::start(&self.0.state, &name, open.clone())?)
            }
        };
        let launcher = self.0.launcher.first().map(PathBuf::from).unwrap_or_default();
        let guarded = guarded_roots(view, &mut stand_ins, &launcher);
        let layers = self.layers(view)?;
        let outside = Opened::of(view, &launcher);
        let words = Words {
            nothing: &self.0.nothing(),
            launcher: &launcher,
            proxy: proxy.as_ref().map(Proxy::socket),
            limits: self.0.limits,
            cwd: start.cwd,
            guarded: &guarded,
            overlays: &layers,
            outside: outside.files(),
        };
        let mut arguments = self.over(&layers)?;
        arguments.extend(words.of(view));
        let door = proxy.is_some().then(|| Door {
            port: PROXY_PORT,
            socket: words::PROXY.into(),
            launcher: self.0.launcher_inside(),
        });
        let writable = view.writable().into_iter().chain(outside.files().iter().cloned());
        let order = self.order(writable.collect(), Vec::new(), door);
        arguments.extend(self.0.launcher_inside());
        arguments.extend(as_words(&order, start)?);
        let environment = scrubbed(start.environment);
        let environment = if proxy.is_some() {
            environment.with(&variables::by_proxy(PROXY_PORT))
        } else {
            environment
        };
        Ok(Confined {
            program: self.0.bubblewrap.clone(),
            arguments,
            environment,
            network: view.network.clone(),
            level: self.0.level,
            leaving: notes::LEAVING,
            watch: Some(Watch::new(self.0.limits, &view.lands())),
            stand_ins,
            proxy,
            _outside: outside,
            _scratch: None,
        })
    }

    /// Returns a view with what it borrows, and where changes to that are.
    fn lending(&self, view: &View) -> io::Result<(View, Option<Scratch>)> {
        if view.borrowed.is_empty() {
            return Ok((view.clone(), None));
        }
        let mut scratch = Scratch::make(&self.0.state)?;
        let mut lending = view.clone();
        for (number, folder) in view.borrowed.iter().enumerate() {
            let (upper, work) = scratch.layer(number)?;
            lending = lending.lent(folder, &upper, &work);
        }
        Ok((lending, Some(scratch)))
    }

    /// Returns the overlays of a view, each with a place to be mounted at.
    fn layers(&self, view: &View) -> io::Result<Vec<Layers>> {
        let changes = |root: &Root| root.changes.clone().map(|it| (root.source.clone(), it));
        let changes = view.roots.iter().filter_map(changes).enumerate();
        let layers = changes.map(|(number, (lower, (upper, work)))| {
            // Each child mounts its own there, unseen by others.
            let at = self.0.state.join(format!("overlay-{number}"));
            std::fs::create_dir_all(&at)?;
            Ok(Layers { lower, upper, work, at })
        });
        layers.collect()
    }

    /// Returns the words that come before those of a view with overlays.
    fn over(&self, layers: &[Layers]) -> io::Result<Vec<String>> {
        if layers.is_empty() {
            return Ok(Vec::new());
        }
        let mut words = overlay::words(layers, &self.0.launcher)?;
        words.push(self.0.bubblewrap.to_string_lossy().into_owned());
        Ok(words)
    }

    /// The fence alone, where there can be no view.
    fn fenced(&self, view: &View, start: &Start<'_>) -> io::Result<Confined> {
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
        let scratch = Scratch::make(Path::new("/tmp"))?;
        let own = scratch.path().to_owned();
        let given = writable.iter().cloned().chain([own.clone()]).collect();
        let order = self.order(given, view.hidden(), None);
        let mut arguments = rest.to_vec();
        arguments.extend(as_words(&order, start)?);
        let temporary = [("TMPDIR".to_owned(), own.to_string_lossy().into_owned())];
        Ok(Confined {
            program: PathBuf::from(launcher),
            arguments,
            environment: scrubbed(start.environment).with(&temporary),
            network: Network::Off,
            level: self.0.level,
            leaving: notes::LEAVING,
            watch: Some(Watch::new(self.0.limits, &writable)),
            stand_ins: Vec::new(),
            proxy: None,
            _outside: Opened::default(),
            _scratch: Some(scratch),
        })
    }

    fn order(&self, roots: Vec<PathBuf>, hidden: Vec<PathBuf>, proxy: Option<Door>) -> Order {
        let scratch = SCRATCH.iter().map(PathBuf::from);
        let has_view = self.0.level.holds();
        Order {
            // Without a view `/tmp` is everybody's.
            writable: if has_view { roots.into_iter().chain(scratch).collect() } else { roots },
            hidden,
            limits: self.0.limits,
            has_view,
            needs_landlock: self.0.level != Level::View,
            proxy,
        }
    }
}

impl Confined {
    fn bare(start: &Start<'_>) -> Self {
        Self {
            program: start.program.to_owned(),
            arguments: start.arguments.to_vec(),
            environment: start.environment.clone(),
            network: Network::Off,
            level: Level::None,
            leaving: notes::LEAVING,
            watch: None,
            stand_ins: Vec::new(),
            proxy: None,
            _outside: Opened::default(),
            _scratch: None,
        }
    }

    /// Also sets variables that somebody has chosen for the child, keys among them.
    ///
    /// What steers programs is refused: bubblewrap, outside, would be steered by it first.
    pub fn giving(mut self, set: &[(String, String)]) -> io::Result<Self> {
        if let (true, Some((name, _))) =
            (self.level != Level::None, set.iter().find(|(name, _)| variables::steers(name)))
        {
            return Err(io::Error::other(format!(
                "`{name}` makes programs load something, and cannot be set in the sandbox"
            )));
        }
        self.environment = self.environment.with(set);
        Ok(self)
    }

    /// Has whoever meets a wall told another way out.
    #[must_use]
    pub(crate) fn left_by(self, leaving: &'static str) -> Self {
        Self { leaving, ..self }
    }

    /// Returns the program to start.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns its arguments.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Returns its environment: this and nothing else.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns who looks at what the child and its kin use.
    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    /// Returns what to say of the walls, when no process of the child is left, and puts aside what it
    /// made that steers later runs.
    pub(crate) fn notes(&self, texts: &[&str], exceeded: Option<Exceeded>) -> Vec<String> {
        if self.level == Level::None {
            return Vec::new();
        }
        let mut said = Vec::new();
        said.extend(exceeded.map(|what| format!("The command ran in a sandbox: {what}.")));
        let traffic = self.proxy.as_ref().map_or_else(Traffic::default, Proxy::traffic);
        said.extend(notes::of(texts, self.level, &self.network, &traffic, self.leaving));
        let aside: Vec<_> = self.stand_ins.iter().flat_map(StandIns::put_aside).collect();
        for (was, is) in aside.iter().take(MOST_TOLD) {
            said.push(format!(
                "`{}` steers what runs later, and a command may make it only if it names it: it was put \
                 aside as `{}`.",
                was.display(),
                is.display()
            ));
        }
        if let Some(more) = aside.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
            said.push(format!("So were {more} more."));
        }
        if !traffic.reached.is_empty() {
            let hosts: Vec<_> = traffic.reached.iter().map(|host| format!("`{host}`")).collect();
            said.push(format!("It reached {}.", hosts.join(", ")));
        }
        said
    }
}

/// Looks for what is guarded in each root of a view, and for the folders above it.
fn guarded_roots(view: &View, stand_ins: &mut [StandIns], launcher: &Path) -> Vec<GuardedRoot> {
    let guarded = |root: &Root| {
        let mut tree = GuardedTree::find(&root.source);
        let made = stand_ins.iter().flat_map(StandIns::made).cloned();
        let more = made.chain([launcher.to_owned()]);
        let more = more.filter(|path| path.starts_with(&root.source));
        tree.found.extend(more.map(Guarded::protected));
        let own = view.own_in(root).into_iter().map(Guarded::protected);
        let pinned: Vec<_> = tree.found.iter().cloned().chain(own).collect();
        let pins = if root.is_fixed {
            Pins::default()
        } else {
            Pins::find(&root.source, &pinned, &view.moved_in(root))
        };
        for it in stand_ins.iter_mut().filter(|it| it.root() == root.source) {
            it.remember(&tree, &pins.left_out, view.only_git);
        }
        GuardedRoot { guarded: tree.found, pins }
    };
    view.roots.iter().map(guarded).collect()
}

fn as_words(order: &Order, start: &Start<'_>) -> io::Result<Vec<String>> {
    let program = start.program.to_str().ok_or_else(|| io::Error::other("its path is not text"))?;
    let mut words = vec![serde_json::to_string(order)?, program.to_owned()];
    words.extend_from_slice(start.arguments);
    Ok(words)
}
