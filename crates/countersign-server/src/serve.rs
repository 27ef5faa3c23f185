//! Serving: from a listener to the last open socket.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use countersign_gate::{StoreError, time_after};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::app::{App, RunDefaults, ServerConfig};
use crate::connections::{ConnectionLimits, ConnectionTable, serve_connections};
use crate::guard::HostGuard;
use crate::hook_spool::HookSpool;
use crate::host_names::HostNames;
use crate::router::router;
use crate::sign_in::LocalCredential;
use crate::{body, hook_spool, membership, runs};

/// How a server is reached, and what it serves beside its parts.
#[derive(Default)]
struct ServerOptions {
    host_names: Arc<HostNames>,
    /// What the commands of this machine come in with.
    local: Option<LocalCredential>,
    /// Where hooks leave word of the calls they see.
    hook_spool: Option<HookSpool>,
}

/// How long what runs gets to come to its end when the server is to stop.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server, ready to listen.
pub struct Server {
    config: ServerConfig,
    body_patience: Duration,
    connection_limits: ConnectionLimits,
    place: ServerOptions,
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
async fn wait_for_stop_grace(app: &App) {
    app.stopping.cancelled().await;
    let clock = app.gate.clock();
    clock.sleep_until(time_after(clock.now(), PATIENCE)).await;
}

impl Server {
    /// Returns a server of these parts.
    pub fn new(config: ServerConfig) -> Self {
        let connection_limits = ConnectionLimits::default();
        let (place, run_defaults) = (ServerOptions::default(), RunDefaults::default());
        Self { config, body_patience: body::PATIENCE, connection_limits, place, run_defaults }
    }

    /// Sets the names that the server answers to beside its own addresses.
    #[must_use]
    pub fn with_host_names(mut self, names: HostNames) -> Self {
        self.place.host_names = Arc::new(names);
        self
    }

    /// Lets the commands of this machine in, while the server runs.
    #[must_use]
    pub fn with_local_credential(mut self, local: LocalCredential) -> Self {
        self.place.local = Some(local);
        self
    }

    /// Records the calls that hooks tell of in a spool.
    #[must_use]
    pub fn with_hook_spool(mut self, spool: HookSpool) -> Self {
        self.place.hook_spool = Some(spool);
        self
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
            gate.store().register_project(project.clone(), now).await?;
        }
        let stopping = CancellationToken::new();
        let identity = gate.server_identity().await?;
        let ServerOptions { host_names, local, hook_spool } = self.place;
        let named = (host_names.clone(), local);
        let (patience, defaults) = (self.body_patience, self.run_defaults);
        let app =
            App::new(self.config, address, identity, patience, defaults, stopping.clone(), named);
        app.projects.load().await?;
        // Before anybody is served: a client that comes finds its run going on.
        runs::resume_abandoned(&app).await?;
        gate.spawn_membership_watch();
        let among_others = tokio::spawn(membership::follow_membership(app.clone()));
        let recording = hook_spool.map(|it| tokio::spawn(hook_spool::record(app.clone(), it)));
        let ending = app.clone();
        let graceful = async move {
            stop.await;
            // Sockets and runs first: an open socket would hold the server for ever.
            stopping.cancel();
            ending.runs.tasks.close();
        };
        let router = router(app.clone(), HostGuard::new(address, host_names));
        let table = ConnectionTable::new(self.connection_limits);
        let clock = gate.clock().clone();
        tokio::select! {
            () = serve_connections(listener, router, table, clock, graceful) => {}
            () = wait_for_stop_grace(&app) => tracing::warn!("some connections did not end in time"),
        }
        if tokio::time::timeout(PATIENCE, app.runs.tasks.wait()).await.is_err() {
            tracing::warn!("some calls did not end in time; they will be said to be interrupted");
            app.runs.abort_all();
            let _ = tokio::time::timeout(PATIENCE, app.runs.tasks.wait()).await;
        }
        among_others.abort();
        if let Some(recording) = recording {
            // What is left of it is recorded by the next server.
            let _ = tokio::time::timeout(PATIENCE, recording).await;
        }
        // Who cannot say goodbye is taken for dead a little later.
        let _ = tokio::time::timeout(PATIENCE, gate.leave()).await;
        Ok(())
    }
}
