//! One connection: a loop over what the client says and what the log tells.
//!
//! Everything is sent from this one task, so a client that reads slowly slows only itself: it falls
//! behind the live hints and catches up from the log.

use std::collections::HashSet;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use countersign_core::{
    ApprovalId, By, Decision, Digest, Event, ProjectId, Risk, SessionId, Status,
};
use countersign_gate::{Entry, Follow, Live, News, Seen, StoreError};

use super::command::{
    ApprovalResponse, ClientCommand, OfSession, PermissionMode, Refused, ResumeCommand, RunCommand,
    parse,
};
use super::message::{ApprovalRequest, Body, Place, Resumed, ServerMessage, SystemMessage};
use crate::app::App;
use crate::error::ApiError;
use crate::runs::{self, Wanted};

/// How often a silent client is asked whether it is still there.
const PING: Duration = Duration::from_secs(20);

/// How long one message may take to leave before the client counts as gone.
const SEND: Duration = Duration::from_secs(30);

/// Which conversations a client hears of. Requests for approval it hears of in any case.
enum Watched {
    /// Those it started itself: S1's plain client.
    Own(HashSet<SessionId>),
    /// One it asked to resume, and those it starts.
    Resumed(Option<SessionId>, HashSet<SessionId>),
}

/// The client is gone, or has to go.
struct Gone;

pub(crate) struct Connection {
    app: App,
    project: ProjectId,
    person: String,
    follow: Follow,
    watched: Watched,
    /// Requests this client has been shown, so that none comes twice.
    shown: HashSet<ApprovalId>,
    latest: Option<SessionId>,
}

impl Connection {
    /// Makes ready to tell a client what happens from now on.
    pub(crate) async fn open(
        app: App,
        project: ProjectId,
        person: String,
    ) -> Result<Self, ApiError> {
        let head = app.gate.store().head(&project).await?;
        let follow = app.gate.follow(&project, head).await?;
        Ok(Self {
            app,
            project,
            person,
            follow,
            watched: Watched::Own(HashSet::new()),
            shown: HashSet::new(),
            latest: None,
        })
    }

    /// Serves the client until it leaves or the server stops.
    pub(crate) async fn serve(mut self, mut socket: WebSocket) {
        // An error means that the other side is gone: there is nobody to tell.
        let _ = self.converse(&mut socket).await;
    }

