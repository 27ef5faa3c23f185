//! One listener: what it missed from the log, then what happens, then nothing but heartbeats.

use countersign_api::stream::{ExecutorRoleEvent, LogGap, StreamEvent};
use std::collections::{HashSet, VecDeque};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use countersign_core::{Execution, ExecutionId, ProjectId, SessionId};
use countersign_gate::{LogEntry, StoreError};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Interval, MissedTickBehavior};

use super::executor_slot::{ClientRole, ExecutingClient, ExecutorSlot};
use super::hub::{self, encode_event};
use crate::app::App;
use crate::caller::AuthenticatedCaller;
use crate::stream_hub::{StreamFrame, StreamHub};

/// How often a listener hears that the server is there.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How many entries are read at a time: bounds what one slow reader holds in memory.
const PAGE: usize = 64;

/// What every stream begins with: that it is there, and how soon to come back.
const HELLO: &str = ": countersign\nretry: 1000\n\n";

pub(crate) struct StreamListener {
    app: App,
    project: ProjectId,
    /// The only conversation it wants to hear of.
    session: Option<SessionId>,
    hub: Arc<StreamHub>,
    frames: broadcast::Receiver<Arc<StreamFrame>>,
    /// What is to be sent before anything else.
    first: VecDeque<Bytes>,
    page: VecDeque<LogEntry>,
    /// The number up to which everything was sent.
    sent: u64,
    /// The number up to which the log has to be read.
    known: u64,
    heartbeat: Interval,
    /// Its place among those that run calls, where it would.
    post: Option<ExecutorSlot>,
    caller: AuthenticatedCaller,
    /// The calls that were lent to it.
    lent: HashSet<ExecutionId>,
    _counted: OpenStreamGauge,
}

/// Who listens, and to what.
pub(crate) struct ListenerOptions {
    /// Only what belongs to this conversation.
    pub(crate) session: Option<SessionId>,
    /// Goes on after this number; from now on where there is none.
    pub(crate) after: Option<u64>,
    /// As whom it would run calls; none for a mere listener.
    pub(crate) client: Option<ExecutingClient>,
    /// Who listens. An agent hears of nothing but the calls that are lent to it.
    pub(crate) caller: AuthenticatedCaller,
}

/// Counts the streams that are open.
struct OpenStreamGauge;

impl OpenStreamGauge {
    fn new() -> Self {
        metrics::gauge!("countersign_streams").increment(1.0);
        Self
    }
}

impl Drop for OpenStreamGauge {
    fn drop(&mut self) {
        metrics::gauge!("countersign_streams").decrement(1.0);
    }
}

impl StreamListener {
    /// Listens after a number, or from now on. None for a number that is not there yet.
    pub(crate) async fn open(
        app: &App,
        project: &ProjectId,
        wish: ListenerOptions,
    ) -> Result<Option<Self>, StoreError> {
        let ListenerOptions { session, after, client, caller } = wish;
        let hub = hub::get_or_start(app, project).await?;
        let (frames, handed) = hub.join();
        let mut first = VecDeque::from([Bytes::from_static(HELLO.as_bytes())]);
        let sent = match after {
            None => handed,
            Some(after) if after > app.gate.store().head(project).await? => return Ok(None),
            Some(after) => {
                let oldest = app.gate.store().oldest(project).await?.unwrap_or(handed + 1);
                let from = after.saturating_add(1);
                if from < oldest {
                    let gap = StreamEvent::Gap(LogGap { from, to: oldest - 1 });
                    first.push_back(encode_event(Some(oldest - 1), &gap));
                }
                after.max(oldest.saturating_sub(1))
            }
        };
        let mut lent = HashSet::new();
        if let Some(client) = client.as_ref().filter(|client| client.is_named()) {
            let held = app.gate.store().lent_calls(project, client.name()).await?;
            lent.extend(held.iter().map(|call| call.call().id));
            if after.is_none() {
                first.extend(signals(app, &held));
            }
        }
        let post = client.map(|client| ExecutorSlot::join_queue(app, project, &hub, client));
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        heartbeat.reset();
        Ok(Some(Self {
            app: app.clone(),
            project: project.clone(),
            session,
            hub,
            frames,
            first,
            page: VecDeque::new(),
            sent,
            known: handed,
            heartbeat,
            post,
            caller,
            lent,
            _counted: OpenStreamGauge::new(),
        }))
    }

