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
mod desk;
mod head;
mod keeper;
mod pending;
mod queue;
mod reader;
mod request;
mod response;
mod router;
mod run;
mod writer;

pub use backlog::Backlog;
pub(crate) use queue::{Queue, Unread};
pub use request::Request;
pub use response::{
    ContextUsage, InitializeResponse, InterruptReceipt, McpServerStatus, McpServersChange, Rewind,
    TaskOutput,
};

use crate::error::{ControlError, SessionEnd};
use crate::options::Options;
use crate::process::Exit;
use crate::transport::Wire;
use desk::Desk;
use pending::Pending;
use router::Router;
use run::Run;
use writer::Outgoing;

/// A session: the tasks around one line, and what they share. Dropping it ends the CLI.
pub(crate) struct Session {
    shared: Arc<Shared>,
    exit: watch::Receiver<Option<Exit>>,
    pid: Option<u32>,
    _stop: DropGuard,
}

/// What the tasks of a session share.
pub(crate) struct Shared {
    outgoing: Outgoing,
    pending: Pending,
    router: Mutex<Router>,
    backlog: Arc<Backlog>,
    run: watch::Sender<Run>,
    desk: Desk,
    stop: CancellationToken,
    /// The last sign of life before the first answer.
    last_mark: Mutex<Option<String>>,
    stderr: crate::process::StderrTail,
    control_timeout: Duration,
}

impl Session {
    /// Starts the tasks. `everything` gets all messages in one queue, instead of one per turn.
    pub(crate) fn start(wire: Wire, options: &Options, everything: Option<Queue>) -> Self {
        let stop = CancellationToken::new();
        let (outgoing, writer) = Outgoing::start(wire.input);
        let backlog = match &everything {
            Some(queue) => queue.backlog().clone(),
            None => Arc::new(Backlog::new(options.limits.backlog)),
        };
        let shared = Arc::new(Shared {
            pending: Pending::default(),
            router: Mutex::new(Router::new(everything, backlog.clone())),
            backlog,
            run: watch::channel(Run::default()).0,
            desk: Desk::new(options, outgoing.clone(), stop.child_token()),
            outgoing,
            stop: stop.clone(),
            last_mark: Mutex::default(),
            stderr: wire.stderr,
            control_timeout: options.limits.control,
        });
        let pid = wire.peer.pid();
        let exit = keeper::start(wire.peer, &shared, options.limits.grace, writer);
        reader::start(wire.output, shared.clone(), exit.clone(), options);
        Self { shared, exit, pid, _stop: stop.drop_guard() }
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.pid
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Ends the CLI and waits until it is gone.
    pub(crate) async fn close(&mut self) -> Exit {
        self.shared.stop.cancel();
        self.exited().await
    }

    /// Returns what is over once the CLI is gone.
    pub(crate) fn gone(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut exit = self.exit.clone();
        async move { drop(exit.wait_for(Option::is_some).await) }
    }

    async fn exited(&mut self) -> Exit {
        let exit = self.exit.wait_for(Option::is_some).await;
        exit.ok().and_then(|exit| *exit).unwrap_or_default()
    }
}

impl Shared {
    /// Asks the CLI something and waits for the answer. Dropped, it takes the question back.
    pub(crate) async fn request(
        &self,
        subtype: &str,
        fields: Map<String, Value>,
        limit: Duration,
    ) -> Result<Value, ControlError> {
        let mut asked = self.ask(subtype, fields)?;
        let answer = timeout(limit, &mut asked.answer).await;
        match answer {
            Ok(Ok(answer)) => {
                asked.done = true;
                answer.map_err(|failure| failure.explain(subtype))
            }
            Ok(Err(_)) => {
                asked.done = true;
                Err(self.pending.end().unwrap_or(SessionEnd::Closed).into())
            }
            Err(_) => Err(ControlError::Timeout { subtype: subtype.to_owned(), after: limit }),
        }
    }

    /// Asks with the usual limit.
    pub(crate) async fn ask_usual(
        &self,
        subtype: &str,
        fields: Map<String, Value>,
    ) -> Result<Value, ControlError> {
        self.request(subtype, fields, self.control_timeout).await
    }

    fn ask(
        &self,
        subtype: &str,
        mut fields: Map<String, Value>,
    ) -> Result<Asked<'_>, ControlError> {
        if self.outgoing.is_closed() && self.end().is_none() {
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
        Ok(Asked { id, answer, done: false, shared: self })
    }

    pub(crate) fn outgoing(&self) -> &Outgoing {
        &self.outgoing
    }

    pub(crate) fn end(&self) -> Option<SessionEnd> {
        self.pending.end()
    }

    pub(crate) fn backlog(&self) -> &Backlog {
        &self.backlog
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.text()
    }

    pub(crate) fn last_mark(&self) -> Option<String> {
        self.last_mark.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens a turn and sends its prompt, so that no answer can come before the turn is known.
    pub(crate) fn send_prompt(&self, uuid: &str, line: &Value) -> Result<Unread, SessionEnd> {
        let receiver = self.router().open(uuid)?;
        self.run.send_modify(Run::prompted);
        self.outgoing.send(line);
        Ok(receiver)
    }

    /// Takes the messages that belong to no turn from now on.
    pub(crate) fn unsolicited(&self) -> Unread {
        self.router().unsolicited()
    }

    fn router(&self) -> MutexGuard<'_, Router> {
        self.router.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the run is over, by the CLI's word or by the ceiling, and closes its input.
    pub(crate) async fn end_input_after_run(&self, ceiling: Option<Duration>) {
        run::over(self.run.subscribe(), ceiling).await;
        self.outgoing.close();
    }
}

/// A question that waits for its answer.
struct Asked<'a> {
    id: String,
    answer: oneshot::Receiver<Result<Value, pending::Refusal>>,
    done: bool,
    shared: &'a Shared,
}

impl Asked<'_> {
    /// Leaves the question open.
    fn abandon(mut self) {
        self.done = true;
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.done && self.shared.pending.forget(&self.id) {
            self.shared.outgoing.send(&serde_json::json!({
                "type": "control_cancel_request",
                "request_id": self.id,
            }));
        }
    }
}
