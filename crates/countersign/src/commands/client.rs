//! `countersign client`: executes what a server has approved, on this machine, and asks here.
//!
//! One task reads the server's stream, one task per call executes it, one thread reads the keyboard;
//! all of them tell this loop, which alone knows what waits and what runs.

mod settings;

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use countersign_api::call_status::CallStatus;
use countersign_api::received::{
    ReceivedApprovalRequest, ReceivedEvent, ReceivedPreviewRequest, ReceivedToolState,
};
use countersign_client::executor::{CallRunner, LocalExecutor};
use countersign_client::{
    ANSWER_TIMEOUT, ApiClient, ApiClientError, ServerRefusal, StreamUpdate, follow_stream,
};
use countersign_core::ApprovalId;
use countersign_tools::Environment;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use uuid::Uuid;

use super::sandbox;
use crate::cli::{ClientArgs, SandboxSwitch};
use crate::hint::HintedError;
use crate::runtime::runtime;
use crate::server_target::client_for_agent;
use crate::terminal::approval_queue::{ApprovalQueue, DecisionLocation};
use crate::terminal::client_event::ClientEvent;
use crate::terminal::client_message::ClientMessage;
use crate::terminal::keyboard::RawTerminal;
use crate::terminal::screen::TerminalScreen;
use crate::terminal::stop_signals::StopSignals;
use crate::{environment, output};

/// How long what is left at the end may take.
const CLOSING: Duration = Duration::from_millis(500);

/// How many pages of requests are asked for at most.
const PAGES: usize = 20;

pub(crate) fn run(args: ClientArgs) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let done = runtime.block_on(async { TerminalClient::open(args).await?.run().await });
    // Children are ended when their tasks are dropped.
    runtime.shutdown_timeout(CLOSING);
    done
}

/// The client and everything it holds.
struct TerminalClient {
    server: ApiClient,
    screen: Arc<TerminalScreen>,
    queue: ApprovalQueue,
    runner: CallRunner,
    local: Arc<LocalExecutor>,
    news: UnboundedSender<ClientMessage>,
    heard: UnboundedReceiver<ClientMessage>,
    /// This process, to the server.
    id: String,
    greeting: ClientEvent,
    is_lost: bool,
    was_connected: bool,
}

impl TerminalClient {
    async fn open(args: ClientArgs) -> anyhow::Result<Self> {
        let server = client_for_agent(&args.at).await?;
        let side = settings::side(&args)?;
        let sandbox = sandbox::probe_beside_server(args.sandbox, None).await?;
        let worth = match args.sandbox {
            SandboxSwitch::Off => sandbox::OFF.to_owned(),
            SandboxSwitch::Auto | SandboxSwitch::Required => sandbox::describe_level(&sandbox),
        };
        let project = args.at.project.clone().unwrap_or_else(|| "default".to_owned());
        let (news, heard) = unbounded_channel();
        let screen = TerminalScreen::new(output::raw_stdout(), args.json, output::is_coloured());
        let screen = Arc::new(screen);
        let tool_environment = Environment::from(environment::for_tools());
        let local = Arc::new(LocalExecutor::new(&side, sandbox, tool_environment, &project));
        let asking = settings::asking(&args);
        let queue = ApprovalQueue::new(asking, screen.clone(), news.clone());
        let shown = screen.clone();
        let listener = move |event| shown.print_event(&ClientEvent::Execution(event));
        let runner = CallRunner::new(server.clone(), local.clone(), Arc::new(listener));
        let id = format!("client-{}", Uuid::now_v7());
        let greeting = ClientEvent::Connected {
            server: server.address().as_str().to_owned(),
            project,
            root: side.root().display().to_string(),
            sandbox: worth,
            client: id.clone(),
            asks: asking == DecisionLocation::Here,
        };
        Ok(Self {
            server,
            screen,
            queue,
            runner,
            local,
            news,
            heard,
            id,
            greeting,
            is_lost: false,
            was_connected: false,
        })
    }

