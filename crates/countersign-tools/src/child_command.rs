//! The child of a call: the one place that says how what a tool starts is confined.

use std::path::{Path, PathBuf};

use countersign_core::Permit;
use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::process::Environment;
use crate::sandbox::{ChildView, CommandSpec, Sandbox, SandboxedCommand};
use crate::tool::ToolError;
use crate::workspace::Workspace;

/// What a tool is about to start.
#[derive(Clone, Debug)]
pub(crate) struct ChildCommand {
    /// By its whole path.
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) environment: Environment,
}

impl ChildCommand {
    /// Returns what it gets to see and change: the workspace, and what was said yes to with the call.
    pub(crate) fn view(&self, workspace: &Workspace, permit: &Permit) -> ChildView {
        let home = self.environment.get("HOME").map(Path::new);
        ChildView::for_workspace(workspace, home)
            .with_granted_effects(permit.effects())
            .with_outside_files(permit.outside_files())
    }

    /// Returns how it is started inside a sandbox.
    pub(crate) async fn confined(
        self,
        sandbox: &Sandbox,
        view: ChildView,
        cancel: &CancellationToken,
    ) -> Result<SandboxedCommand, ToolError> {
        let sandbox = sandbox.clone();
        blocking(cancel, move |_| {
            let Self { program, arguments, cwd, environment } = &self;
            let start = CommandSpec { program, arguments, cwd, environment };
            // Without its sandbox it does not run: nobody has said that it may.
            sandbox.confine(&view, &start).map_err(|cause| ToolError::Io {
                doing: "run",
                path: program.display().to_string(),
                cause,
            })
        })
        .await
    }
}

/// Returns the program that a command means, as it will be started: one with a `/` from a folder, any
/// other from `PATH`.
pub(crate) fn program(command: &str, from: &Path, environment: &Environment) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(from.join(command)).filter(|path| path.is_file());
    }
    let path = environment.get("PATH").unwrap_or_default();
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(command))
        .find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}
