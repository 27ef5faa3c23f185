//! The sandbox: where children run, so that what they do stays within what was judged.
//!
//! A child gets a view of the machine made by bubblewrap ([`ChildView`]), in which Landlock and seccomp are
//! a second fence, with limits that the kernel and a watch keep. What the sandbox is worth on this
//! machine is its [`IsolationLevel`], found by trying to get out ([`Sandbox::probe`]). [`Sandbox::confine`]
//! turns a command line into one that runs inside: for Bash, for MCP servers, for any child.

mod bwrap_args;
mod capabilities;
#[cfg(feature = "mcp")]
mod companion;
mod confine;
mod denial_notes;
mod enter;
mod guarded_paths;
#[cfg(feature = "sandbox")]
mod landlock;
mod launch_spec;
mod mounts;
mod outside_files;
mod overlay;
mod pinned_folders;
mod placeholders;
mod port_forward;
mod probe;
mod proxy;
pub(crate) mod rehearsal;
mod sandboxed_command;
mod scratch;
#[cfg(feature = "sandbox")]
mod seccomp;
mod variables;
mod view;

use std::fmt;
use std::fs::{self, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

#[cfg(feature = "mcp")]
pub(crate) use companion::CompanionProcess;
pub(crate) use enter::NOT_SET_UP;
pub use enter::{EnterError, enter};
pub use sandboxed_command::{CommandSpec, SandboxedCommand};
pub use view::{ChildView, NetworkAccess};

use crate::files::workspace::Workspace;
use crate::machine::Environment;
use crate::machine::process::{self, ProcessLaunch, ResourceLimits};
use probe::ProbeFolder;

/// Where bubblewrap is. Never looked up in a `PATH`, which may lead into a workspace.
const BUBBLEWRAP: [&str; 3] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// How long a probe may take.
const PROBE_LIMIT: Duration = Duration::from_secs(20);

/// What the sandbox is worth, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IsolationLevel {
    /// Nothing: a command can do what its user can.
    None,
    /// Landlock and seccomp alone: no writing outside, no network, our own state hidden. What is
    /// protected or secret in the workspace is not guarded.
    Fence,
    /// A view by bubblewrap and seccomp, without Landlock.
    View,
    /// Everything.
    Full,
}

impl IsolationLevel {
    /// Returns whether a command is held to what its workspace and its call give it.
    pub fn holds(self) -> bool {
        self >= Self::View
    }
}

impl fmt::Display for IsolationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Fence => "Landlock and seccomp, without bubblewrap",
            Self::View => "bubblewrap and seccomp, without Landlock",
            Self::Full => "bubblewrap, Landlock and seccomp",
        })
    }
}

/// What a sandbox is made of.
#[derive(Clone, Debug)]
pub struct SandboxSetup {
    /// The words that start a program whose `main` calls [`enter`] with the words that follow them:
    /// its path first.
    pub launcher: Vec<String>,
    /// A folder of our own for what the sandbox needs. It is made, and hidden from every child.
    pub state: PathBuf,
    /// How much children may use.
    pub limits: ResourceLimits,
    /// Bubblewrap; nothing to look for it where systems have it.
    pub bubblewrap: Option<PathBuf>,
    /// The best level to try, below what there is only in tests.
    pub at_most: IsolationLevel,
}

impl SandboxSetup {
    /// Returns the setup with this launcher and folder, and all else as usual.
    pub fn new(launcher: Vec<String>, state: PathBuf) -> Self {
        let limits = ResourceLimits::of_machine();
        Self { launcher, state, limits, bubblewrap: None, at_most: IsolationLevel::Full }
    }
}

/// A sandbox that children are started in.
#[derive(Clone, Debug)]
pub struct Sandbox(Arc<SandboxInner>);

#[derive(Debug)]
struct SandboxInner {
    level: IsolationLevel,
    /// Why it is not the best.
    why: Option<String>,
    launcher: Vec<String>,
    bubblewrap: PathBuf,
    state: PathBuf,
    limits: ResourceLimits,
    stand_ins: Arc<placeholders::PlaceholderRoots>,
}

impl Sandbox {
    /// Returns no sandbox: children run as they are.
    pub fn off() -> Self {
        // One for all: whoever only judges calls makes many tools.
        static OFF: LazyLock<Sandbox> = LazyLock::new(|| {
            let mut inner = SandboxInner::new(
                &SandboxSetup::new(Vec::new(), PathBuf::new()),
                IsolationLevel::None,
            );
            inner.why = Some("it is switched off".to_owned());
            Sandbox(Arc::new(inner))
        });
        OFF.clone()
    }

    /// Returns no sandbox, with a launcher that can still run what nobody was asked about.
    pub fn switched_off(setup: &SandboxSetup) -> Self {
        let mut inner = SandboxInner::new(setup, IsolationLevel::None);
        inner.why = Some("it is switched off".to_owned());
        Self(Arc::new(inner))
    }

    /// Returns the words that start the launcher outside; none where there is no such program.
    pub(crate) fn launcher(&self) -> &[String] {
        &self.0.launcher
    }