    async fn run(mut self) -> anyhow::Result<()> {
        let keyboard = match self.queue.asking {
            DecisionLocation::Here => RawTerminal::open(self.news.clone()).ok(),
            DecisionLocation::Elsewhere(_) => None,
        };
        let news = self.news.clone();
        // Nobody listens any more: the client is about to end.
        let tell = move |update| drop(news.send(ClientMessage::Stream(update)));
        let following = follow_stream(self.server.clone(), self.id.clone(), tell);
        let following = tokio::spawn(following);
        let mut back = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
        let mut stops = StopSignals::new()?;
        let ended = loop {
            tokio::select! {
                () = stops.next() => break Ok(()),
                _ = back.recv() => {
                    keyboard.iter().for_each(RawTerminal::take);
                    self.queue.draw_prompt();
                }
                Some(news) = self.heard.recv() => {
                    if let Err(error) = self.take(news) {
                        break Err(error);
                    }
                }
            }
        };
        following.abort();
        self.screen.end_prompt(false);
        drop(keyboard);
        self.end(&mut stops).await?;
        ended?;
        self.screen.print_event(&ClientEvent::Goodbye);
        Ok(())
    }

    /// Stops what runs and says so to the server; a second signal does not wait for that.
    async fn end(&self, stops: &mut StopSignals) -> anyhow::Result<()> {
        let running = self.runner.running();
        if running > 0 {
            self.screen.print_event(&ClientEvent::Stopping { running });
        }
        tokio::select! {
            () = self.runner.end() => Ok(()),
            () = stops.next() => bail!("stopped at once: the server was not told of everything"),
        }
    }

    fn take(&mut self, news: ClientMessage) -> anyhow::Result<()> {
        match news {
            ClientMessage::Stream(update) => return self.take_update(update),
            ClientMessage::Pending { requests, known } => self.catch_up(requests, &known),
            ClientMessage::Typed(text) => {
                if let Some(decision) = self.queue.handle_typed_text(&text) {
                    let (server, news) = (self.server.clone(), self.news.clone());
                    tokio::spawn(async move {
                        let answer = decision.send(&server).await;
                        let _ = news.send(ClientMessage::Answered(decision.id(), answer));
                    });
                }
            }
            ClientMessage::NoKeyboard => {
                self.queue.leave_to_others("elsewhere: nothing can be typed here");
            }
            ClientMessage::MayNotDecide => {
                self.queue.leave_to_others("elsewhere: this token does not decide");
            }
            ClientMessage::Glanced(id) => self.queue.open_prompt(id),
            ClientMessage::Answered(id, answer) => self.queue.handle_decision_reply(id, answer),
        }
        Ok(())
    }

    fn take_update(&mut self, update: StreamUpdate) -> anyhow::Result<()> {
        match update {
            StreamUpdate::Connected { again } => self.connected(again),
            StreamUpdate::Lost { why } => self.lost(why),
            StreamUpdate::Refused(refusal) => return Err(unwelcome(*refusal)),
            StreamUpdate::Event(event) => self.handle_server_event(event),
            StreamUpdate::Unreadable(why) => {
                let text = format!("the server says something this version cannot read: {why}");
                self.screen.print_event(&ClientEvent::Warning(text));
            }
        }
        Ok(())
    }

    fn connected(&mut self, again: bool) {
        let told = if again { &ClientEvent::ConnectedAgain } else { &self.greeting };
        self.screen.print_event(told);
        (self.is_lost, self.was_connected) = (false, true);
        self.ask_for_pending();
    }

    /// One line per loss, however often it is tried again.
    fn lost(&mut self, why: String) {
        if !std::mem::replace(&mut self.is_lost, true) {
            self.screen.print_event(&ClientEvent::Lost { why, was_there: self.was_connected });
        }
    }