    async fn converse(&mut self, socket: &mut WebSocket) -> Result<(), Gone> {
        self.send_waiting(socket).await?;
        let stopping = self.app.stopping.clone();
        let mut ping = tokio::time::interval(PING);
        loop {
            tokio::select! {
                said = socket.recv() => match said {
                    Some(Ok(Message::Text(text))) => self.hear(socket, &text).await?,
                    Some(Ok(Message::Binary(_))) => {
                        let why = "commands are JSON text, not binary".to_owned();
                        self.send(socket, Body::error("bad_json", why, None)).await?;
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(Gone),
                },
                seen = self.follow.next() => match seen {
                    Some(Ok(seen)) => self.tell(socket, seen).await?,
                    Some(Err(error)) => return self.give_up(socket, &error).await,
                    None => return Err(Gone),
                },
                _ = ping.tick() => deliver(socket, Message::Ping(Default::default())).await?,
                () = stopping.cancelled() => return close(socket, "the server is stopping").await,
            }
        }
    }

    /// Sends what waits for a decision, whoever asked for it.
    async fn send_waiting(&mut self, socket: &mut WebSocket) -> Result<(), Gone> {
        match self.app.gate.store().waiting(&self.project).await {
            Ok(waiting) => {
                for approval in waiting {
                    if self.shown.insert(approval.id) {
                        let place = Place::of_approval(&approval);
                        let request = Body::ToolApprovalRequest(Box::new(approval.into()));
                        self.send_at(socket, request, place).await?;
                    }
                }
                Ok(())
            }
            Err(error) => self.give_up(socket, &error).await,
        }
    }

    /// A client that cannot be told everything is told nothing more: it comes back and resumes.
    async fn give_up(&self, socket: &mut WebSocket, error: &StoreError) -> Result<(), Gone> {
        tracing::error!(error = error as &dyn std::error::Error, "a client could not be served");
        close(socket, "the log cannot be read at this moment; come back and resume").await
    }

    async fn hear(&mut self, socket: &mut WebSocket, text: &str) -> Result<(), Gone> {
        let done = match parse(text) {
            Err(refused) => Err((refused, None)),
            Ok(ClientCommand::Run(run)) => return self.run(socket, run).await,
            Ok(ClientCommand::Resume(resume)) => return self.resume(socket, resume).await,
            Ok(ClientCommand::ToolApprovalResponse(response)) => {
                let request = response.request_id.clone();
                self.decide(response).await.map_err(|refused| (refused, Some(request)))
            }
            Ok(ClientCommand::Cancel(of)) => self.cancel(of).map_err(|refused| (refused, None)),
            Ok(ClientCommand::ApproveAll(of)) => {
                self.approve_all(of).await.map_err(|refused| (refused, None))
            }
        };
        match done {
            Ok(()) => Ok(()),
            Err(((code, message), request)) => {
                self.send(socket, Body::error(code, message, request)).await
            }
        }
    }

    /// Starts a run. That it cannot start ends it: the client waits for a result.
    async fn run(&mut self, socket: &mut WebSocket, run: RunCommand) -> Result<(), Gone> {
        match self.start(run).await {
            Ok(session) => {
                self.watched.add(session.clone());
                self.latest = Some(session);
                Ok(())
            }
            Err(error) => {
                let hint = error.hint.map(str::to_owned);
                self.send(socket, Body::failed(error.code, error.message, hint)).await
            }
        }
    }

    async fn start(&self, run: RunCommand) -> Result<SessionId, ApiError> {
        if let Some(why) = run.permission_mode.missing() {
            return Err(ApiError::bad_request("mode_unavailable", why));
        }
        let session = self.session_of(&run).await?;
        let place = self.app.projects.get(self.project.as_str())?;
        let wanted = Wanted {
            prompt: run.prompt,
            session,
            auto_approve_read: run.auto_approve_safe,
            cwd: run.cwd,
            model: run.model,
        };
        runs::start(&self.app, place, wanted).await
    }

    /// Returns the conversation a run goes on with, or none for a new one.
    async fn session_of(&self, run: &RunCommand) -> Result<Option<SessionId>, ApiError> {
        let Some(id) = run.session_id.as_deref().map(SessionId::from) else {
            return Ok(match run.r#continue {
                true => self.app.gate.latest_session(&self.project).await?,
                false => None,
            });
        };
        let known = self.app.gate.store().has_session(&self.project, &id).await?;
        match (run.r#continue, known) {
            (true, false) => Err(ApiError::bad_request(
                "unknown_session",
                format!("no conversation has the id `{id}`"),
            )),
            (false, true) => Err(ApiError::bad_request(
                "session_exists",
                format!("`{id}` is there already; say `\"continue\": true` to go on with it"),
            )),
            (true, true) | (false, false) => Ok(Some(id)),
        }
    }

    /// Goes on reading after a number: first how things stand, then what was missed.
    async fn resume(&mut self, socket: &mut WebSocket, resume: ResumeCommand) -> Result<(), Gone> {
        let session = resume.session_id.map(SessionId::from);
        match self.follow_after(resume.after, session.as_ref()).await {
            Ok((follow, resumed)) => {
                self.follow = follow;
                self.watched.resume(session.clone());
                self.latest = session.or(self.latest.take());
                let resumed = Body::System(SystemMessage::Resumed(resumed));
                self.send(socket, resumed).await
            }
            Err(error) => self.give_up(socket, &error).await,
        }
    }

