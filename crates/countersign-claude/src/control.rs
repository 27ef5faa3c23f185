//! The control protocol, both directions, over one open line.
//!
//! One task reads. Neither whoever reads the messages nor a callback can hold it up: messages go to
//! queues, requests of the CLI to tasks of their own. One task writes, one sees the CLI end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

mod backlog;
mod dispatcher;
mod message_queue;
mod pending_requests;
mod reader;
mod request;
mod response;
mod router;
mod routing_header;
mod run_tracker;
mod shutdown;
mod writer;

pub use backlog::MessageBacklog;
pub(crate) use message_queue::{MessageReceiver, MessageSender};
pub use request::ControlRequest;
pub use response::{
    ContextUsage, InitializeResponse, InterruptReceipt, McpServerStatus, McpServersChange,
    RewindFilesResult, TaskOutput,
};

use crate::error::{ControlError, SessionEnd};
use crate::options::Options;
use crate::process::ProcessExit;
use crate::transport::CliConnection;
use dispatcher::RequestDispatcher;
use pending_requests::PendingRequests;
use router::MessageRouter;
use run_tracker::RunTracker;
use writer::CliWriter;

/// A session: the tasks around one line, and what they share. Dropping it ends the CLI.
pub(crate) struct ControlSession {
    shared: Arc<SharedSession>,
    exit: watch::Receiver<Option<ProcessExit>>,
    pid: Option<u32>,
    _stop: DropGuard,
}

/// What the tasks of a session share.
pub(crate) struct SharedSession {
    outgoing: CliWriter,
    pending: PendingRequests,
    router: Mutex<MessageRouter>,
    backlog: Arc<MessageBacklog>,
    run: watch::Sender<RunTracker>,
    dispatcher: RequestDispatcher,
    stop: CancellationToken,
    /// The last sign of life before the first answer.
    last_mark: Mutex<Option<String>>,
    stderr: crate::process::StderrTail,
    control_timeout: Duration,
}

impl ControlSession {
    /// Starts the tasks. `everything` gets all messages in one queue, instead of one per turn.
    pub(crate) fn start(
        wire: CliConnection,
        options: &Options,
        everything: Option<MessageSender>,
    ) -> Self {
        let stop = CancellationToken::new();
        let (outgoing, writer) = CliWriter::start(wire.input);
        let backlog = match &everything {
            Some(queue) => queue.backlog().clone(),
            None => Arc::new(MessageBacklog::new(options.limits.backlog)),
        };
        let shared = Arc::new(SharedSession {
            pending: PendingRequests::default(),
            router: Mutex::new(MessageRouter::new(everything, backlog.clone())),
            backlog,
            run: watch::channel(RunTracker::default()).0,
            dispatcher: RequestDispatcher::new(options, outgoing.clone(), stop.child_token()),
            outgoing,
            stop: stop.clone(),
            last_mark: Mutex::default(),
            stderr: wire.stderr,
            control_timeout: options.limits.control,
        });
        let pid = wire.peer.pid();
        let exit = shutdown::spawn_shutdown_task(wire.peer, &shared, options.limits.grace, writer);
        reader::spawn_reader(wire.output, shared.clone(), exit.clone(), options);
        Self { shared, exit, pid, _stop: stop.drop_guard() }
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.pid
    }

    pub(crate) fn shared(&self) -> &Arc<SharedSession> {
        &self.shared
    }

    /// Ends the CLI and waits until it is gone.
    pub(crate) async fn close(&mut self) -> ProcessExit {
        self.shared.stop.cancel();
        self.wait_for_exit().await
    }

    /// Returns what is over once the CLI is gone.
    pub(crate) fn wait_until_exited(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut exit = self.exit.clone();
        async move { drop(exit.wait_for(Option::is_some).await) }
    }

    async fn wait_for_exit(&mut self) -> ProcessExit {
        let exit = self.exit.wait_for(Option::is_some).await;
        exit.ok().and_then(|exit| *exit).unwrap_or_default()
    }
}

