//! What a client says, done: each command ends in one call to the gate or to the runs.

use axum::extract::ws::WebSocket;
use countersign_core::{ApprovalId, By, Decision, Digest, Risk, SessionId, Status};
use countersign_gate::{Follow, StoreError};

use super::command::{
    ApprovalResponse, ClientCommand, OfSession, PermissionMode, Refused, ResumeCommand, RunCommand,
    parse,
};
use super::connection::{Connection, Gone};
use super::message::{Body, Resumed, SystemMessage};
use crate::error::ApiError;
use crate::runs::{self, Wanted};

impl Connection {
    pub(super) async fn hear(&mut self, socket: &mut WebSocket, text: &str) -> Result<(), Gone> {
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
            let latest = self.app.gate.latest_session(&self.project).await?;
            return Ok(latest.filter(|_| run.r#continue));
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
            Ok((follow, after, resumed)) => {
                self.follow = follow;
                self.watched.resume(session.clone());
                self.latest = session.or(self.latest.take());
                self.catching_up = Some(resumed.head);
                self.send(socket, Body::System(SystemMessage::Resumed(resumed))).await?;
                self.caught_up(socket, after).await
            }
            Err(error) => self.give_up(socket, &error).await,
        }
    }

    async fn follow_after(
        &self,
        after: u64,
        session: Option<&SessionId>,
    ) -> Result<(Follow, u64, Resumed), StoreError> {
        let store = self.app.gate.store();
        // Nothing of a conversation is before its first entry: no need to read what is.
        let begins = match session {
            Some(session) => store.before_session(&self.project, session).await?,
            None => 0,
        };
        let head = store.head(&self.project).await?;
        // A client may know of more than there is: another server, an older backup.
        let after = after.max(begins).min(head);
        let follow = self.app.gate.follow(&self.project, after).await?;
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
        Ok((follow, after, resumed))
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
        let decision = if response.approved {
            Decision::Approve { by }
        } else {
            Decision::Reject { by, feedback }
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
        if self.app.runs.cancel(&self.project, &session) { Ok(()) } else { Err(no_run()) }
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
}

fn no_run() -> Refused {
    ("no_run", "no run is going on in this conversation".to_owned())
}

fn told(error: ApiError) -> Refused {
    (error.code, error.message)
}
