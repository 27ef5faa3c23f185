//! `countersign client`: executes what a server has approved, on this machine, and asks here.
//!
//! One task reads the server's stream, one task per call executes it, one thread reads the keyboard;
//! all of them tell this loop, which alone knows what waits and what runs.

pub(super) mod approval_card;
mod approval_queue;
mod call_runner;
mod client_event;
mod keyboard;
mod lease;
mod local_executor;
mod outgoing_decision;
mod screen;
mod server_event;
mod settings;
mod stop_signals;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use countersign_core::ApprovalId;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use uuid::Uuid;

use self::approval_queue::{ApprovalQueue, DecisionLocation};
use self::call_runner::CallRunner;
use self::client_event::ClientEvent;
use self::keyboard::RawTerminal;
use self::lease::OutputBuffers;
use self::local_executor::LocalExecutor;
use self::outgoing_decision::DecisionReply;
use self::screen::TerminalScreen;
use self::server_event::{ClientApprovalRequest, ClientPreviewRequest, ServerEvent};
use self::stop_signals::StopSignals;
use super::server_link::{ANSWER, LinkError, ServerLink, ServerRefusal};
use super::{sandbox, serve};
use crate::cli::{ClientArgs, SandboxSwitch};
use crate::hint::HintedError;
use crate::output;

/// How long what is left at the end may take.
const CLOSING: Duration = Duration::from_millis(500);

/// How many pages of requests are asked for at most.
const PAGES: usize = 20;

/// Something that happened, for the loop.
#[derive(Debug)]
enum ClientMessage {
    Connected {
        again: bool,
    },
    Lost {
        why: String,
    },
    /// The server does not want us.
    Refused(Box<ServerRefusal>),
    Said(ServerEvent),
    Unreadable(String),
    /// Everything that waits at the server, and what we knew of when it was asked.
    Pending {
        requests: Vec<ClientApprovalRequest>,
        known: Vec<ApprovalId>,
    },
    Typed(String),
    NoKeyboard,
    /// The token's role is not one that decides.
    MayNotDecide,
    /// A card has been there for a moment.
    Glanced(ApprovalId),
    Answered(ApprovalId, DecisionReply),
}

pub(crate) fn run(args: ClientArgs) -> anyhow::Result<()> {
    let runtime = serve::runtime()?;
    let done = runtime.block_on(async { TerminalClient::open(args).await?.run().await });
    // Children are ended when their tasks are dropped.
    runtime.shutdown_timeout(CLOSING);
    done
}

