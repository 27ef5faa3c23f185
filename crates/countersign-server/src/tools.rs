//! Tools over REST: which there are, what was done with them, and calls that are run elsewhere.

pub(crate) mod available;
mod call_backups;
pub(crate) mod calls;
pub(crate) mod executions;
pub(crate) mod lease;
pub(crate) mod preimage;
pub(crate) mod result;
pub(crate) mod view;

use std::path::Path;

use countersign_core::{Execution, Executor};
use countersign_tools::{ClientRoot, ClientSide, Environment, Toolbox};

use crate::app::App;
use crate::error::ApiError;
use crate::path_params::{execution_id, unknown_execution};
use crate::projects::ProjectHandle;

/// Returns the tools of a run, by who runs them.
pub(crate) fn toolbox(
    app: &App,
    (project, workspace): &ProjectHandle,
    executor: Executor,
) -> Toolbox {
    match executor {
        // The CLI has its own.
        Executor::Local | Executor::ClaudeCli => (app.toolbox)(workspace),
        Executor::Client | Executor::Caller => {
            let side = ClientSide::from(ClientRoot::new(Path::new(&project.root)));
            // They are judged here and run there: what runs has the client's environment.
            Toolbox::client(&side, Environment::default())
        }
    }
}

/// Returns a call of a project.
async fn find_execution(
    app: &App,
    (project, _): &ProjectHandle,
    tool: &str,
) -> Result<Execution, ApiError> {
    let found = app.gate.store().execution(&project.id, execution_id(tool)?).await?;
    found.ok_or_else(|| unknown_execution(tool))
}
