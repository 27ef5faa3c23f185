//! How the program of a server is confined: by its own declaration, which a person has seen.

use std::io;
use std::path::{Path, PathBuf};

use super::declaration::{ANY_HOST, McpProgramDeclaration, McpServerDeclaration};
use super::{cache, pin};
use crate::files::workspace::Workspace;
use crate::machine::Environment;
use crate::sandbox::{
    ChildView, CommandSpec, IsolationLevel, NetworkAccess, Sandbox, SandboxedCommand,
};

/// What the programs of MCP servers are confined by.
#[derive(Clone, Debug)]
pub struct McpConfinement {
    /// Where they run.
    pub sandbox: Sandbox,
    /// Whether one that cannot be held, or asks not to be, is refused.
    pub required: bool,
    /// Where our own state is, which none of them sees.
    pub own: Vec<PathBuf>,
}

impl McpConfinement {
    /// Returns that they run as they are.
    pub fn none() -> Self {
        Self { sandbox: Sandbox::off(), required: false, own: Vec::new() }
    }

    /// Says what a server can do here, for a person who is to consent to it.
    pub fn describe_confinement(&self, declared: &McpServerDeclaration) -> String {
        let McpServerDeclaration::Program(program) = declared else {
            return "It runs elsewhere: what it does there is not held by the sandbox.".to_owned();
        };
        if !program.sandbox {
            return "It runs OUTSIDE THE SANDBOX: it can do anything you can, which is to read your keys and to \
                    approve calls in your place."
                .to_owned();
        }
        let files =
            if program.writes { "changes files of the workspace" } else { "changes no files" };
        let hosts = match (self.sandbox.level(), network(program)) {
            (IsolationLevel::None, _) => {
                return "There is NO SANDBOX here: it can do anything you can, which is to read your keys and to \
                        approve calls in your place."
                    .to_owned();
            }
            (IsolationLevel::Fence, _) | (_, NetworkAccess::Off) => "reaches no network".to_owned(),
            (_, NetworkAccess::Hosts(hosts)) => format!("reaches {}", hosts.join(", ")),
            (_, NetworkAccess::Public) => "reaches any public host".to_owned(),
        };
        let keys = match self.sandbox.level() {
            IsolationLevel::Fence => " Keys within the workspace are not hidden from it.",
            IsolationLevel::None | IsolationLevel::View | IsolationLevel::Full => "",
        };
        format!("It runs in the sandbox: it {files} and {hosts}.{keys}")
    }

    /// Returns how a program is started. Looks at the disk.
    pub(super) async fn confined(
        &self,
        program: &McpProgramDeclaration,
        root: &Path,
        environment: &Environment,
    ) -> io::Result<SandboxedCommand> {
        let (this, program, root) = (self.clone(), program.clone(), root.to_owned());
        let environment = environment.clone();
        let confining =
            tokio::task::spawn_blocking(move || this.confine(&program, &root, &environment));
        confining.await.map_err(io::Error::other)?
    }

    fn confine(
        &self,
        declared: &McpProgramDeclaration,
        root: &Path,
        environment: &Environment,
    ) -> io::Result<SandboxedCommand> {
        let sandbox = if declared.sandbox { self.sandbox.clone() } else { Sandbox::off() };
        if self.required && !sandbox.level().holds() {
            let why = if declared.sandbox { "there is none" } else { "it asks to run outside" };
            return Err(io::Error::other(format!("the sandbox is required here, and {why}")));
        }
        let missing = || io::Error::new(io::ErrorKind::NotFound, "there is no such program");
        let program = environment.find_program(&declared.command, root).ok_or_else(missing)?;
        let start =
            CommandSpec { program: &program, arguments: &declared.args, cwd: root, environment };
        let home = environment.get("HOME").map(Path::new);
        let workspace = Workspace::new([root.to_owned()]).map_err(io::Error::other)?;
        let workspace = workspace.keeping_out_of(self.own.iter().cloned());
        // What is started was consented to, wherever it lies.
        let files: Vec<_> =
            [program.clone()].into_iter().chain(pin::words(declared, root)).collect();
        let view = ChildView::for_workspace(&workspace, home)
            .for_long_running()
            .with_visible_files(&files);
        let view = view.with_network(network(declared));
        let view = if declared.writes { view } else { view.with_read_only_roots() };
        let mut set = Vec::new();
        let view = match cache::cache_for_command(&declared.command, environment) {
            Some(cache) if sandbox.level().holds() => {
                set = cache.variables(&network(declared));
                cache.folders.iter().fold(view, |view, folder| view.with_borrowed_folder(folder))
            }
            _ => view,
        };
        // What the declaration sets counts more.
        set.extend(declared.env.clone());
        sandbox.confine(&view, &start)?.with_variables(&set)
    }
}

fn network(program: &McpProgramDeclaration) -> NetworkAccess {
    if program.hosts.iter().any(|host| host == ANY_HOST) {
        return NetworkAccess::Public;
    }
    match &program.hosts[..] {
        [] => NetworkAccess::Off,
        hosts => NetworkAccess::Hosts(hosts.to_vec()),
    }
}
