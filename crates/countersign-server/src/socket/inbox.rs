//! The inbox over all projects: requests of other projects, shown and decided on one connection.

use axum::extract::ws::WebSocket;
use axum::http::StatusCode;
use countersign_api::socket::message::{MessageBody, MessagePosition};
use countersign_core::{ApprovalId, Event, ProjectId};
use countersign_gate::{LogEntry, MultiLogFollower, StoreError};

use super::connection::{ClientDisconnect, SocketConnection};
use super::message;
use crate::app::App;
use crate::error::ApiError;

/// Whose requests a connection is shown, and may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InboxReach {
    /// Those of its own project.
    OwnProject,
    /// Those of every project of the server, also of later ones.
    AllProjects,
}

/// What a connection hears of other projects.
pub(super) struct CrossProjectInbox(Option<MultiLogFollower>);

impl CrossProjectInbox {
    pub(super) async fn open(
        app: &App,
        own: &ProjectId,
        reach: InboxReach,
    ) -> Result<Self, StoreError> {
        Ok(Self(match reach {
            InboxReach::OwnProject => None,
            InboxReach::AllProjects => Some(app.gate.follow_all_but(own).await?),
        }))
    }

    /// Returns what happens next in another project; never, where nobody wants to know.
    pub(super) async fn next(&mut self) -> Option<Result<(ProjectId, LogEntry), StoreError>> {
        match &mut self.0 {
            Some(follow) => follow.next().await,
            None => std::future::pending().await,
        }
    }

    pub(super) fn reach(&self) -> InboxReach {
        match self.0 {
            Some(_) => InboxReach::AllProjects,
            None => InboxReach::OwnProject,
        }
    }
}

impl SocketConnection {
    /// Sends what waits in the other projects.
    pub(super) async fn send_other_projects_pending(
        &mut self,
        socket: &mut WebSocket,
    ) -> Result<(), ClientDisconnect> {
        if self.inbox.reach() == InboxReach::OwnProject {
            return Ok(());
        }
        if let Err(error) = self.app.projects.load().await {
            return self.close_on_store_error(socket, &error).await;
        }
        for project in self.app.projects.ids() {
            if project != self.project {
                self.send_pending_requests(socket, &project).await?;
            }
        }
        Ok(())
    }

    /// Tells of a request of another project, and what becomes of it. Its number in that project's log
    /// is not told: this client's numbers are those of its own project.
    pub(super) async fn tell_other_project(
        &mut self,
        socket: &mut WebSocket,
        (project, entry): (ProjectId, LogEntry),
    ) -> Result<(), ClientDisconnect> {
        let place = MessagePosition { seq: None, ..message::position_of_entry(&entry) };
        match entry.event {
            Event::ApprovalRequested { approval } => {
                match self.app.projects.get(project.as_str()).await {
                    Ok(_) => self.tell_request(socket, approval, false, place).await,
                    // It belongs to another server of the same database.
                    Err(error) if error.status == StatusCode::NOT_FOUND => Ok(()),
                    Err(_) => self.close_for_resume(socket).await,
                }
            }
            Event::Rehearsed { approval } => self.tell_rehearsal(socket, approval, place).await,
            Event::ApprovalResolved { approval, .. } if self.shown.remove(&approval) => {
                let session = place.session_id.clone().unwrap_or_default();
                match MessageBody::from_event(entry.event, &session) {
                    Some(body) => self.send_at(socket, body, place).await,
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

/// Returns the project of a request that may be decided from here.
pub(super) async fn project_of_request(
    app: &App,
    own: &ProjectId,
    reach: InboxReach,
    id: ApprovalId,
) -> Result<ProjectId, ApiError> {
    if reach == InboxReach::OwnProject {
        return Ok(own.clone());
    }
    let Some(asked) = app.gate.store().approval(id).await? else { return Ok(own.clone()) };
    match app.projects.get(asked.call().project.as_str()).await {
        Ok(place) => Ok(place.0.id.clone()),
        // One of another server: nobody knows it here.
        Err(error) if error.status == StatusCode::NOT_FOUND => Ok(own.clone()),
        Err(error) => Err(error),
    }
}