    /// Finds out what a sandbox is worth here, by really trying, and returns the best that holds.
    ///
    /// A build without the feature `sandbox` has none, whatever the launcher is.
    pub async fn probe(setup: SandboxSetup) -> Self {
        let mut why = None;
        if !cfg!(feature = "sandbox") {
            let mut inner = SandboxInner::new(&setup, IsolationLevel::None);
            inner.why = Some(EnterError::LeftOut.to_string());
            return Self(Arc::new(inner));
        }
        for level in [IsolationLevel::Full, IsolationLevel::View, IsolationLevel::Fence] {
            if level > setup.at_most {
                continue;
            }
            let tried = Self(Arc::new(SandboxInner::new(&setup, level)));
            let found = tried.leak().await.unwrap_or_else(|error| Some(error.to_string()));
            match found {
                None => {
                    let mut inner = SandboxInner::new(&setup, level);
                    inner.why = why;
                    return Self(Arc::new(inner));
                }
                // What keeps it from being the best is what there is to mend.
                Some(leak) => drop(why.get_or_insert(leak)),
            }
        }
        let mut inner = SandboxInner::new(&setup, IsolationLevel::None);
        inner.why = why;
        Self(Arc::new(inner))
    }

    /// Returns what it is worth.
    pub fn level(&self) -> IsolationLevel {
        self.0.level
    }

    /// Returns why it is not worth more, where it is not.
    pub fn why(&self) -> Option<&str> {
        self.0.why.as_deref()
    }

    /// Returns a folder of our own for what must be gone afterwards.
    pub(crate) fn room(&self) -> PathBuf {
        self.0.state.join("rehearsals")
    }

    /// Lets a child try to get out, and returns how it did.
    async fn leak(&self) -> io::Result<Option<String>> {
        if self.0.level.holds() && !self.0.bubblewrap.exists() {
            return Ok(Some("bubblewrap is not installed".to_owned()));
        }
        let sandbox = self.clone();
        let made = tokio::task::spawn_blocking(move || sandbox.prepare_probe()).await;
        let (ground, confined) = made.map_err(io::Error::other)??;
        let arguments: Vec<_> = confined.arguments().iter().map(String::as_str).collect();
        let launch = ProcessLaunch {
            program: confined.program(),
            arguments: &arguments,
            cwd: Path::new("/"),
            environment: confined.environment(),
            time_limit: PROBE_LIMIT,
            keep: 4096,
            listener: None,
        };
        let ended = process::run(launch, &CancellationToken::new()).await?;
        let (out, err) = ended.texts(4096);
        Ok(ground.leak(if out.trim().is_empty() { &err } else { &out }))
    }

    fn prepare_probe(&self) -> io::Result<(ProbeFolder, SandboxedCommand)> {
        self.0.furnish()?;
        self.0.stand_ins.clear();
        let ground = ProbeFolder::make(&self.0.state)?;
        let workspace = Workspace::new([ground.workspace()]).map_err(io::Error::other)?;
        let workspace = workspace.keeping_out_of([ground.hidden()]);
        let launcher = self.0.launcher_inside();
        let Some((program, rest)) = launcher.split_first() else {
            return Err(io::Error::other("there is no launcher"));
        };
        let mut arguments = rest.to_vec();
        arguments.extend([probe::PROBE.to_owned(), ground.attempts()?]);
        let cwd = ground.workspace();
        let start = CommandSpec {
            program: Path::new(program),
            arguments: &arguments,
            cwd: &cwd,
            environment: &Environment::default(),
        };
        let confined = self.confine(&ChildView::for_workspace(&workspace, None), &start)?;
        Ok((ground, confined))
    }
}

impl SandboxInner {
    fn new(setup: &SandboxSetup, level: IsolationLevel) -> Self {
        let SandboxSetup { launcher, state, limits, bubblewrap, at_most: _ } = setup.clone();
        let found = BUBBLEWRAP.iter().map(PathBuf::from).find(|it| it.exists());
        let bubblewrap = bubblewrap.or(found).unwrap_or_else(|| PathBuf::from(BUBBLEWRAP[0]));
        let stand_ins = Arc::new(placeholders::PlaceholderRoots::new(state.join("stand-ins")));
        Self { level, why: None, launcher, bubblewrap, state, limits, stand_ins }
    }

    /// Makes the folder of our own and the file that nobody can read.
    fn furnish(&self) -> io::Result<()> {
        fs::create_dir_all(&self.state)?;
        fs::set_permissions(&self.state, Permissions::from_mode(0o700))?;
        let nothing = self.nothing();
        if !nothing.exists() {
            OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o000)
                .open(&nothing)?;
        }
        fs::set_permissions(&nothing, Permissions::from_mode(0o000))
    }

    /// Returns the file that is shown in the place of every hidden one.
    fn nothing(&self) -> PathBuf {
        self.state.join("nothing")
    }

    /// Returns the launcher's words as a child says them.
    fn launcher_inside(&self) -> Vec<String> {
        let mut words = self.launcher.clone();
        if let (true, Some(program)) = (self.level.holds(), words.first_mut()) {
            bwrap_args::LAUNCHER.clone_into(program);
        }
        words
    }
}
