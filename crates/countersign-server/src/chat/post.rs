//! The post of a client: as long as its stream is there it queues for the project's calls, and claims
//! them when it is its turn.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_core::{Approval, ProjectId};
use countersign_gate::{ExecutorCandidate, Role, StoreError, after, new_id};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::hub::Hub;
use crate::access::Caller;
use crate::app::App;
use crate::error::ApiError;
use crate::tools::lease::SHORT_LEASE;

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
pub(crate) struct Client {
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

impl Client {
    /// Returns the client that says of itself who it is: by a process, by a name, or not at all.
    pub(crate) fn of(
        caller: &Caller,
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
    fn period(&self, call: &Approval) -> Duration {
        match self.kind {
            ClientKind::Process => SHORT_LEASE,
            ClientKind::Named | ClientKind::Anonymous => {
                let own = call.call.input.get("timeout").and_then(Value::as_u64);
                Duration::from_secs(own.unwrap_or(USUAL).saturating_add(GRACE))
            }
        }
    }
}

/// The streams of clients that named themselves, each with what ends it.
#[derive(Default)]
pub(crate) struct Clients(Mutex<HashMap<(ProjectId, String), CancellationToken>>);

impl Clients {
    /// Notes the stream of a client, and ends the one it had before.
    fn replace(&self, project: &ProjectId, name: &str) -> CancellationToken {
        let mut streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|_, ended| !ended.is_cancelled());
        let ended = CancellationToken::new();
        let key = (project.clone(), name.to_owned());
        if let Some(before) = streams.insert(key, ended.clone()) {
            before.cancel();
        }
        ended
    }
}

/// The place of one stream among those that run calls.
pub(crate) struct Post {
    client: Client,
    ended: CancellationToken,
    listens: watch::Sender<bool>,
    /// What it is to the project's calls, as far as it was not told.
    role: watch::Receiver<ClientRole>,
    // Dropped with the stream: then the next one's turn comes.
    _claiming: AbortOnDropHandle<()>,
}

/// As long as it is there, the other side takes what it is sent.
pub(crate) struct Listening<'a>(&'a watch::Sender<bool>);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

impl Post {
    /// Queues for the calls of a project.
    pub(crate) fn take(app: &App, project: &ProjectId, hub: &Arc<Hub>, client: Client) -> Self {
        let ended = if client.is_named() {
            app.clients.replace(project, client.name())
        } else {
            CancellationToken::new()
        };
        let (listens, is_listening) = watch::channel(false);
        // Who is alone is not told: that it runs the calls is what it came for.
        let (becomes, role) = watch::channel(ClientRole::Executes);
        let claimant = Claimant {
            app: app.clone(),
            project: project.clone(),
            client: client.clone(),
            is_listening,
            becomes,
            approved: hub.approved(),
        };
        let over = ended.clone();
        let claiming = tokio::spawn(async move {
            tokio::select! { () = claimant.claim() => {}, () = over.cancelled() => {} }
        });
        Self { client, ended, listens, role, _claiming: AbortOnDropHandle::new(claiming) }
    }

    pub(crate) fn client(&self) -> &Client {
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
    pub(crate) fn listening(&self) -> Listening<'_> {
        self.listens.send_replace(true);
        Listening(&self.listens)
    }

    /// Returns when the client has opened another stream.
    pub(crate) fn replaced(&self) -> impl Future<Output = ()> + use<> {
        self.ended.clone().cancelled_owned()
    }

    pub(crate) fn is_replaced(&self) -> bool {
        self.ended.is_cancelled()
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        // Lets go of its place among the named ones.
        self.ended.cancel();
    }
}

/// Claims calls for one stream.
struct Claimant {
    app: App,
    project: ProjectId,
    client: Client,
    is_listening: watch::Receiver<bool>,
    becomes: watch::Sender<ClientRole>,
    approved: watch::Receiver<u64>,
}

impl Claimant {
    /// Claims what there is to run whenever it is this client's turn.
    async fn claim(mut self) {
        while self.listens().await {
            let candidate = self.client.candidate();
            let becomes = self.becomes.clone();
            let stands_by = || become_role(&becomes, ClientRole::StandsBy);
            let role = self.app.gate.executor_role(&self.project, &candidate, stands_by).await;
            let worked = match role {
                Ok(role) => {
                    become_role(&self.becomes, ClientRole::Executes);
                    self.work(&role).await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = worked {
                tracing::warn!(%error, "calls could not be given to a client");
                let clock = self.app.gate.clock();
                clock.sleep_until(after(clock.now(), REST)).await;
            }
        }
    }

    /// Claims calls until the role is lost, or the client takes nothing any more.
    async fn work(&mut self, role: &Role) -> Result<(), StoreError> {
        loop {
            // Seen before the look: what is approved meanwhile makes another one.
            self.approved.mark_unchanged();
            let listens = tokio::time::timeout(SILENT, self.listens()).await;
            if !listens.unwrap_or(false) {
                return Ok(());
            }
            let client = self.client.clone();
            if self.app.gate.lend_all(role, |call| client.period(call)).await?.is_none() {
                return Ok(());
            }
            tokio::select! {
                changed = self.approved.changed() => {
                    if changed.is_err() {
                        return Ok(());
                    }
                }
                () = role.is_over() => return Ok(()),
            }
        }
    }

    /// Waits until the other side takes what it is sent; false when the stream is gone.
    async fn listens(&mut self) -> bool {
        self.is_listening.wait_for(|listens| *listens).await.is_ok()
    }
}

fn become_role(becomes: &watch::Sender<ClientRole>, role: ClientRole) {
    becomes.send_if_modified(|now| std::mem::replace(now, role) != role);
}