    /// Returns what is to be sent next; waits for it if need be. None when the stream is over: the
    /// server stops, or the log cannot be read. Who comes back goes on where this ends.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.app.stopping.is_cancelled() || self.is_replaced() {
                return None;
            }
            if let Some(first) = self.first.pop_front() {
                return Some(first);
            }
            let frame = if self.sent < self.known || !self.page.is_empty() {
                Box::pin(self.read_log()).await?.map(Arc::new)
            } else {
                match self.wait_for_hub().await? {
                    ListenerWakeup::Frame(frame) => Some(frame),
                    ListenerWakeup::Heartbeat
                        if !self.app.sign_ins.is_still_good(&self.caller).await =>
                    {
                        return None;
                    }
                    ListenerWakeup::Heartbeat => {
                        return Some(Bytes::from_static(b": heartbeat\n\n"));
                    }
                    ListenerWakeup::Role => match self.role_notice() {
                        Some(told) => return Some(told),
                        None => continue,
                    },
                    ListenerWakeup::Lagged => None,
                }
            };
            let wanted = frame.filter(|frame| self.wants(frame));
            if let Some(frame) = wanted {
                if !self.app.sign_ins.is_still_good(&self.caller).await {
                    return None;
                }
                return Some(frame.bytes.clone());
            }
        }
    }

    /// Takes what was missed, a page at a time.
    async fn read_log(&mut self) -> Option<Option<StreamFrame>> {
        if self.page.is_empty() {
            let store = self.app.gate.store();
            let page = store.entries(&self.project, self.sent, self.known, PAGE).await;
            self.page = log_store_error(page)?.into();
        }
        let Some(entry) = self.page.pop_front() else {
            // Nothing up to there: those numbers are forgotten.
            self.sent = self.known;
            return Some(None);
        };
        let seq = entry.seq;
        let frame = log_store_error(hub::build_frame(&self.app, &self.project, entry).await)?;
        self.sent = seq;
        Some(Some(frame))
    }

    /// Waits for what happens. Only here it is sure that the other side takes what it is sent, so only
    /// here calls are claimed for it.
    async fn wait_for_hub(&mut self) -> Option<ListenerWakeup> {
        let _listening = self.post.as_ref().map(ExecutorSlot::mark_listening);
        let replaced = self.post.as_ref().map(ExecutorSlot::wait_until_replaced);
        let replaced = async { if let Some(it) = replaced { it.await } else { pending().await } };
        let role = self.post.as_ref().map(ExecutorSlot::role);
        let role = async {
            let Some(mut role) = role else { return pending().await };
            if role.changed().await.is_err() {
                pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = self.app.stopping.cancelled() => None,
            () = replaced => None,
            () = role => Some(ListenerWakeup::Role),
            frame = self.frames.recv() => match frame {
                Ok(frame) => {
                    // What was read from the log already is not sent again.
                    if frame.seq.is_some_and(|seq| seq <= self.sent) {
                        return Some(ListenerWakeup::Lagged);
                    }
                    self.sent = frame.seq.unwrap_or(self.sent);
                    Some(ListenerWakeup::Frame(frame))
                }
                Err(RecvError::Lagged(_)) => {
                    self.known = self.hub.last_published_seq();
                    Some(ListenerWakeup::Lagged)
                }
                Err(RecvError::Closed) => None,
            },
            _ = self.heartbeat.tick() => Some(ListenerWakeup::Heartbeat),
        }
    }

    /// Returns what the client is told of its place among those that run calls.
    fn role_notice(&mut self) -> Option<Bytes> {
        let post = self.post.as_mut()?;
        let (role, is_named) = (post.tell_role(), post.client().is_named());
        // Who wants one conversation and says no name looks on: nothing else is told there.
        if self.session.is_some() && !is_named {
            return None;
        }
        let now = self.app.gate.clock().now();
        let event = match role {
            ClientRole::Executes => ExecutorRoleEvent::for_executing(now),
            ClientRole::StandsBy => ExecutorRoleEvent::for_standing_by(is_named, now),
        };
        Some(encode_event(None, &StreamEvent::ExecutorRole(event)))
    }

    fn is_replaced(&self) -> bool {
        self.post.as_ref().is_some_and(ExecutorSlot::is_replaced)
    }

    fn wants(&mut self, frame: &StreamFrame) -> bool {
        if let Some(holder) = &frame.holder {
            // Whoever has the call has to hear of it, whatever else it listens to.
            let is_ours = self.post.as_ref().is_some_and(|post| post.client().name() == holder);
            self.lent.extend(frame.execution.filter(|_| is_ours));
            return is_ours && !frame.bytes.is_empty();
        }
        if self.caller.is_agent() && !frame.execution.is_some_and(|id| self.lent.contains(&id)) {
            return false;
        }
        let is_of_session =
            self.session.as_ref().is_none_or(|wanted| frame.session.as_ref() == Some(wanted));
        is_of_session && !frame.bytes.is_empty()
    }
}

/// Returns the signals of what a client was told to run and may not have heard: it comes without a
/// number to go on after.
fn signals(app: &App, lent: &[Execution]) -> Vec<Bytes> {
    let now = app.gate.clock().now();
    let signals = lent.iter().filter_map(|call| StreamEvent::execution_signal(call, now));
    signals.map(|signal| encode_event(None, &signal)).collect()
}

/// What came from the hub.
enum ListenerWakeup {
    Frame(Arc<StreamFrame>),
    Heartbeat,
    /// The client is something else to the project's calls than it was told.
    Role,
    /// Nothing to send; there may be something in the log.
    Lagged,
}

/// A listener that cannot be told everything is told nothing more: it comes back and resumes.
fn log_store_error<T>(read: Result<T, StoreError>) -> Option<T> {
    read.inspect_err(|error| {
        tracing::error!(error = error as &dyn std::error::Error, "a listener could not be served");
    })
    .ok()
}
