//! The task that follows a project's log and hands finished frames to all who listen: each event is
//! read and written out once, however many they are.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use countersign_api::stream::StreamEvent;
use countersign_core::{Event, ExecutionStatus, Executor, ProjectId};
use countersign_gate::{LogEntry, LogFollower, LogFollowerItem, StoreError, time_after};

use super::event;
use crate::app::App;
use crate::stream_hub::{StreamFrame, StreamHub};

/// How long to rest after the store failed.
const REST: Duration = Duration::from_secs(1);

/// Returns the hub of a project; starts it where nobody listened before.
pub(crate) async fn get_or_start(
    app: &App,
    project: &ProjectId,
) -> Result<Arc<StreamHub>, StoreError> {
    if let Some(hub) = app.hubs.find(project) {
        return Ok(hub);
    }
    let head = app.gate.store().head(project).await?;
    let follow = app.gate.follow(project, head).await?;
    let (hub, is_new) = app.hubs.find_or_insert(project, head);
    if is_new {
        tokio::spawn(forward_log(app.clone(), project.clone(), hub.clone(), follow));
    }
    Ok(hub)
}

/// Returns an entry of the log as it is sent.
pub(crate) async fn build_frame(
    app: &App,
    project: &ProjectId,
    entry: LogEntry,
) -> Result<StreamFrame, StoreError> {
    let (seq, session) = (entry.seq, entry.session.clone());
    let holder = match &entry.event {
        Event::ExecutionSignal { holder, .. } | Event::ClientLookWanted { holder, .. } => {
            Some(holder.clone())
        }
        _ => None,
    };
    let execution = match &entry.event {
        Event::ExecutionSignal { execution, .. }
        | Event::ToolState { execution, .. }
        | Event::ResultReceived { execution }
        | Event::ResultRefused { execution, .. } => Some(*execution),
        _ => None,
    };
    let event = event::from_entry(&app.gate, project, entry).await?;
    let bytes = event.map(|event| encode_event(Some(seq), &event)).unwrap_or_default();
    Ok(StreamFrame { seq: Some(seq), session, holder, execution, bytes })
}

/// Hands on what happens in a project until the server stops.
async fn forward_log(app: App, project: ProjectId, hub: Arc<StreamHub>, mut follow: LogFollower) {
    loop {
        let seen = tokio::select! {
            seen = follow.next() => seen,
            () = app.stopping.cancelled() => return,
        };
        match seen {
            None => return,
            Some(Ok(LogFollowerItem::Live(live))) => {
                let session = Some(live.session.clone());
                let event = event::from_live(live, app.gate.clock().now());
                let bytes = encode_event(None, &event);
                hub.publish(StreamFrame {
                    seq: None,
                    session,
                    holder: None,
                    execution: None,
                    bytes,
                });
            }
            Some(Ok(LogFollowerItem::Logged(entry))) if hub.skip_without_listeners(entry.seq) => {}
            Some(Ok(LogFollowerItem::Logged(entry))) => {
                let is_approval = may_be_for_a_client(&entry.event);
                match build_frame_with_retry(&app, &project, entry).await {
                    Some(frame) => hub.publish(frame),
                    None => return,
                }
                if is_approval {
                    hub.notify_approval();
                }
            }
            Some(Err(error)) => pause_after_error(&app, &error).await,
        }
    }
}

/// Whether there may be a call now for a client to run.
fn may_be_for_a_client(event: &Event) -> bool {
    match event {
        Event::ToolState { status, executor, .. } => {
            *status == ExecutionStatus::Approved && *executor == Executor::Client
        }
        Event::ApprovalResolved { status, .. } => *status == ExecutionStatus::Approved,
        _ => false,
    }
}

/// Writes an entry out, however long the database is away; none if the server stops first.
async fn build_frame_with_retry(
    app: &App,
    project: &ProjectId,
    entry: LogEntry,
) -> Option<StreamFrame> {
    loop {
        match build_frame(app, project, entry.clone()).await {
            Ok(frame) => return Some(frame),
            Err(_) if app.stopping.is_cancelled() => return None,
            Err(error) => pause_after_error(app, &error).await,
        }
    }
}

async fn pause_after_error(app: &App, error: &StoreError) {
    tracing::error!(error = error as &dyn std::error::Error, "streams wait for the log");
    let clock = app.gate.clock();
    let until = time_after(clock.now(), REST);
    tokio::select! { () = clock.sleep_until(until) => {}, () = app.stopping.cancelled() => {} }
}

/// Writes an event as it goes over the wire.
pub(crate) fn encode_event(seq: Option<u64>, event: &StreamEvent) -> Bytes {
    let number = seq.map(|seq| format!("id: {seq}\n")).unwrap_or_default();
    match event.encode() {
        Ok((name, data)) => format!("{number}event: {name}\ndata: {data}\n\n").into(),
        Err(error) => {
            tracing::error!(%error, "an event cannot be written");
            Bytes::new()
        }
    }
}
