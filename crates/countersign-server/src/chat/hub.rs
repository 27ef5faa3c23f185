//! The hub of a project's streams: each event is read and written out once, however many listen.
//!
//! One task follows the log and hands finished frames to all listeners over a channel of bounded
//! length. Who is too slow for it misses some, and reads those from the log at its own pace.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use countersign_core::{Event, ExecutionId, Executor, ProjectId, SessionId, Status};
use countersign_gate::{Entry, Follow, Seen, StoreError, after};
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
pub(crate) struct Frame {
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
pub(crate) struct Hubs(Mutex<HashMap<ProjectId, Arc<Hub>>>);

/// What the listeners of one project share.
pub(crate) struct Hub {
    frames: broadcast::Sender<Arc<Frame>>,
    /// The number up to which everything was handed on. Locked while it is, so that who joins knows
    /// exactly what it still has to read.
    handed: Mutex<u64>,
    /// Counts what may have left a call for a client to run.
    approved: watch::Sender<u64>,
}

impl Hubs {
    /// Returns the hub of a project; starts it where nobody listened before.
    pub(crate) async fn of(&self, app: &App, project: &ProjectId) -> Result<Arc<Hub>, StoreError> {
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
        let hub = Hub { frames, handed: Mutex::new(head), approved: watch::channel(0).0 };
        let hub = Arc::new(hub);
        hubs.insert(project.clone(), hub.clone());
        tokio::spawn(hand_on(app.clone(), project.clone(), hub.clone(), follow));
        Ok(hub)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProjectId, Arc<Hub>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hub {
    /// Joins: returns what comes from now on, and the number after which that begins.
    pub(crate) fn join(&self) -> (broadcast::Receiver<Arc<Frame>>, u64) {
        let handed = self.lock();
        (self.frames.subscribe(), *handed)
    }

    /// Returns what changes when there may be a call for a client to run.
    pub(crate) fn approved(&self) -> watch::Receiver<u64> {
        self.approved.subscribe()
    }

    /// Returns the number up to which everything was handed on.
    pub(crate) fn handed(&self) -> u64 {
        *self.lock()
    }

    /// Passes over an entry that nobody listens for; returns whether that is so.
    fn pass_over(&self, seq: u64) -> bool {
        let mut handed = self.lock();
        let nobody = self.frames.receiver_count() == 0;
        if nobody {
            *handed = seq;
        }
        nobody
    }

    fn hand(&self, frame: Frame) {
        let mut handed = self.lock();
        *handed = frame.seq.unwrap_or(*handed);
        // Nobody there any more is fine: the log keeps it.
        let _ = self.frames.send(Arc::new(frame));
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Frame {
    /// Returns an entry of the log as it is sent.
    pub(crate) async fn of_entry(
        app: &App,
        project: &ProjectId,
        entry: Entry,
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
        let event = StreamEvent::of_entry(&app.gate, project, entry).await?;
        let bytes = event.map(|event| written(Some(seq), &event)).unwrap_or_default();
        Ok(Self { seq: Some(seq), session, holder, execution, bytes })
    }
}

/// Hands on what happens in a project until the server stops.
async fn hand_on(app: App, project: ProjectId, hub: Arc<Hub>, mut follow: Follow) {
    loop {
        let seen = tokio::select! {
            seen = follow.next() => seen,
            () = app.stopping.cancelled() => return,
        };
        match seen {
            None => return,
            Some(Ok(Seen::Live(live))) => {
                let session = Some(live.session.clone());
                let event = StreamEvent::of_live(live, app.gate.clock().now());
                let bytes = written(None, &event);
                hub.hand(Frame { seq: None, session, holder: None, execution: None, bytes });
            }
            Some(Ok(Seen::Logged(entry))) if hub.pass_over(entry.seq) => {}
            Some(Ok(Seen::Logged(entry))) => {
                let is_approval = may_be_for_a_client(&entry.event);
                match whatever_it_takes(&app, &project, entry).await {
                    Some(frame) => hub.hand(frame),
                    None => return,
                }
                if is_approval {
                    hub.approved.send_modify(|count| *count += 1);
                }
            }
            Some(Err(error)) => rest(&app, &error).await,
        }
    }
}

/// Whether there may be a call now for a client to run.
fn may_be_for_a_client(event: &Event) -> bool {
    match event {
        Event::ToolState { status, executor, .. } => {
            *status == Status::Approved && *executor == Executor::Client
        }
        Event::ApprovalResolved { status, .. } => *status == Status::Approved,
        _ => false,
    }
}

/// Writes an entry out, however long the database is away; none if the server stops first.
async fn whatever_it_takes(app: &App, project: &ProjectId, entry: Entry) -> Option<Frame> {
    loop {
        match Frame::of_entry(app, project, entry.clone()).await {
            Ok(frame) => return Some(frame),
            Err(_) if app.stopping.is_cancelled() => return None,
            Err(error) => rest(app, &error).await,
        }
    }
}

async fn rest(app: &App, error: &StoreError) {
    tracing::error!(error = error as &dyn std::error::Error, "streams wait for the log");
    let clock = app.gate.clock();
    let until = after(clock.now(), REST);
    tokio::select! { () = clock.sleep_until(until) => {}, () = app.stopping.cancelled() => {} }
}

/// Writes an event as it goes over the wire.
pub(crate) fn written(seq: Option<u64>, event: &StreamEvent) -> Bytes {
    let number = seq.map(|seq| format!("id: {seq}\n")).unwrap_or_default();
    match event.written() {
        Ok((name, data)) => format!("{number}event: {name}\ndata: {data}\n\n").into(),
        Err(error) => {
            tracing::error!(%error, "an event cannot be written");
            Bytes::new()
        }
    }
}
