//! The child of a call: the one place that says how what a tool starts is confined.

use std::path::{Path, PathBuf};

use countersign_core::PermitTerms;
use tokio_util::sync::CancellationToken;

use crate::files::workspace::Workspace;
use crate::machine::Environment;
use crate::sandbox::{ChildView, CommandSpec, Sandbox, SandboxedCommand};
use crate::tool::blocking::blocking;
use crate::tool_error::ToolError;

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
    pub(crate) fn view(&self, workspace: &Workspace, permit: &PermitTerms) -> ChildView {
        let home = self.environment.get("HOME").map(Path::new);
        ChildView::for_workspace(workspace, home)
            .with_granted_effects(permit.effects())
            .with_outside_files(permit.outside_files())
    }

    /// Returns how it is started inside a sandbox.
    pub(crate) async fn confine(
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
