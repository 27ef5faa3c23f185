//! One connection: a loop over what the client says and what the log tells.
//!
//! Everything is sent from this one task, so a client that reads slowly slows only itself: it falls
//! behind the live hints and catches up from the log.

use countersign_api::approval_request::ApprovalRequest;
use countersign_api::socket::message::{
    MessageBody, MessagePosition, ServerMessage, SystemMessage,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use countersign_core::{ApprovalId, Event, Execution, ProjectId, RunId, SessionId};
use countersign_gate::{LiveEvent, LiveUpdate, LogEntry, LogFollower, LogFollowerItem, StoreError};
use tokio::sync::{Semaphore, mpsc};

use super::inbox::{CrossProjectInbox, InboxReach};
use super::message;
use super::watched_sessions::WatchedSessions;
use crate::app::App;
use crate::call_context::ContextLookup;
use crate::caller::{AuthenticatedCaller, LeastRole};
use crate::error::ApiError;

/// How often a silent client is asked whether it is still there.
const PING: Duration = Duration::from_secs(20);

/// How long one message may take to leave before the client counts as gone.
const SEND: Duration = Duration::from_secs(30);

/// How many requests that wait are read at a time: bounds what one client holds in memory.
const PAGE: usize = 32;

/// How many `approve_all` of one client may be under way.
const BATCHES: usize = 8;

/// The client is gone, or has to go.
pub(super) struct ClientDisconnect;

pub(crate) struct SocketConnection {
    pub(super) app: App,
    pub(super) project: ProjectId,
    pub(super) caller: AuthenticatedCaller,
    pub(super) follow: LogFollower,
    pub(super) inbox: CrossProjectInbox,
    pub(super) watched: WatchedSessions,
    /// Requests that wait and that this client has been shown: none comes twice, and what becomes of
    /// each is told. Bounded by what may wait.
    pub(super) shown: HashSet<ApprovalId>,
    pub(super) latest: Option<SessionId>,
    /// The conversations of the project that waited for a decision when this client came: it may be
    /// one that comes back.
    pub(super) waited: HashSet<SessionId>,
    /// The runs that this client has started and whose end it has not been told yet.
    pub(super) going: HashMap<SessionId, RunId>,
    /// The number at which a client that resumed has seen all that was there when it did.
    pub(super) catching_up: Option<u64>,
    pub(super) batches: PendingBatches,
}

/// What was asked to be approved together and is under way: each answers when it is done.
pub(super) struct PendingBatches {
    pub(super) places: Arc<Semaphore>,
    pub(super) answer: mpsc::Sender<MessageBody>,
    answered: mpsc::Receiver<MessageBody>,
}

impl PendingBatches {
    fn new() -> Self {
        let (answer, answered) = mpsc::channel(BATCHES);
        Self { places: Arc::new(Semaphore::new(BATCHES)), answer, answered }
    }
}

impl SocketConnection {
    /// Makes ready to tell a client what happens from now on.
    pub(crate) async fn open(
        app: App,
        project: ProjectId,
        caller: AuthenticatedCaller,
        reach: InboxReach,
    ) -> Result<Self, ApiError> {
        let inbox = CrossProjectInbox::open(&app, &project, reach).await?;
        let head = app.gate.store().head(&project).await?;
        let follow = app.gate.follow(&project, head).await?;
        Ok(Self {
            app,
            project,
            caller,
            follow,
            inbox,
            watched: WatchedSessions::Own(HashSet::new()),
            shown: HashSet::new(),
            latest: None,
            waited: HashSet::new(),
            going: HashMap::new(),
            catching_up: None,
            batches: PendingBatches::new(),
        })
    }

    /// Serves the client until it leaves or the server stops.
    pub(crate) async fn serve(mut self, mut socket: WebSocket) {
        // An error means that the other side is gone: there is nobody to tell.
        let _ = Box::pin(self.converse(&mut socket)).await;
    }

    async fn converse(&mut self, socket: &mut WebSocket) -> Result<(), ClientDisconnect> {
        let own = self.project.clone();
        self.send_pending_requests(socket, &own).await?;
        self.send_other_projects_pending(socket).await?;
        let stopping = self.app.stopping.clone();
        let mut ping = tokio::time::interval(PING);
        loop {
            tokio::select! {
                said = socket.recv() => match said {
                    Some(Ok(Message::Text(text))) => Box::pin(self.dispatch(socket, &text)).await?,
                    Some(Ok(Message::Binary(_))) => {
                        let why = "commands are JSON text, not binary".to_owned();
                        self.send(socket, MessageBody::error("bad_json", why, None)).await?;
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(ClientDisconnect),
                },
                seen = self.follow.next() => match seen {
                    Some(_) if !self.app.sign_ins.is_still_good(&self.caller).await => {
                        return close(socket, "the token was revoked").await;
                    }
                    Some(Ok(seen)) => self.tell(socket, seen).await?,
                    Some(Err(error)) => return self.close_on_store_error(socket, &error).await,
                    None => return Err(ClientDisconnect),
                },
                elsewhere = self.inbox.next() => match elsewhere {
                    Some(_) if !self.app.sign_ins.is_still_good(&self.caller).await => {
                        return close(socket, "the token was revoked").await;
                    }
                    Some(Ok(elsewhere)) => Box::pin(self.tell_other_project(socket, elsewhere)).await?,
                    Some(Err(error)) => return self.close_on_store_error(socket, &error).await,
                    None => return Err(ClientDisconnect),
                },
                Some(answer) = self.batches.answered.recv() => self.send(socket, answer).await?,
                _ = ping.tick() => deliver(socket, Message::Ping(Bytes::new())).await?,
                () = stopping.cancelled() => return close(socket, "the server is stopping").await,
            }
        }
    }

    /// Sends what waits for a decision in a project, whoever asked for it.
    pub(super) async fn send_pending_requests(
        &mut self,
        socket: &mut WebSocket,
        project: &ProjectId,
    ) -> Result<(), ClientDisconnect> {
        let mut after = None;
        loop {
            let page = self.app.gate.store().waiting_requests(project, after, PAGE).await;
            let page = match page {
                Ok(page) => page,
                Err(error) => return self.close_on_store_error(socket, &error).await,
            };
            let Some(last) = page.last() else { return Ok(()) };
            after = Some((last.created_at(), last.id()));
            for approval in page {
                if self.shown.insert(approval.id()) {
                    if *project == self.project {
                        self.waited.insert(approval.call().session.clone());
                    }
                    let place = MessagePosition::from_execution(&approval);
                    self.send_request(socket, approval, place, MessageBody::ToolApprovalRequest)
                        .await?;
                }
            }
        }
    }

    /// Sends a request as this client is shown it: who may not decide is offered nothing to decide.
    async fn send_request(
        &self,
        socket: &mut WebSocket,
        approval: Execution,
        place: MessagePosition,
        body: fn(Box<ApprovalRequest>) -> MessageBody,
    ) -> Result<(), ClientDisconnect> {
        let context = match ContextLookup::new(self.app.gate.store()).find(&approval).await {
            Ok(context) => context,
            Err(error) => return self.close_on_store_error(socket, &error).await,
        };
        let mut request = ApprovalRequest::new(&approval, context);
        if self.caller.check_role(LeastRole::Approver).is_err() {
            request.allowed_decisions.clear();
        }
        self.send_at(socket, body(Box::new(request)), place).await
    }

    /// A client that cannot be told everything is told nothing more: it comes back and resumes.
    pub(super) async fn close_on_store_error(
        &self,
        socket: &mut WebSocket,
        error: &StoreError,
    ) -> Result<(), ClientDisconnect> {
        tracing::error!(error = error as &dyn std::error::Error, "a client could not be served");
        self.close_for_resume(socket).await
    }

    /// Closes the connection: whoever comes back and resumes is told everything.
    pub(super) async fn close_for_resume(
        &self,
        socket: &mut WebSocket,
    ) -> Result<(), ClientDisconnect> {
        close(socket, "the log cannot be read at this moment; come back and resume").await
    }

    async fn tell(
        &mut self,
        socket: &mut WebSocket,
        seen: LogFollowerItem,
    ) -> Result<(), ClientDisconnect> {
        match seen {
            LogFollowerItem::Live(live) => self.tell_live(socket, live).await,
            LogFollowerItem::Logged(entry) => {
                let seq = entry.seq;
                self.tell_entry(socket, entry).await?;
                self.send_caught_up(socket, seq).await
            }
        }
    }

    /// Says so once the client has been sent what was there when it resumed.
    pub(super) async fn send_caught_up(
        &mut self,
        socket: &mut WebSocket,
        read: u64,
    ) -> Result<(), ClientDisconnect> {
        match self.catching_up {
            Some(head) if read >= head => {
                self.catching_up = None;
                self.send(socket, MessageBody::System(SystemMessage::CaughtUp { head })).await
            }
            _ => Ok(()),
        }
    }

    async fn tell_live(
        &self,
        socket: &mut WebSocket,
        live: LiveUpdate,
    ) -> Result<(), ClientDisconnect> {
        let plain = matches!(live.news, LiveEvent::TextDelta(_));
        if self.watched.has(&live.session) && (plain || self.watched.is_resumed()) {
            let place = message::position_of_live(&live);
            self.send_at(socket, message::body_from_live(live.news), place).await?;
        }
        Ok(())
    }

    async fn tell_entry(
        &mut self,
        socket: &mut WebSocket,
        entry: LogEntry,
    ) -> Result<(), ClientDisconnect> {
        let place = message::position_of_entry(&entry);
        if entry.event == Event::SettingsChanged {
            return self.tell_settings(socket, place).await;
        }
        let Some(session) = entry.session else { return Ok(()) };
        let watched = self.watched.has(&session);
        if matches!(entry.event, Event::RunDone { .. } | Event::RunFailed { .. })
            && self.going.get(&session).copied() == entry.run
        {
            self.going.remove(&session);
        }
        match entry.event {
            Event::ApprovalRequested { approval } => {
                self.tell_request(socket, approval, watched, place).await
            }
            Event::Rehearsed { approval } => self.tell_rehearsal(socket, approval, place).await,
            // Everyone who was shown a request learns what became of it, once: it is settled for good.
            Event::ApprovalResolved { approval, .. }
                if !self.shown.remove(&approval) && !watched =>
            {
                Ok(())
            }
            Event::Prompt { .. } | Event::ToolState { .. } | Event::Undone { .. }
                if !self.watched.is_resumed() =>
            {
                Ok(())
            }
            event if watched || matches!(event, Event::ApprovalResolved { .. }) => {
                match MessageBody::from_event(event, session.as_str()) {
                    Some(body) => self.send_at(socket, body, place).await,
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Says how runs may go from now on, to those who show it.
    async fn tell_settings(
        &self,
        socket: &mut WebSocket,
        place: MessagePosition,
    ) -> Result<(), ClientDisconnect> {
        if !self.watched.is_resumed() {
            return Ok(());
        }
        match self.available_modes(self.latest.as_ref()).await {
            Ok(offered) => {
                self.send_at(socket, MessageBody::System(SystemMessage::Settings(offered)), place)
                    .await
            }
            Err(error) => self.close_on_store_error(socket, &error).await,
        }
    }

    pub(super) async fn tell_request(
        &mut self,
        socket: &mut WebSocket,
        id: ApprovalId,
        watched: bool,
        place: MessagePosition,
    ) -> Result<(), ClientDisconnect> {
        if self.shown.contains(&id) {
            return Ok(());
        }
        match self.app.gate.store().approval(id).await {
            // What other conversations have settled is history: only theirs.
            Ok(Some(approval)) if watched || approval.deadline().is_some() => {
                self.shown.insert(id);
                self.send_request(socket, approval, place, MessageBody::ToolApprovalRequest).await
            }
            Ok(_) => Ok(()),
            Err(error) => self.close_on_store_error(socket, &error).await,
        }
    }

    /// Says how the rehearsal of a request stands, to those who were shown it and while it waits.
    pub(super) async fn tell_rehearsal(
        &self,
        socket: &mut WebSocket,
        id: ApprovalId,
        place: MessagePosition,
    ) -> Result<(), ClientDisconnect> {
        if !self.shown.contains(&id) {
            return Ok(());
        }
        match self.app.gate.store().approval(id).await {
            Ok(Some(approval)) if approval.deadline().is_some() => {
                self.send_request(socket, approval, place, MessageBody::ToolRehearsed).await
            }
            Ok(_) => Ok(()),
            Err(error) => self.close_on_store_error(socket, &error).await,
        }
    }

    pub(super) async fn send(
        &self,
        socket: &mut WebSocket,
        body: MessageBody,
    ) -> Result<(), ClientDisconnect> {
        self.send_at(socket, body, MessagePosition::default()).await
    }

    pub(super) async fn send_at(
        &self,
        socket: &mut WebSocket,
        body: MessageBody,
        place: MessagePosition,
    ) -> Result<(), ClientDisconnect> {
        let text = serde_json::to_string(&ServerMessage { body, place }).map_err(|error| {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a message cannot be written"
            );
            ClientDisconnect
        })?;
        deliver(socket, Message::Text(text.into())).await
    }
}

async fn deliver(socket: &mut WebSocket, message: Message) -> Result<(), ClientDisconnect> {
    match tokio::time::timeout(SEND, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(ClientDisconnect),
    }
}

async fn close(socket: &mut WebSocket, reason: &'static str) -> Result<(), ClientDisconnect> {
    let frame = CloseFrame { code: close_code::AWAY, reason: Utf8Bytes::from_static(reason) };
    deliver(socket, Message::Close(Some(frame))).await?;
    Err(ClientDisconnect)
}
