//! The hub of a project's streams: each event is read and written out once, however many listen.
//!
//! One task follows the log and hands finished frames to all listeners over a channel of bounded
//! length. Who is too slow for it misses some, and reads those from the log at its own pace.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use countersign_core::{Event, ExecutionId, ExecutionStatus, Executor, ProjectId, SessionId};
use countersign_gate::{LogEntry, LogFollower, LogFollowerItem, StoreError, time_after};
use tokio::sync::{broadcast, watch};

use super::event::StreamEvent;
use crate::app::App;

/// How many frames a listener may be behind before it has to catch up from the log: bounds what one
/// that reads nothing keeps in memory.
const BEHIND: usize = 256;

/// How long to rest after the store failed.
const REST: Duration = Duration::from_secs(1);

/// One event, ready to be sent.
#[derive(Debug)]
pub(crate) struct StreamFrame {
    /// Its number in the log; what is live has none.
    pub(crate) seq: Option<u64>,
    pub(crate) session: Option<SessionId>,
    /// The only client it is for.
    pub(crate) holder: Option<String>,
    /// The call that it tells of, where it tells of one that may run elsewhere.
    pub(crate) execution: Option<ExecutionId>,
    /// As it goes over the wire; nothing where the entry is not told.
    pub(crate) bytes: Bytes,
}

/// The hubs of all projects.
#[derive(Default)]
pub(crate) struct StreamHubs(Mutex<HashMap<ProjectId, Arc<StreamHub>>>);

/// What the listeners of one project share.
pub(crate) struct StreamHub {
    frames: broadcast::Sender<Arc<StreamFrame>>,
    /// The number up to which everything was handed on. Locked while it is, so that who joins knows
    /// exactly what it still has to read.
    handed: Mutex<u64>,
    /// Counts what may have left a call for a client to run.
    approved: watch::Sender<u64>,
}

impl StreamHubs {
    /// Returns the hub of a project; starts it where nobody listened before.
    pub(crate) async fn get_or_start(
        &self,
        app: &App,
        project: &ProjectId,
    ) -> Result<Arc<StreamHub>, StoreError> {
        if let Some(hub) = self.lock().get(project) {
            return Ok(hub.clone());
        }
        let head = app.gate.store().head(project).await?;
        let follow = app.gate.follow(project, head).await?;
        let mut hubs = self.lock();
        // Two may come to this at the same time: the first one's stays.
        if let Some(hub) = hubs.get(project) {
            return Ok(hub.clone());
        }
        let frames = broadcast::channel(BEHIND).0;
        let hub = StreamHub { frames, handed: Mutex::new(head), approved: watch::channel(0).0 };
        let hub = Arc::new(hub);
        hubs.insert(project.clone(), hub.clone());
        tokio::spawn(forward_log(app.clone(), project.clone(), hub.clone(), follow));
        Ok(hub)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProjectId, Arc<StreamHub>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamHub {
    /// Joins: returns what comes from now on, and the number after which that begins.
    pub(crate) fn join(&self) -> (broadcast::Receiver<Arc<StreamFrame>>, u64) {
        let handed = self.lock();
        (self.frames.subscribe(), *handed)
    }

    /// Returns what changes when there may be a call for a client to run.
    pub(crate) fn subscribe_approvals(&self) -> watch::Receiver<u64> {
        self.approved.subscribe()
    }

    /// Returns the number up to which everything was handed on.
    pub(crate) fn last_published_seq(&self) -> u64 {
        *self.lock()
    }

    /// Passes over an entry that nobody listens for; returns whether that is so.
    fn skip_without_listeners(&self, seq: u64) -> bool {
        let mut handed = self.lock();
        let nobody = self.frames.receiver_count() == 0;
        if nobody {
            *handed = seq;
        }
        nobody
    }

    fn publish(&self, frame: StreamFrame) {
        let mut handed = self.lock();
        *handed = frame.seq.unwrap_or(*handed);
        // Nobody there any more is fine: the log keeps it.
        let _ = self.frames.send(Arc::new(frame));
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamFrame {
    /// Returns an entry of the log as it is sent.
    pub(crate) async fn from_entry(
        app: &App,
        project: &ProjectId,
        entry: LogEntry,
    ) -> Result<Self, StoreError> {
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
        let event = StreamEvent::from_entry(&app.gate, project, entry).await?;
        let bytes = event.map(|event| encode_event(Some(seq), &event)).unwrap_or_default();
        Ok(Self { seq: Some(seq), session, holder, execution, bytes })
    }
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
                let event = StreamEvent::from_live(live, app.gate.clock().now());
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
                    hub.approved.send_modify(|count| *count += 1);
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
        match StreamFrame::from_entry(app, project, entry.clone()).await {
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
