//! What a client says, done: each command ends in one call to the gate or to the runs.

use axum::extract::ws::WebSocket;
use countersign_api::run_mode::{AvailableModes, ModeView, RunPermissionMode};
use countersign_api::socket::command::{
    ApprovalResponse, ClientCommand, ResumeCommand, RunCommand, SeenRequest, SessionSelector,
};
use countersign_api::socket::message::{
    MessageBody, MessagePosition, ResumeSummary, SystemMessage,
};
use countersign_core::{Executor, SessionId};
use countersign_gate::{LogFollower, StoreError};
use tracing::Instrument;

use super::approve_all::{ApprovalBatch, check_requests};
use super::command::CommandRefusal;
use super::command::parse;
use super::connection::{ClientDisconnect, SocketConnection};
use super::inbox::project_of_request;
use crate::access::least_role_for_command;
use crate::approval_switch::approvals_view;
use crate::decide::{DecisionInput, DecisionOutcome, DecisionService};
use crate::error::ApiError;
use crate::path_params::approval_id;
use crate::run_mode::RunModeChoice;
use crate::runs::{self, RunRequest, StartedRun};

impl SocketConnection {
    pub(super) async fn dispatch(
        &mut self,
        socket: &mut WebSocket,
        text: &str,
    ) -> Result<(), ClientDisconnect> {
        let command = parse(text);
        if let Ok(command) = &command
            && let Err(error) = self.check_role(command).await
        {
            return self.refuse(socket, command, error).await;
        }
        let done = match command {
            Err(refused) => Err((refused, None)),
            Ok(ClientCommand::Run(run)) => return self.run(socket, run).await,
            Ok(ClientCommand::Resume(resume)) => return self.resume(socket, resume).await,
            Ok(ClientCommand::ToolApprovalResponse(response)) => {
                let request = response.request_id.clone();
                self.decide(response).await.map_err(|refused| (refused, Some(request)))
            }
            Ok(ClientCommand::Cancel(of)) => {
                self.cancel(of).await.map_err(|refused| (refused, None))
            }
            Ok(ClientCommand::ApproveAll(list)) => {
                self.approve_all(list.requests).map_err(|refused| (refused, None))
            }
        };
        match done {
            Ok(()) => Ok(()),
            Err(((code, message), request)) => {
                self.send(socket, MessageBody::error(code, message, request)).await
            }
        }
    }

    /// Checks that the caller may say this, and still may: each command is looked at anew.
    async fn check_role(&self, command: &ClientCommand) -> Result<(), ApiError> {
        self.caller.check_role(least_role_for_command(command))?;
        self.app.sign_ins.check_not_revoked(&self.caller).await
    }

    async fn refuse(
        &self,
        socket: &mut WebSocket,
        command: &ClientCommand,
        error: ApiError,
    ) -> Result<(), ClientDisconnect> {
        let body = match command {
            ClientCommand::Run(_) => return self.refuse_run(socket, None, error).await,
            ClientCommand::ToolApprovalResponse(response) => {
                let (code, message) = refusal_from_error(error);
                MessageBody::error(code, message, Some(response.request_id.clone()))
            }
            _ => {
                let (code, message) = refusal_from_error(error);
                MessageBody::error(code, message, None)
            }
        };
        self.send(socket, body).await
    }

    /// Starts a run, or says why not.
    async fn run(
        &mut self,
        socket: &mut WebSocket,
        run: RunCommand,
    ) -> Result<(), ClientDisconnect> {
        let session = match self.session_of(&run).await {
            Ok(session) => session,
            Err(error) => return self.refuse_run(socket, None, error).await,
        };
        match self.start(run, session.clone()).await {
            Ok(StartedRun { session, run }) => {
                self.watched.add(session.clone());
                self.going.insert(session.clone(), run);
                self.latest = Some(session);
                Ok(())
            }
            Err(error) => self.refuse_run(socket, session, error).await,
        }
    }

