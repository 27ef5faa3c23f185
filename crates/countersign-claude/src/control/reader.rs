//! The task that reads from the CLI. It waits for the pipe, and a moment at most for anything else.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::SharedSession;
use super::backlog::BacklogPacer;
use super::pending_requests::ControlRefusal;
use super::routing_header::{MessageAddress, RoutingHeader};
use super::run_tracker::RunTracker;
use crate::error::{SessionEnd, StreamError};
use crate::message::Message;
use crate::mirror::{TranscriptBatch, TranscriptMirror};
use crate::options::Options;
use crate::process::{CliVersion, ProcessExit};
use crate::transport::{OutputLine, OutputLineReader};

/// How long output is still waited for once the CLI is gone: a grandchild may hold it open.
const DRAIN: Duration = Duration::from_secs(1);

/// How long the CLI may take to end once it has closed its output.
const TO_END: Duration = Duration::from_secs(2);

/// What goes to the caller, in order.
enum ReaderDelivery {
    Line(MessageAddress, String),
    Report(StreamError),
    Rest,
    Mirrored(TranscriptBatch, usize),
    End(SessionEnd, bool),
}

struct OutputReader {
    shared: Arc<SharedSession>,
    line_limit: usize,
    /// Where deliveries wait for the transcript store; without one they go out at once.
    mirrored: Option<mpsc::UnboundedSender<ReaderDelivery>>,
    /// The last result, if it was a failure and nothing was said since.
    failure: Option<String>,
    warned_of_version: bool,
    /// Whether the CLI has asked something since the last time others were let to work.
    asked: bool,
    patience: BacklogPacer,
}

pub(super) fn spawn_reader(
    output: Box<dyn AsyncRead + Send + Unpin>,
    shared: Arc<SharedSession>,
    exit: watch::Receiver<Option<ProcessExit>>,
    options: &Options,
) {
    let mirrored = options.store.clone().map(|store| {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(run_mirror(TranscriptMirror::new(store), receiver, shared.clone()));
        sender
    });
    let line_limit = options.limits.line;
    let lines = OutputLineReader::new(output, line_limit);
    let reader = OutputReader {
        shared,
        line_limit,
        mirrored,
        failure: None,
        warned_of_version: false,
        asked: false,
        patience: BacklogPacer::new(),
    };
    tokio::spawn(reader.read(lines, exit));
}

