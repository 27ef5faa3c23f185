//! What runs here are equipped with: tools, a sandbox around them, and the way back.

use std::sync::Arc;
use std::time::Duration;

use countersign_gate::{Clock, SystemClock};
use countersign_tools::{
    BackupLimits, BackupStore, Bash, Diagnostics, Environment, McpServerDeclaration, McpServers,
    Sandbox, TodoList, TodoRead, TodoWrite, Toolbox, TrustStatus, Workspace,
};

use crate::cli::ServerLocationArgs;
use crate::{data_paths, output};

/// How often contents of files that were kept for too long are taken away.
const SWEEP: Duration = Duration::from_hours(1);

/// Returns what makes the tools of a workspace, anew for every run: those of MCP servers as they are
/// trusted then. What agents noted outlives their runs.
pub(super) fn toolboxes(
    environment: Environment,
    sandbox: Sandbox,
    servers: Arc<McpServers>,
) -> Arc<dyn Fn(&Workspace) -> Toolbox + Send + Sync> {
    let todos = TodoList::default();
    Arc::new(move |workspace| {
        let bash = Bash::new(workspace.clone(), environment.clone());
        let diagnostics = Diagnostics::new(workspace.clone(), environment.clone());
        let toolbox = Toolbox::full(workspace, environment.clone())
            .with(bash.with_sandbox(sandbox.clone()))
            .with(diagnostics.with_sandbox(sandbox.clone()))
            .with(TodoWrite::new(workspace.clone(), todos.clone()))
            .with(TodoRead::new(workspace.clone(), todos.clone()));
        match workspace.roots().first() {
            Some(root) => servers.add_to(toolbox, root),
            None => toolbox,
        }
    })
}

/// Opens the folder where contents of files are kept before calls change them, and sees to it that
/// nothing stays there for too long. Without it nothing can be undone, but all else can be done.
pub(super) fn open_backup_store(common: &ServerLocationArgs) -> Option<BackupStore> {
    let folder = data_paths::data_path(common.data.as_deref())?.join("kept");
    let keep = BackupStore::open(&folder, BackupLimits::default()).map_err(|error| {
        output::note(&format!(
            "Nothing can be undone: {} cannot be used: {error}",
            folder.display()
        ));
    });
    let keep = keep.ok()?;
    let sweeper = keep.clone();
    tokio::spawn(async move {
        let mut hourly = tokio::time::interval(SWEEP);
        loop {
            hourly.tick().await;
            let keep = sweeper.clone();
            let now = SystemClock.now().into();
            let swept = tokio::task::spawn_blocking(move || keep.sweep(now)).await;
            if let Ok(Err(error)) = swept {
                tracing::warn!(%error, "old contents of files could not be taken away");
            }
        }
    });
    Some(keep)
}

const REFUSED: &str = "asks to run outside the sandbox, which is required here: it is not used";

fn leaves(declared: &McpServerDeclaration) -> bool {
    matches!(declared, McpServerDeclaration::Program(program) if !program.sandbox)
}

/// Tells of servers that a person has to look at.
pub(super) fn tell_of_servers(servers: &McpServers, workspace: &Workspace) {
    let Some(root) = workspace.roots().first() else { return };
    match servers.trust_statuses(root) {
        Ok(found) => {
            for (name, declared, standing) in found {
                if standing != TrustStatus::Pinned {
                    output::note(&format!(
                        "The MCP server `{name}` is not used until you have looked at it: countersign \
                         mcp trust {name} --root {}",
                        root.display()
                    ));
                } else if leaves(&declared) {
                    let required = servers.confinement().required;
                    output::note(&format!(
                        "The MCP server `{name}` {}.",
                        if required {
                            REFUSED
                        } else {
                            "runs outside the sandbox, as you have trusted it"
                        }
                    ));
                }
            }
        }
        Err(error) => output::note(&format!("No MCP server is used: {error}")),
    }
}