    /// Says that a run did not begin. The client waits for a result, so that is one; but while another
    /// run goes on it would take it for the end of that: then it is an error that names the other.
    async fn refuse_run(
        &self,
        socket: &mut WebSocket,
        session: Option<SessionId>,
        error: ApiError,
    ) -> Result<(), ClientDisconnect> {
        let going = match session.filter(|_| error.code == "busy") {
            Some(session) => {
                let run = self.app.gate.store().active_run(&self.project, &session).await;
                Some((session, run.ok().flatten()))
            }
            None => self.going.iter().next().map(|(session, run)| (session.clone(), Some(*run))),
        };
        let Some((session, run)) = going else {
            let hint = error.hint.map(str::to_owned);
            return self
                .send(socket, MessageBody::run_failed(error.code, error.message, hint))
                .await;
        };
        let (code, message) = refusal_from_error(error);
        let place = MessagePosition {
            seq: None,
            session_id: Some(session.to_string()),
            run_id: run.map(|run| run.to_string()),
        };
        self.send_at(socket, MessageBody::error(code, message, None), place).await
    }

    async fn start(
        &self,
        run: RunCommand,
        session: Option<SessionId>,
    ) -> Result<StartedRun, ApiError> {
        let wish = RunModeChoice {
            named: run.permission_mode,
            // Who names a mode means it as S1 does: our own loop runs its tools here.
            executor: run.permission_mode.map(|_| Executor::Local),
            mode: run.mode.map(Into::into),
            ..RunModeChoice::unspecified(Executor::Local)
        };
        let way = self.app.resolve_run_mode(&self.project, session.as_ref(), wish).await?;
        let place = self.app.projects.get(self.project.as_str()).await?;
        let wanted = RunRequest {
            prompt: run.prompt,
            session,
            auto_approve_read: run.auto_approve_safe,
            way,
            cwd: run.cwd,
            model: run.model,
            system_prompt: run.system_prompt,
            max_tokens: run.max_tokens,
        };
        runs::start(&self.app, &place, wanted).await
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
    async fn resume(
        &mut self,
        socket: &mut WebSocket,
        resume: ResumeCommand,
    ) -> Result<(), ClientDisconnect> {
        let session = resume.session_id.map(SessionId::from);
        match self.follow_after(resume.after, session.as_ref()).await {
            Ok((follow, after, resumed)) => {
                self.follow = follow;
                self.watched.resume(session.clone());
                self.going
                    .retain(|of, run| self.app.runs.active_run(&self.project, of) == Some(*run));
                self.mend_in_background(session.clone());
                self.latest = session.or(self.latest.take());
                self.catching_up = Some(resumed.head);
                self.send(socket, MessageBody::System(SystemMessage::Resumed(resumed))).await?;
                self.send_caught_up(socket, after).await
            }
            Err(error) => self.close_on_store_error(socket, &error).await,
        }
    }

    /// Mends the conversation that is being opened, if it is broken: the log tells of it.
    fn mend_in_background(&self, session: Option<SessionId>) {
        let Some(session) = session else { return };
        let (gate, project) = (self.app.gate.clone(), self.project.clone());
        self.app.runs.tasks.spawn(async move {
            if let Err(error) = gate.repair_conversation(&project, &session, None).await {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, %session, "a conversation could not be looked at");
            }
        });
    }

    async fn follow_after(
        &self,
        after: u64,
        session: Option<&SessionId>,
    ) -> Result<(LogFollower, u64, ResumeSummary), StoreError> {
        let store = self.app.gate.store();
        // Nothing of a conversation is before its first entry: no need to read what is.
        let begins = match session {
            Some(session) => store.position_before_session(&self.project, session).await?,
            None => 0,
        };
        let head = store.head(&self.project).await?;
        // But nothing is passed over that this client was not told of: what became of a request of
        // another conversation may be in it.
        let begins = begins.min(self.follow.position());
        // A client may know of more than there is: another server, an older backup.
        let after = after.max(begins).min(head);
        let follow = self.app.gate.follow(&self.project, after).await?;
        let root = self.app.projects.find(self.project.as_str());
        let last = self.app.last_settings(&self.project, session).await?;
        let resumed = ResumeSummary {
            head,
            session_id: session.map(ToString::to_string),
            permission_mode: last
                .as_ref()
                .map(|last| RunPermissionMode::for_executor(last.executor, last.mode)),
            active: match session {
                Some(session) => store.active_run(&self.project, session).await?.is_some(),
                None => false,
            },
            demo: self.app.model.demo,
            model: self.app.model.name.clone(),
            root: root.map(|place| place.0.root.clone()).unwrap_or_default(),
            now: self.app.gate.clock().now(),
            offered: self.available_modes(session).await?,
        };
        Ok((follow, after, resumed))
    }