/// The client and everything it holds.
struct TerminalClient {
    link: Arc<ServerLink>,
    screen: Arc<TerminalScreen>,
    desk: ApprovalQueue,
    work: CallRunner,
    bench: Arc<LocalExecutor>,
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
        let link = Arc::new(ServerLink::for_agent(&args.at).await?);
        let side = settings::side(&args)?;
        let sandbox = sandbox::probe_beside_server(args.sandbox, None).await?;
        let worth = match args.sandbox {
            SandboxSwitch::Off => sandbox::OFF.to_owned(),
            SandboxSwitch::Auto | SandboxSwitch::Required => sandbox::describe_level(&sandbox),
        };
        let project = args.at.project.clone().unwrap_or_else(|| "default".to_owned());
        let (news, heard) = unbounded_channel();
        let screen = TerminalScreen::new(output::raw_stdout(), args.json, output::is_coloured());
        let (screen, outputs) = (Arc::new(screen), Arc::new(OutputBuffers::default()));
        let bench = LocalExecutor::new(&side, sandbox, &project, outputs.clone());
        let bench = Arc::new(bench);
        let asking = settings::asking(&args);
        let desk = ApprovalQueue::new(asking, screen.clone(), news.clone());
        let work = CallRunner::new(link.clone(), screen.clone(), bench.clone(), outputs);
        let id = format!("client-{}", Uuid::now_v7());
        let greeting = ClientEvent::Connected {
            server: link.server().to_owned(),
            project,
            root: side.root().display().to_string(),
            sandbox: worth,
            client: id.clone(),
            asks: asking == DecisionLocation::Here,
        };
        Ok(Self {
            link,
            screen,
            desk,
            work,
            bench,
            news,
            heard,
            id,
            greeting,
            is_lost: false,
            was_connected: false,
        })
    }

    async fn run(mut self) -> anyhow::Result<()> {
        let keyboard = match self.desk.asking {
            DecisionLocation::Here => RawTerminal::open(self.news.clone()).ok(),
            DecisionLocation::Elsewhere(_) => None,
        };
        let following = stream::follow(self.link.clone(), self.id.clone(), self.news.clone());
        let following = tokio::spawn(following);
        let mut back = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
        let mut stops = StopSignals::new()?;
        let ended = loop {
            tokio::select! {
                () = stops.next() => break Ok(()),
                _ = back.recv() => {
                    keyboard.iter().for_each(RawTerminal::take);
                    self.desk.draw_prompt();
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
        let running = self.work.running();
        if running > 0 {
            self.screen.print_event(&ClientEvent::Stopping { running });
        }
        tokio::select! {
            () = self.work.end() => Ok(()),
            () = stops.next() => bail!("stopped at once: the server was not told of everything"),
        }
    }

    fn take(&mut self, news: ClientMessage) -> anyhow::Result<()> {
        match news {
            ClientMessage::Connected { again } => self.connected(again),
            ClientMessage::Lost { why } => self.lost(why),
            ClientMessage::Refused(refusal) => return Err(unwelcome(*refusal)),
            ClientMessage::Said(event) => self.handle_server_event(event),
            ClientMessage::Unreadable(why) => {
                let text = format!("the server says something this version cannot read: {why}");
                self.screen.print_event(&ClientEvent::Warning(text));
            }
            ClientMessage::Pending { requests, known } => self.catch_up(requests, &known),
            ClientMessage::Typed(text) => {
                if let Some(decision) = self.desk.handle_typed_text(&text) {
                    let (link, news) = (self.link.clone(), self.news.clone());
                    tokio::spawn(async move {
                        let answer = decision.send(&link).await;
                        let _ = news.send(ClientMessage::Answered(decision.id, answer));
                    });
                }
            }
            ClientMessage::NoKeyboard => {
                self.desk.leave_to_others("elsewhere: nothing can be typed here");
            }
            ClientMessage::MayNotDecide => {
                self.desk.leave_to_others("elsewhere: this token does not decide");
            }
            ClientMessage::Glanced(id) => self.desk.open_prompt(id),
            ClientMessage::Answered(id, answer) => self.desk.handle_decision_reply(id, answer),
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

    fn handle_server_event(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Request(request) => self.desk.add_request(*request),
            ServerEvent::Decided(decided) => {
                self.desk.settle(decided.approval_id, &decided.status, decided.by);
            }
            ServerEvent::State(state) => {
                if !matches!(state.status.as_str(), "pending" | "awaiting_approval") {
                    self.desk.settle_call(state.tool_id, &state.status);
                }
                // What is completed was reported: by us, if it was ours.
                if state.is_over() && state.status != "completed" {
                    let why = state.error.unwrap_or(state.status);
                    self.work.stop_call(state.tool_id, &why);
                }
            }
            ServerEvent::PreviewRequest(asked) => self.answer_preview_request(*asked),
            ServerEvent::Role(role) => self.screen.print_event(&ClientEvent::Role(role)),
            ServerEvent::Signal(signal) => self.work.take(*signal),
            ServerEvent::RunFailed { message } => {
                let text =
                    format!("the run failed: {}", countersign_tools::escape_to_line(&message));
                self.screen.print_event(&ClientEvent::Warning(text));
            }
            ServerEvent::Gap => self.ask_for_pending(),
            ServerEvent::Other => {}
        }
    }

    /// Says what is here, for those who decide. Whoever waits for it does not for long: nothing is said
    /// twice.
    fn answer_preview_request(&self, asked: ClientPreviewRequest) {
        let (link, bench, id) = (self.link.clone(), self.bench.clone(), self.id.clone());
        tokio::spawn(async move {
            let path = asked.id.to_string();
            let looking = tokio::task::spawn_blocking(move || bench.inspect_call(&asked, &id));
            if let Ok(body) = looking.await {
                let _ = link.post(&["tools", &path, "preimage"], &body, ANSWER).await;
            }
        });
    }

    /// Asks what waits: it may have come before us, or while we were away.
    fn ask_for_pending(&self) {
        if self.desk.asking != DecisionLocation::Here {
            return;
        }
        let (link, news, known) = (self.link.clone(), self.news.clone(), self.desk.waiting());
        tokio::spawn(async move {
            // If it cannot be asked, the stream is about to break too, and we come here again.
            let _ = match pending(&link).await {
                Ok(requests) => news.send(ClientMessage::Pending { requests, known }),
                Err(LinkError::Refused(refusal)) if refusal.code == "role" => {
                    news.send(ClientMessage::MayNotDecide)
                }
                Err(_) => Ok(()),
            };
        });
    }

    fn catch_up(&mut self, requests: Vec<ClientApprovalRequest>, known: &[ApprovalId]) {
        let gone = known.iter().filter(|id| !requests.iter().any(|it| it.approval_id == **id));
        for id in gone {
            self.desk.settle(*id, "no longer waits", None);
        }
        for request in requests {
            self.desk.add_request(request);
        }
    }
}

/// Returns everything that waits, oldest first.
async fn pending(link: &ServerLink) -> Result<Vec<ClientApprovalRequest>, LinkError> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let mut query = vec![("status", "pending"), ("limit", "100")];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = link.get(&["approvals"], &query).await?;
        let requests = page.get("approvals").and_then(Value::as_array).cloned();
        let requests = requests.into_iter().flatten();
        found.extend(
            requests.filter_map(|it| serde_json::from_value::<ClientApprovalRequest>(it).ok()),
        );
        cursor = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    // Ids are in the order of time, whichever way the list goes.
    found.sort_by_key(|request| request.approval_id);
    Ok(found)
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