    async fn follow_after(
        &self,
        after: u64,
        session: Option<&SessionId>,
    ) -> Result<(Follow, Resumed), StoreError> {
        let store = self.app.gate.store();
        // Nothing of a conversation is before its first entry: no need to read what is.
        let begins = match session {
            Some(session) => store.before_session(&self.project, session).await?,
            None => 0,
        };
        let head = store.head(&self.project).await?;
        let follow = self.app.gate.follow(&self.project, after.max(begins)).await?;
        let root = self.app.projects.get(self.project.as_str());
        let resumed = Resumed {
            head,
            session_id: session.map(ToString::to_string),
            active: session.is_some_and(|s| self.app.runs.of(&self.project, s).is_some()),
            demo: self.app.model.demo,
            model: self.app.model.name.clone(),
            root: root.map(|(project, _)| project.root.clone()).unwrap_or_default(),
            now: self.app.gate.clock().now(),
            modes: PermissionMode::ALL.map(Into::into).into(),
        };
        Ok((follow, resumed))
    }

    async fn decide(&self, response: ApprovalResponse) -> Result<(), Refused> {
        if response.edited_input.is_some() {
            let why = "editing a call is not possible yet; reject it with feedback instead";
            return Err(("edit_unavailable", why.to_owned()));
        }
        if response.scope.as_deref().is_some_and(|scope| scope != "once") {
            let why = "only the scope `once` is possible yet";
            return Err(("scope_unavailable", why.to_owned()));
        }
        let id = response.request_id.parse().map_err(|_| {
            ("unknown_request", format!("no approval request has the id `{}`", response.request_id))
        })?;
        let by = By::Person(self.person.clone());
        let feedback = response.feedback.filter(|feedback| !feedback.trim().is_empty());
        let decision = match response.approved {
            true => Decision::Approve { by },
            false => Decision::Reject { by, feedback },
        };
        self.settle(id, decision, response.digest.map(Digest::from)).await
    }

    async fn settle(
        &self,
        id: ApprovalId,
        decision: Decision,
        seen: Option<Digest>,
    ) -> Result<(), Refused> {
        // A request of another project is as good as none: it is not this client's to know.
        let own = self.app.gate.store().approval(id).await;
        let own = own.map_err(|error| told(error.into()))?;
        if own.is_none_or(|approval| approval.call.project != self.project) {
            return Err(("unknown_request", format!("no approval request has the id `{id}`")));
        }
        let settled = self.app.gate.decide(id, decision, seen).await;
        let settled = settled.map_err(|error| told(error.into()))?;
        let status = if settled.status() == Status::Rejected { "rejected" } else { "approved" };
        metrics::counter!("countersign_decisions_total", "status" => status).increment(1);
        Ok(())
    }

    fn cancel(&self, of: OfSession) -> Result<(), Refused> {
        let session = self.meant(of)?;
        match self.app.runs.cancel(&self.project, &session) {
            true => Ok(()),
            false => Err(no_run()),
        }
    }

    async fn approve_all(&self, of: OfSession) -> Result<(), Refused> {
        let session = self.meant(of)?;
        let run = self.app.runs.of(&self.project, &session).ok_or_else(no_run)?;
        let open = self.app.gate.store().open_in_run(run).await;
        for approval in open.map_err(|error| told(error.into()))? {
            if approval.status() == Status::AwaitingApproval && approval.risk < Risk::High {
                let decision = Decision::Approve { by: By::Person(self.person.clone()) };
                // One that somebody else settled meanwhile stays as they said.
                let _ = self.settle(approval.id, decision, Some(approval.digest)).await;
            }
        }
        Ok(())
    }

    /// Returns the conversation a command is about.
    fn meant(&self, of: OfSession) -> Result<SessionId, Refused> {
        of.session_id.map(SessionId::from).or_else(|| self.latest.clone()).ok_or_else(no_run)
    }