    fn handle_server_event(&mut self, event: ReceivedEvent) {
        match event {
            ReceivedEvent::ApprovalRequest(request) => self.queue.add_request(*request),
            ReceivedEvent::ApprovalDecided(decided) => {
                let by = decided.decided_by;
                self.queue.settle(decided.approval_id, decided.status.as_str(), by);
            }
            ReceivedEvent::ToolState(ReceivedToolState { tool_id, status, error }) => {
                if !status.is_waiting() {
                    self.queue.settle_call(tool_id, status.as_str());
                }
                // What is completed was reported: by us, if it was ours.
                if status.is_over() && status != CallStatus::Completed {
                    let why = error.unwrap_or_else(|| status.to_string());
                    self.runner.stop_call(tool_id, &why);
                }
            }
            ReceivedEvent::PreviewRequest(asked) => self.answer_preview_request(*asked),
            ReceivedEvent::ExecutorRole(role) => {
                self.screen.print_event(&ClientEvent::Role(role));
            }
            ReceivedEvent::ExecutionSignal(signal) => self.runner.take(*signal),
            ReceivedEvent::RunError(error) => {
                let message = countersign_tools::escape_to_line(&error.message);
                let text = format!("the run failed: {message}");
                self.screen.print_event(&ClientEvent::Warning(text));
            }
            ReceivedEvent::Gap => self.ask_for_pending(),
            ReceivedEvent::Other => {}
        }
    }

    /// Says what is here, for those who decide. Whoever waits for it does not for long: nothing is said
    /// twice.
    fn answer_preview_request(&self, asked: ReceivedPreviewRequest) {
        let (server, local, id) = (self.server.clone(), self.local.clone(), self.id.clone());
        tokio::spawn(async move {
            let call = asked.tool_id.to_string();
            let looking = tokio::task::spawn_blocking(move || local.inspect_call(&asked, id));
            if let Ok(body) = looking.await {
                let path = ["tools", &call, "preimage"];
                let _ = server.post::<IgnoredAny>(&path, &body, ANSWER_TIMEOUT).await;
            }
        });
    }

    /// Asks what waits: it may have come before us, or while we were away.
    fn ask_for_pending(&self) {
        if self.queue.asking != DecisionLocation::Here {
            return;
        }
        let (server, news) = (self.server.clone(), self.news.clone());
        let known = self.queue.waiting();
        tokio::spawn(async move {
            // If it cannot be asked, the stream is about to break too, and we come here again.
            let _ = match pending(&server).await {
                Ok(requests) => news.send(ClientMessage::Pending { requests, known }),
                Err(ApiClientError::Refused(refusal)) if refusal.code == "role" => {
                    news.send(ClientMessage::MayNotDecide)
                }
                Err(_) => Ok(()),
            };
        });
    }

    fn catch_up(&mut self, requests: Vec<ReceivedApprovalRequest>, known: &[ApprovalId]) {
        let gone = known.iter().filter(|id| !requests.iter().any(|it| it.approval_id == **id));
        for id in gone {
            self.queue.settle(*id, "no longer waits", None);
        }
        for request in requests {
            self.queue.add_request(request);
        }
    }
}

/// Returns everything that waits, oldest first.
async fn pending(server: &ApiClient) -> Result<Vec<ReceivedApprovalRequest>, ApiClientError> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let mut query = vec![("status", CallStatus::Pending.as_str()), ("limit", "100")];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page: PendingPage = server.get(&["approvals"], &query).await?;
        let requests = page.approvals.iter();
        found.extend(requests.filter_map(|it| ReceivedApprovalRequest::deserialize(it).ok()));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    // Ids are in the order of time, whichever way the list goes.
    found.sort_by_key(|request| request.approval_id);
    Ok(found)
}

/// A page of requests; one that cannot be read does not hide the others.
#[derive(Deserialize)]
struct PendingPage {
    #[serde(default)]
    approvals: Vec<Value>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// Says why the server will not have us, and what can be done about it.
fn unwelcome(refusal: ServerRefusal) -> anyhow::Error {
    let hint = match refusal.status {
        401 | 403 => Some("check COUNTERSIGN_TOKEN or --token-file".to_owned()),
        404 if refusal.code.is_empty() => {
            Some("check --server: what answers there is not Countersign".to_owned())
        }
        404 => Some("check --project; `default` is the server's first".to_owned()),
        _ => refusal.hint,
    };
    let error = anyhow::anyhow!("the server refuses this client: {}", refusal.message);
    match hint {
        Some(hint) => HintedError { error, hint }.into(),
        None => error,
    }
}
