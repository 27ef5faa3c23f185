//! The post of a client: as long as its stream is there it queues for the project's calls, and claims
//! them when it is its turn.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::{Execution, ProjectId};
use countersign_gate::{ExecutorCandidate, ExecutorLease, StoreError, new_id, time_after};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::app::App;
use crate::caller::AuthenticatedCaller;
use crate::client_streams::SHORT_LEASE;
use crate::error::ApiError;
use crate::stream_hub::StreamHub;

/// How long a call may take that does not say.
const USUAL: u64 = 60;

/// How much longer the lease is of a client that does not renew it.
const GRACE: u64 = 30;

/// How long one may be silent, with what it was sent not taken, before the next gets its place.
const SILENT: Duration = Duration::from_secs(30);

/// How long to rest after the store failed.
const REST: Duration = Duration::from_secs(1);

/// A client that runs calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExecutingClient {
    /// The name under which calls are lent to it.
    name: String,
    kind: ClientKind,
    /// Whether it answers when it is asked what is on its machine.
    shows_files: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientKind {
    /// A process that named itself, and that knows leases.
    Process,
    /// An executor that named itself, and that knows nothing of them.
    Named,
    /// One connection, which knows nothing of them either.
    Anonymous,
}

/// What a client is to the calls of its project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientRole {
    /// It runs them.
    Executes,
    /// Another one does.
    StandsBy,
}

impl ExecutingClient {
    /// Returns the client that says of itself who it is: by a process, by a name, or not at all.
    pub(crate) fn new(
        caller: &AuthenticatedCaller,
        client_id: Option<String>,
        executor: Option<String>,
        shows_files: bool,
    ) -> Result<Self, ApiError> {
        let name = |what: &str, code: &'static str, name: &str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            if (1..=64).contains(&name.len()) && name.bytes().all(fits) {
                return Ok(caller.holder_name(name));
            }
            let why = format!("`{what}` has 1 to 64 letters, digits, `.`, `_` or `-`");
            Err(ApiError::bad_request(code, why))
        };
        // One of them is enough of a name; both have to be one.
        let executor = executor.map(|it| name("executor", "bad_executor", &it)).transpose()?;
        let process = client_id.map(|it| name("client_id", "bad_client_id", &it)).transpose()?;
        Ok(match (process, executor) {
            (Some(name), _) => Self { name, kind: ClientKind::Process, shows_files },
            (None, Some(name)) => Self { name, kind: ClientKind::Named, shows_files },
            (None, None) => Self {
                // No name that somebody could give has a colon.
                name: format!("connection:{}", new_id::<uuid::Uuid>()),
                kind: ClientKind::Anonymous,
                shows_files: false,
            },
        })
    }

    pub(crate) fn is_named(&self) -> bool {
        self.kind != ClientKind::Anonymous
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn candidate(&self) -> ExecutorCandidate {
        let (client, is_named) = (self.name.clone(), self.is_named());
        ExecutorCandidate { client, is_named, shows_files: self.shows_files }
    }

    /// How long a call is lent to it at first.
    fn lease_period(&self, call: &Execution) -> Duration {
        match self.kind {
            ClientKind::Process => SHORT_LEASE,
            ClientKind::Named | ClientKind::Anonymous => {
                let own = call.call().input.get("timeout").and_then(Value::as_u64);
                Duration::from_secs(own.unwrap_or(USUAL).saturating_add(GRACE))
            }
        }
    }
}

/// The place of one stream among those that run calls.
pub(crate) struct ExecutorSlot {
    client: ExecutingClient,
    ended: CancellationToken,
    listens: watch::Sender<bool>,
    /// What it is to the project's calls, as far as it was not told.
    role: watch::Receiver<ClientRole>,
    // Dropped with the stream: then the next one's turn comes.
    _claiming: AbortOnDropHandle<()>,
}

/// As long as it is there, the other side takes what it is sent.
pub(crate) struct ListeningGuard<'a>(&'a watch::Sender<bool>);

impl Drop for ListeningGuard<'_> {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