    async fn tell(&mut self, socket: &mut WebSocket, seen: Seen) -> Result<(), Gone> {
        match seen {
            Seen::Live(live) => self.tell_live(socket, live).await,
            Seen::Logged(entry) => self.tell_entry(socket, entry).await,
        }
    }

    async fn tell_live(&self, socket: &mut WebSocket, live: Live) -> Result<(), Gone> {
        let plain = matches!(live.news, News::TextDelta(_));
        if self.watched.has(&live.session) && (plain || self.watched.is_resumed()) {
            let place = Place::of_live(&live);
            self.send_at(socket, Body::of_news(live.news), place).await?;
        }
        Ok(())
    }

    async fn tell_entry(&mut self, socket: &mut WebSocket, entry: Entry) -> Result<(), Gone> {
        let place = Place::of_entry(&entry);
        let Some(session) = entry.session else { return Ok(()) };
        let watched = self.watched.has(&session);
        match entry.event {
            Event::ApprovalRequested { approval } => {
                self.tell_request(socket, approval, place).await
            }
            // Everyone who was shown a request learns what became of it.
            Event::ApprovalResolved { approval, .. }
                if !watched && !self.shown.contains(&approval) =>
            {
                Ok(())
            }
            Event::Prompt { .. } if !self.watched.is_resumed() => Ok(()),
            event if watched || matches!(event, Event::ApprovalResolved { .. }) => {
                match Body::of_event(event, session.as_str()) {
                    Some(body) => self.send_at(socket, body, place).await,
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    async fn tell_request(
        &mut self,
        socket: &mut WebSocket,
        id: ApprovalId,
        place: Place,
    ) -> Result<(), Gone> {
        if !self.shown.insert(id) {
            return Ok(());
        }
        match self.app.gate.store().approval(id).await {
            Ok(Some(approval)) => {
                let request = ApprovalRequest::from(approval);
                self.send_at(socket, Body::ToolApprovalRequest(Box::new(request)), place).await
            }
            Ok(None) => Ok(()),
            Err(error) => self.give_up(socket, &error).await,
        }
    }

    async fn send(&self, socket: &mut WebSocket, body: Body) -> Result<(), Gone> {
        self.send_at(socket, body, Place::default()).await
    }

    async fn send_at(&self, socket: &mut WebSocket, body: Body, place: Place) -> Result<(), Gone> {
        let text = serde_json::to_string(&ServerMessage { body, place }).map_err(|error| {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a message cannot be written"
            );
            Gone
        })?;
        deliver(socket, Message::Text(text.into())).await
    }
}

impl Watched {
    fn add(&mut self, session: SessionId) {
        match self {
            Self::Own(own) | Self::Resumed(_, own) => own.insert(session),
        };
    }

    fn resume(&mut self, session: Option<SessionId>) {
        *self = Self::Resumed(session, HashSet::new());
    }

    fn is_resumed(&self) -> bool {
        matches!(self, Self::Resumed(..))
    }

    fn has(&self, session: &SessionId) -> bool {
        match self {
            Self::Own(own) => own.contains(session),
            Self::Resumed(None, _) => true,
            Self::Resumed(Some(resumed), own) => resumed == session || own.contains(session),
        }
    }
}

fn no_run() -> Refused {
    ("no_run", "no run is going on in this conversation".to_owned())
}

fn told(error: ApiError) -> Refused {
    (error.code, error.message)
}

async fn deliver(socket: &mut WebSocket, message: Message) -> Result<(), Gone> {
    match tokio::time::timeout(SEND, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Gone),
    }
}

async fn close(socket: &mut WebSocket, reason: &'static str) -> Result<(), Gone> {
    let frame = CloseFrame { code: close_code::AWAY, reason: Utf8Bytes::from_static(reason) };
    deliver(socket, Message::Close(Some(frame))).await?;
    Err(Gone)
}
