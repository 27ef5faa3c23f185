//! The tools of a run, by who runs them.

use std::path::Path;

use countersign_core::Executor;
use countersign_tools::{ClientRoot, ClientSide, Environment, Toolbox};

use crate::app::App;
use crate::project_registry::ProjectHandle;

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
