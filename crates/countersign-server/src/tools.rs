//! Tools over REST: which there are, what was done with them, and calls that are run elsewhere.

pub(crate) mod available;
pub(crate) mod calls;
pub(crate) mod executions;
mod keeping;
pub(crate) mod lease;
pub(crate) mod preimage;
pub(crate) mod result;
pub(crate) mod view;

use std::path::Path;

use countersign_core::{Approval, Executor};
use countersign_tools::{ClientRoot, ClientSide, Environment, Toolbox};

use crate::app::App;
use crate::error::ApiError;
use crate::projects::Place;
use crate::segments::{execution_id, unknown_execution};

/// Returns the tools of a run, by who runs them.
pub(crate) fn toolbox(app: &App, (project, workspace): &Place, executor: Executor) -> Toolbox {
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
async fn own(app: &App, (project, _): &Place, tool: &str) -> Result<Approval, ApiError> {
    let found = app.gate.store().execution(&project.id, execution_id(tool)?).await?;
    found.ok_or_else(|| unknown_execution(tool))
}