    /// Returns how runs of a conversation may go here, as it stands.
    pub(super) async fn available_modes(
        &self,
        session: Option<&SessionId>,
    ) -> Result<AvailableModes, StoreError> {
        let approvals = self.app.approval_policy(&self.project).await?;
        let last = self.app.last_settings(&self.project, session).await?;
        let mode = |mode| ModeView::new(mode, self.app.mode_unavailable_reason(mode, approvals));
        Ok(AvailableModes {
            modes: RunPermissionMode::ALL.map(mode).into(),
            approvals: approvals_view(approvals),
            default_mode: self.app.default_mode(&self.project, last.as_ref()).await?,
        })
    }

    async fn decide(&mut self, response: ApprovalResponse) -> Result<(), CommandRefusal> {
        let said = DecisionInput {
            approved: response.approved,
            feedback: response.feedback,
            digest: response.digest,
            edited_input: response.edited_input,
            scope: response.scope,
            rule: response.rule,
        };
        let id = approval_id(&response.request_id).map_err(refusal_from_error)?;
        let (app, reach) = (&self.app, self.inbox.reach());
        let project =
            &project_of_request(app, &self.project, reach, id).await.map_err(refusal_from_error)?;
        let person = self.caller.name.as_str();
        let settled = DecisionService { app, project, person }
            .decide(id, said)
            .await
            .map_err(refusal_from_error)?;
        let (DecisionOutcome::Decided(stands) | DecisionOutcome::AskedAgain(stands)) = settled;
        // Who comes back and decides wants to hear what comes of it, without knowing of `resume`.
        if stands.call().project == self.project && self.waited.contains(&stands.call().session) {
            self.watched.add_decided(stands.call().session.clone());
        }
        Ok(())
    }

    async fn cancel(&self, of: SessionSelector) -> Result<(), CommandRefusal> {
        let session = self.resolve_session(of)?;
        let cancelled = runs::cancel(&self.app, &self.project, &session).await;
        if cancelled.map_err(refusal_from_error)? { Ok(()) } else { Err(no_run()) }
    }

    /// Begins to approve what is listed. The answer comes when all is done; whoever leaves before
    /// that changes nothing about it.
    fn approve_all(&self, requests: Option<Vec<SeenRequest>>) -> Result<(), CommandRefusal> {
        let requests = check_requests(requests)?;
        let Ok(place) = self.batches.places.clone().try_acquire_owned() else {
            let why = "too many `approve_all` are under way on this connection; wait for an answer";
            return Err(("too_many_requests", why.to_owned()));
        };
        let batch = ApprovalBatch {
            app: self.app.clone(),
            caller: self.caller.clone(),
            project: self.project.clone(),
            reach: self.inbox.reach(),
            requests,
        };
        let answer = self.batches.answer.clone();
        let approving = async move {
            let answers = batch.approve().await;
            // Nobody there any more is fine: what was decided is in the log.
            let _ = answer.send(MessageBody::approve_all_answered(answers)).await;
            drop(place);
        };
        self.app.runs.tasks.spawn(approving.in_current_span());
        Ok(())
    }

    /// Returns the conversation a command is about.
    fn resolve_session(&self, of: SessionSelector) -> Result<SessionId, CommandRefusal> {
        of.session_id.map(SessionId::from).or_else(|| self.latest.clone()).ok_or_else(no_run)
    }
}

fn no_run() -> CommandRefusal {
    ("no_run", "no run is active in this conversation".to_owned())
}

fn refusal_from_error(error: ApiError) -> CommandRefusal {
    let message = match error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message,
    };
    (error.code, message)
}