impl OutputReader {
    async fn read<R: AsyncRead + Unpin>(
        mut self,
        mut lines: OutputLineReader<R>,
        mut exit: watch::Receiver<Option<ProcessExit>>,
    ) {
        let broken = loop {
            match next_line(&mut lines, &mut exit).await {
                Ok(Some(line)) => {
                    self.handle_output(line);
                    // What came with it goes out with it.
                    while let Some(line) = lines.next_buffered() {
                        self.handle_output(line);
                    }
                    self.shared.router().flush();
                    self.yield_to_consumers().await;
                }
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        let (end, is_good) = self.determine_end(broken, exit).await;
        tracing::debug!(%end, "the session is over");
        self.shared.pending.finish(end.clone());
        self.shared.dispatcher.close();
        self.shared.run.send_modify(RunTracker::mark_ended);
        self.deliver(ReaderDelivery::End(end, is_good));
    }

    /// Lets those at work who were asked something, since a task that always finds more to read
    /// would keep them from it; and those who read, for a moment.
    async fn yield_to_consumers(&mut self) {
        if std::mem::take(&mut self.asked) {
            tokio::task::yield_now().await;
        }
        self.patience.wait_for_reader(&self.shared.backlog).await;
    }

    fn handle_output(&mut self, line: OutputLine) {
        match line {
            OutputLine::Text(line) => self.handle_line(line),
            OutputLine::Oversize { bytes } => {
                tracing::warn!(bytes, limit = self.line_limit, "a line was too long");
                let limit = self.line_limit;
                self.deliver(ReaderDelivery::Report(StreamError::Oversize { bytes, limit }));
            }
            OutputLine::NotText { bytes } => tracing::debug!(bytes, "skipped what is not text"),
        }
    }

    fn handle_line(&mut self, line: String) {
        // Something in the CLI printed where only messages belong.
        if !line.trim_start().starts_with('{') {
            tracing::debug!(line, "skipped a line that is no message");
            return;
        }
        let head = match RoutingHeader::parse(&line) {
            Ok(head) => head,
            Err(error) => {
                tracing::warn!(%error, "skipped a line that cannot be read");
                if let Err(error) = Message::parse(&line) {
                    self.deliver(ReaderDelivery::Report(error.into()));
                }
                return;
            }
        };
        match head.kind().as_ref() {
            "control_response" => {
                self.shared.router().flush();
                self.resolve_response(&line);
            }
            "control_request" => {
                // Who is asked has been told all that was said before.
                self.shared.router().flush();
                self.shared.dispatcher.dispatch(&line);
                self.asked = true;
            }
            "control_cancel_request" => {
                if let Some(id) = head.request_id() {
                    self.shared.dispatcher.cancel(&id);
                }
            }
            "keep_alive" => {
                if let Some(mark) = head.startup_mark() {
                    let mut last =
                        self.shared.last_mark.lock().unwrap_or_else(PoisonError::into_inner);
                    *last = Some(mark.into_owned());
                }
            }
            "transcript_mirror" => self.forward_transcript(&line),
            _ => {
                self.observe_message(&head, &line);
                if !head.is_host_only() {
                    self.deliver(ReaderDelivery::Line(MessageAddress::from_header(&head), line));
                }
            }
        }
    }

    /// Hands an answer to whoever asked.
    fn resolve_response(&self, line: &str) {
        let Ok(Value::Object(mut frame)) = serde_json::from_str(line) else { return };
        let Some(Value::Object(mut answer)) = frame.remove("response") else { return };
        let Some(id) = answer.get("request_id").and_then(Value::as_str).map(str::to_owned) else {
            return;
        };
        // An answer to `initialize` may bring questions that were in flight before we came.
        for list in [
            "pending_permission_requests",
            "pending_user_dialog_requests",
            "pending_elicitation_requests",
        ] {
            for place in [&frame, &answer] {
                let listed = place.get(list).and_then(Value::as_array).into_iter().flatten();
                listed.for_each(|request| self.shared.dispatcher.dispatch(&request.to_string()));
            }
        }
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
        let answer = if text("subtype").as_deref() == Some("error") {
            let message = text("error").unwrap_or_else(|| "no reason was given".to_owned());
            Err(ControlRefusal { message, code: text("error_code") })
        } else {
            Ok(answer.remove("response").unwrap_or_default())
        };
        self.shared.pending.resolve(&id, answer);
    }

    /// Takes note of what a message says about the run.
    fn observe_message(&mut self, head: &RoutingHeader<'_>, line: &str) {
        self.shared.run.send_if_modified(|run| run.observe(head));
        let (kind, subtype) = (head.kind(), head.subtype());
        if subtype == "session_state_changed" && head.state() == "idle" {
            self.deliver(ReaderDelivery::Rest);
        }
        if kind == "result" {
            self.failure = head.is_error().then(|| line.to_owned());
        } else if subtype != "session_state_changed" && kind != "command_lifecycle" {
            self.failure = None;
        }
        if subtype == "init"
            && !self.warned_of_version
            && let Some(version) = head.version().and_then(|it| CliVersion::parse(&it))
            && version < CliVersion::MINIMUM
        {
            self.warned_of_version = true;
            tracing::warn!(%version, minimum = %CliVersion::MINIMUM, "the CLI is too old");
        }
    }

    fn forward_transcript(&self, line: &str) {
        let Ok(Value::Object(mut frame)) = serde_json::from_str(line) else { return };
        let file_path = frame.get("filePath").and_then(Value::as_str).unwrap_or_default();
        let file_path = file_path.to_owned();
        if let Some(Value::Array(entries)) = frame.remove("entries") {
            let batch = TranscriptBatch { file_path, entries };
            self.deliver(ReaderDelivery::Mirrored(batch, line.len()));
        }
    }

    fn deliver(&self, delivery: ReaderDelivery) {
        match &self.mirrored {
            Some(queue) => drop(queue.send(delivery)),
            None => self.shared.deliver(delivery),
        }
    }

    /// Finds out why the output has ended, and whether that is as it should be.
    async fn determine_end(
        &mut self,
        broken: Option<String>,
        mut exit: watch::Receiver<Option<ProcessExit>>,
    ) -> (SessionEnd, bool) {
        let closed = self.shared.stop.is_cancelled();
        let exit = match timeout(TO_END, exit.wait_for(Option::is_some)).await {
            Ok(Ok(exit)) => *exit,
            _ => None,
        };
        // Whatever it is now, it does not speak to us any more.
        self.shared.stop.cancel();
        let stderr = self.shared.stderr.clone().text_after_exit().await;
        let failed = self.failure.take().and_then(|line| Message::parse(&line).ok());
        match (exit, broken, failed) {
            _ if closed => (SessionEnd::Closed, true),
            (_, Some(reason), _) => (SessionEnd::Broken { reason, stderr }, false),
            (None, None, _) => {
                let reason = "it closed its output and stayed".to_owned();
                (SessionEnd::Broken { reason, stderr }, false)
            }
            (Some(exit), None, Some(result)) if !exit.is_success() => {
                let fault = result.known_fault();
                match result {
                    Message::Result(frame) => {
                        (SessionEnd::Failed(Box::new(frame.into_body()), fault), false)
                    }
                    _ => (SessionEnd::Exited { exit, stderr }, false),
                }
            }
            (Some(exit), None, _) => {
                let is_good = exit.is_success() && self.shared.run.borrow().has_all_results();
                (SessionEnd::Exited { exit, stderr }, is_good)
            }
        }
    }
}

impl SharedSession {
    fn deliver(&self, delivery: ReaderDelivery) {
        match delivery {
            ReaderDelivery::Line(address, line) => self.router().route(&address, line),
            ReaderDelivery::Rest => self.router().close_started_turns(),
            ReaderDelivery::Report(error) => self.router().report(error),
            ReaderDelivery::Mirrored(..) => {
                tracing::debug!("a copy of the transcript came unasked");
            }
            ReaderDelivery::End(end, is_good) => self.router().finish(&end, is_good),
        }
    }
}

/// Returns the next line; once the CLI is gone, only what is still in the pipe.
async fn next_line<R: AsyncRead + Unpin>(
    lines: &mut OutputLineReader<R>,
    exit: &mut watch::Receiver<Option<ProcessExit>>,
) -> std::io::Result<Option<OutputLine>> {
    if exit.borrow_and_update().is_none() {
        tokio::select! {
            line = lines.next() => return line,
            _ = exit.changed() => {}
        }
    }
    timeout(DRAIN, lines.next()).await.unwrap_or(Ok(None))
}

/// Copies transcripts, and lets a result pass only once all before it is written.
async fn run_mirror(
    mut mirror: TranscriptMirror,
    mut deliveries: mpsc::UnboundedReceiver<ReaderDelivery>,
    shared: Arc<SharedSession>,
) {
    while let Some(delivery) = deliveries.recv().await {
        let losses = match &delivery {
            ReaderDelivery::Mirrored(batch, bytes) => mirror.add(batch.clone(), *bytes).await,
            ReaderDelivery::Line(address, _) if address.is_result() => mirror.flush().await,
            ReaderDelivery::End(..) => mirror.flush().await,
            _ => Vec::new(),
        };
        for loss in losses {
            let line = loss.to_line();
            let address = MessageAddress::from_header(&RoutingHeader::default());
            shared.deliver(ReaderDelivery::Line(address, line));
        }
        if !matches!(delivery, ReaderDelivery::Mirrored(..)) {
            shared.deliver(delivery);
        }
        shared.router().flush();
    }
}
