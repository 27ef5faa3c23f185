//! Serving: from a listener to the last open socket.

use std::future::Future;
use std::time::Duration;

use countersign_gate::{StoreError, after};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::app::{App, RunDefaults, ServerConfig};
use crate::connections::{ConnectionLimits, ConnectionTable, serve_connections};
use crate::guard::Guard;
use crate::router::router;
use crate::{body, membership, runs};

/// How long what runs gets to come to its end when the server is to stop.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server, ready to listen.
pub struct Server {
    config: ServerConfig,
    body_patience: Duration,
    connection_limits: ConnectionLimits,
    run_defaults: RunDefaults,
}

/// Why a server did not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Its records could not be made ready.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The network said no.
    #[error("could not serve")]
    Io(#[from] std::io::Error),
}

/// Returns when connections have had their time to end: one that reads nothing would stay for ever.
async fn overdue(app: &App) {
    app.stopping.cancelled().await;
    let clock = app.gate.clock();
    clock.sleep_until(after(clock.now(), PATIENCE)).await;
}

impl Server {
    /// Returns a server of these parts.
    pub fn new(config: ServerConfig) -> Self {
        let connection_limits = ConnectionLimits::default();
        let run_defaults = RunDefaults::default();
        Self { config, body_patience: body::PATIENCE, connection_limits, run_defaults }
    }

    /// Sets what runs of the server's own loop are given unless they say otherwise.
    #[must_use]
    pub fn with_run_defaults(self, run_defaults: RunDefaults) -> Self {
        Self { run_defaults, ..self }
    }

    /// Sets how long the body of a request may take to come.
    #[must_use]
    pub fn with_body_patience(self, body_patience: Duration) -> Self {
        Self { body_patience, ..self }
    }

    /// Sets how many connections there may be, and how long they may keep the server waiting.
    #[must_use]
    pub fn with_connection_limits(self, connection_limits: ConnectionLimits) -> Self {
        Self { connection_limits, ..self }
    }

    /// Serves until `stop` is done, then closes sockets, leaves the runs as they stand and returns.
    ///
    /// Runs go on where they were left, by this server's next start or another one on the same data.
    pub async fn run(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let address = listener.local_addr()?;
        let gate = self.config.gate.clone();
        gate.join().await?;
        gate.recover().await?;
        let now = gate.clock().now();
        for (project, _) in &self.config.workspaces {
            gate.store().keep_project(project.clone(), now).await?;
        }
        let stopping = CancellationToken::new();
        let identity = gate.server_identity().await?;
        let (patience, defaults) = (self.body_patience, self.run_defaults);
        let app = App::new(self.config, address, identity, patience, defaults, stopping.clone());
        app.projects.load().await?;
        // Before anybody is served: a client that comes finds its run going on.
        runs::resume_left(&app).await?;
        gate.keep_membership();
        let among_others = tokio::spawn(membership::keep(app.clone()));
        let ending = app.clone();
        let graceful = async move {
            stop.await;
            // Sockets and runs first: an open socket would hold the server for ever.
            stopping.cancel();
            ending.runs.tasks.close();
        };
        let router = router(app.clone(), Guard::new(address));
        let table = ConnectionTable::new(self.connection_limits);
        let clock = gate.clock().clone();
        tokio::select! {
            () = serve_connections(listener, router, table, clock, graceful) => {}
            () = overdue(&app) => tracing::warn!("some connections did not end in time"),
        }
        if tokio::time::timeout(PATIENCE, app.runs.tasks.wait()).await.is_err() {
            tracing::warn!("some calls did not end in time; they will be said to be interrupted");
            app.runs.break_off();
            let _ = tokio::time::timeout(PATIENCE, app.runs.tasks.wait()).await;
        }
        among_others.abort();
        // Who cannot say goodbye is taken for dead a little later.
        let _ = tokio::time::timeout(PATIENCE, gate.leave()).await;
        Ok(())
    }
}