impl SharedSession {
    /// Asks the CLI something and waits for the answer. Dropped, it takes the question back.
    pub(crate) async fn request(
        &self,
        subtype: &str,
        fields: Map<String, Value>,
        limit: Duration,
    ) -> Result<Value, ControlError> {
        let mut asked = self.send_request(subtype, fields)?;
        let answer = timeout(limit, &mut asked.answer).await;
        match answer {
            Ok(Ok(answer)) => {
                asked.done = true;
                answer.map_err(|failure| failure.into_control_error(subtype))
            }
            Ok(Err(_)) => {
                asked.done = true;
                Err(self.pending.end_reason().unwrap_or(SessionEnd::Closed).into())
            }
            Err(_) => Err(ControlError::Timeout { subtype: subtype.to_owned(), after: limit }),
        }
    }

    /// Asks with the usual limit.
    pub(crate) async fn request_with_default_timeout(
        &self,
        subtype: &str,
        fields: Map<String, Value>,
    ) -> Result<Value, ControlError> {
        self.request(subtype, fields, self.control_timeout).await
    }

    fn send_request(
        &self,
        subtype: &str,
        mut fields: Map<String, Value>,
    ) -> Result<InFlightRequest<'_>, ControlError> {
        if self.outgoing.is_closed() && self.end_reason().is_none() {
            return Err(ControlError::InputClosed);
        }
        let id = uuid::Uuid::now_v7().to_string();
        let (sender, answer) = oneshot::channel();
        self.pending.add(&id, sender)?;
        fields.insert("subtype".to_owned(), subtype.into());
        self.outgoing.send(&serde_json::json!({
            "type": "control_request",
            "request_id": id,
            "request": fields,
        }));
        Ok(InFlightRequest { id, answer, done: false, shared: self })
    }

    pub(crate) fn outgoing(&self) -> &CliWriter {
        &self.outgoing
    }

    pub(crate) fn end_reason(&self) -> Option<SessionEnd> {
        self.pending.end_reason()
    }

    pub(crate) fn backlog(&self) -> &MessageBacklog {
        &self.backlog
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.text()
    }

    pub(crate) fn last_mark(&self) -> Option<String> {
        self.last_mark.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens a turn and sends its prompt, so that no answer can come before the turn is known.
    pub(crate) fn send_prompt(
        &self,
        uuid: &str,
        line: &Value,
    ) -> Result<MessageReceiver, SessionEnd> {
        let receiver = self.router().open_turn(uuid)?;
        self.run.send_modify(RunTracker::record_prompt);
        self.outgoing.send(line);
        Ok(receiver)
    }

    /// Takes the messages that belong to no turn from now on.
    pub(crate) fn unsolicited(&self) -> MessageReceiver {
        self.router().unsolicited()
    }

    fn router(&self) -> MutexGuard<'_, MessageRouter> {
        self.router.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the run is over, by the CLI's word or by the ceiling, and closes its input.
    pub(crate) async fn end_input_after_run(&self, ceiling: Option<Duration>) {
        run_tracker::wait_until_over(self.run.subscribe(), ceiling).await;
        self.outgoing.close();
    }
}

/// A question that waits for its answer.
struct InFlightRequest<'a> {
    id: String,
    answer: oneshot::Receiver<Result<Value, pending_requests::ControlRefusal>>,
    done: bool,
    shared: &'a SharedSession,
}

impl InFlightRequest<'_> {
    /// Leaves the question open.
    fn abandon(mut self) {
        self.done = true;
    }
}

impl Drop for InFlightRequest<'_> {
    fn drop(&mut self) {
        if !self.done && self.shared.pending.remove(&self.id) {
            self.shared.outgoing.send(&serde_json::json!({
                "type": "control_cancel_request",
                "request_id": self.id,
            }));
        }
    }
}