impl ExecutorSlot {
    /// Queues for the calls of a project.
    pub(crate) fn join_queue(
        app: &App,
        project: &ProjectId,
        hub: &Arc<StreamHub>,
        client: ExecutingClient,
    ) -> Self {
        let ended = if client.is_named() {
            app.clients.replace(project, client.name())
        } else {
            CancellationToken::new()
        };
        let (listens, is_listening) = watch::channel(false);
        // Who is alone is not told: that it runs the calls is what it came for.
        let (becomes, role) = watch::channel(ClientRole::Executes);
        let claimant = CallClaimer {
            app: app.clone(),
            project: project.clone(),
            client: client.clone(),
            is_listening,
            becomes,
            approved: hub.subscribe_approvals(),
        };
        let over = ended.clone();
        let claiming = tokio::spawn(async move {
            tokio::select! { () = claimant.claim() => {}, () = over.cancelled() => {} }
        });
        Self { client, ended, listens, role, _claiming: AbortOnDropHandle::new(claiming) }
    }

    pub(crate) fn client(&self) -> &ExecutingClient {
        &self.client
    }

    /// Returns where what the client is to the project's calls can be seen.
    pub(crate) fn role(&self) -> watch::Receiver<ClientRole> {
        self.role.clone()
    }

    /// Takes note that the client is told what it is.
    pub(crate) fn tell_role(&mut self) -> ClientRole {
        *self.role.borrow_and_update()
    }

    /// Says that the other side takes what it is sent, until this is dropped.
    pub(crate) fn mark_listening(&self) -> ListeningGuard<'_> {
        self.listens.send_replace(true);
        ListeningGuard(&self.listens)
    }

    /// Returns when the client has opened another stream.
    pub(crate) fn wait_until_replaced(&self) -> impl Future<Output = ()> + use<> {
        self.ended.clone().cancelled_owned()
    }

    pub(crate) fn is_replaced(&self) -> bool {
        self.ended.is_cancelled()
    }
}

impl Drop for ExecutorSlot {
    fn drop(&mut self) {
        // Lets go of its place among the named ones.
        self.ended.cancel();
    }
}

/// Claims calls for one stream.
struct CallClaimer {
    app: App,
    project: ProjectId,
    client: ExecutingClient,
    is_listening: watch::Receiver<bool>,
    becomes: watch::Sender<ClientRole>,
    approved: watch::Receiver<u64>,
}

impl CallClaimer {
    /// Claims what there is to run whenever it is this client's turn.
    async fn claim(mut self) {
        while self.wait_until_listening().await {
            let candidate = self.client.candidate();
            let becomes = self.becomes.clone();
            let stands_by = || become_role(&becomes, ClientRole::StandsBy);
            let role =
                self.app.gate.acquire_executor_lease(&self.project, &candidate, stands_by).await;
            let worked = match role {
                Ok(role) => {
                    become_role(&self.becomes, ClientRole::Executes);
                    self.claim_until_lost(&role).await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = worked {
                tracing::warn!(%error, "calls could not be given to a client");
                let clock = self.app.gate.clock();
                clock.sleep_until(time_after(clock.now(), REST)).await;
            }
        }
    }

    /// Claims calls until the role is lost, or the client takes nothing any more.
    async fn claim_until_lost(&mut self, role: &ExecutorLease) -> Result<(), StoreError> {
        loop {
            // Seen before the look: what is approved meanwhile makes another one.
            self.approved.mark_unchanged();
            let listens = tokio::time::timeout(SILENT, self.wait_until_listening()).await;
            if !listens.unwrap_or(false) {
                return Ok(());
            }
            let client = self.client.clone();
            if self.app.gate.lend_all(role, |call| client.lease_period(call)).await?.is_none() {
                return Ok(());
            }
            tokio::select! {
                changed = self.approved.changed() => {
                    if changed.is_err() {
                        return Ok(());
                    }
                }
                () = role.wait_until_lost() => return Ok(()),
            }
        }
    }

    /// Waits until the other side takes what it is sent; false when the stream is gone.
    async fn wait_until_listening(&mut self) -> bool {
        self.is_listening.wait_for(|listens| *listens).await.is_ok()
    }
}

fn become_role(becomes: &watch::Sender<ClientRole>, role: ClientRole) {
    becomes.send_if_modified(|now| std::mem::replace(now, role) != role);
}
