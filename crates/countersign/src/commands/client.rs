//! `countersign client`: executes what a server has approved, on this machine, and asks here.
//!
//! One task reads the server's stream, one task per call executes it, one thread reads the keyboard;
//! all of them tell this loop, which alone knows what waits and what runs.

mod bench;
pub(super) mod card;
mod decision;
mod desk;
mod event;
mod keyboard;
mod lease;
mod screen;
mod settings;
mod stops;
mod stream;
mod told;
mod work;

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use countersign_core::ApprovalId;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use uuid::Uuid;

use self::bench::Bench;
use self::decision::Answer;
use self::desk::{Asking, Desk};
use self::event::{Event, PreviewRequest, Request};
use self::keyboard::Keyboard;
use self::lease::Outputs;
use self::screen::Screen;
use self::stops::Stops;
use self::told::Told;
use self::work::Work;
use super::link::{ANSWER, Link, LinkError, Refusal};
use super::{sandbox, serve};
use crate::cli::{ClientArgs, SandboxSwitch};
use crate::hint::Hinted;
use crate::output;

/// How long what is left at the end may take.
const CLOSING: Duration = Duration::from_millis(500);

/// How many pages of requests are asked for at most.
const PAGES: usize = 20;

/// Something that happened, for the loop.
#[derive(Debug)]
enum News {
    Connected {
        again: bool,
    },
    Lost {
        why: String,
    },
    /// The server does not want us.
    Refused(Box<Refusal>),
    Said(Event),
    Unreadable(String),
    /// Everything that waits at the server, and what we knew of when it was asked.
    Pending {
        requests: Vec<Request>,
        known: Vec<ApprovalId>,
    },
    Typed(String),
    NoKeyboard,
    /// The token's role is not one that decides.
    MayNotDecide,
    /// A card has been there for a moment.
    Glanced(ApprovalId),
    Answered(ApprovalId, Answer),
}

pub(crate) fn run(args: ClientArgs) -> anyhow::Result<()> {
    let runtime = serve::runtime()?;
    let done = runtime.block_on(async { Client::open(args).await?.run().await });
    // Children are ended when their tasks are dropped.
    runtime.shutdown_timeout(CLOSING);
    done
}

/// The client and everything it holds.
struct Client {
    link: Arc<Link>,
    screen: Arc<Screen>,
    desk: Desk,
    work: Work,
    bench: Arc<Bench>,
    news: UnboundedSender<News>,
    heard: UnboundedReceiver<News>,
    /// This process, to the server.
    id: String,
    greeting: Told,
    is_lost: bool,
    was_connected: bool,
}

impl Client {
    async fn open(args: ClientArgs) -> anyhow::Result<Self> {
        let link = Arc::new(Link::for_agent(&args.at).await?);
        let side = settings::side(&args)?;
        let sandbox = sandbox::beside(args.sandbox, None).await?;
        let worth = match args.sandbox {
            SandboxSwitch::Off => sandbox::OFF.to_owned(),
            SandboxSwitch::Auto | SandboxSwitch::Required => sandbox::worth(&sandbox),
        };
        let project = args.at.project.clone().unwrap_or_else(|| "default".to_owned());
        let (news, heard) = unbounded_channel();
        let screen = Screen::new(output::raw(), args.json, output::is_coloured());
        let (screen, outputs) = (Arc::new(screen), Arc::new(Outputs::default()));
        let bench = Bench::new(&side, sandbox, &project, outputs.clone());
        let bench = Arc::new(bench);
        let asking = settings::asking(&args);
        let desk = Desk::new(asking, screen.clone(), news.clone());
        let work = Work::new(link.clone(), screen.clone(), bench.clone(), outputs);
        let id = format!("client-{}", Uuid::now_v7());
        let greeting = Told::Connected {
            server: link.server().to_owned(),
            project,
            root: side.root().display().to_string(),
            sandbox: worth,
            client: id.clone(),
            asks: asking == Asking::Here,
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
            Asking::Here => Keyboard::open(self.news.clone()).ok(),
            Asking::Elsewhere(_) => None,
        };
        let following = stream::follow(self.link.clone(), self.id.clone(), self.news.clone());
        let following = tokio::spawn(following);
        let mut back = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
        let mut stops = Stops::new()?;
        let ended = loop {
            tokio::select! {
                () = stops.next() => break Ok(()),
                _ = back.recv() => {
                    keyboard.iter().for_each(Keyboard::take);
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
        self.screen.tell(&Told::Goodbye);
        Ok(())
    }

    /// Stops what runs and says so to the server; a second signal does not wait for that.
    async fn end(&self, stops: &mut Stops) -> anyhow::Result<()> {
        let running = self.work.running();
        if running > 0 {
            self.screen.tell(&Told::Stopping { running });
        }
        tokio::select! {
            () = self.work.end() => Ok(()),
            () = stops.next() => bail!("stopped at once: the server was not told of everything"),
        }
    }

    fn take(&mut self, news: News) -> anyhow::Result<()> {
        match news {
            News::Connected { again } => self.connected(again),
            News::Lost { why } => self.lost(why),
            News::Refused(refusal) => return Err(unwelcome(*refusal)),
            News::Said(event) => self.hear(event),
            News::Unreadable(why) => {
                let text = format!("the server says something this version cannot read: {why}");
                self.screen.tell(&Told::Warning(text));
            }
            News::Pending { requests, known } => self.catch_up(requests, &known),
            News::Typed(text) => {
                if let Some(decision) = self.desk.typed(&text) {
                    let (link, news) = (self.link.clone(), self.news.clone());
                    tokio::spawn(async move {
                        let answer = decision.send(&link).await;
                        let _ = news.send(News::Answered(decision.id, answer));
                    });
                }
            }
            News::NoKeyboard => self.desk.leave_to_others("elsewhere: nothing can be typed here"),
            News::MayNotDecide => {
                self.desk.leave_to_others("elsewhere: this token does not decide");
            }
            News::Glanced(id) => self.desk.ready(id),
            News::Answered(id, answer) => self.desk.answered(id, answer),
        }
        Ok(())
    }

    fn connected(&mut self, again: bool) {
        let told = if again { &Told::ConnectedAgain } else { &self.greeting };
        self.screen.tell(told);
        (self.is_lost, self.was_connected) = (false, true);
        self.ask_for_pending();
    }

    /// One line per loss, however often it is tried again.
    fn lost(&mut self, why: String) {
        if !std::mem::replace(&mut self.is_lost, true) {
            self.screen.tell(&Told::Lost { why, was_there: self.was_connected });
        }
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Request(request) => self.desk.arrive(*request),
            Event::Decided(decided) => {
                self.desk.settle(decided.approval_id, &decided.status, decided.by);
            }
            Event::State(state) => {
                if !matches!(state.status.as_str(), "pending" | "awaiting_approval") {
                    self.desk.settle_call(state.tool_id, &state.status);
                }
                // What is completed was reported: by us, if it was ours.
                if state.is_over() && state.status != "completed" {
                    let why = state.error.unwrap_or(state.status);
                    self.work.over(state.tool_id, &why);
                }
            }
            Event::PreviewRequest(asked) => self.look(*asked),
            Event::Role(role) => self.screen.tell(&Told::Role(role)),
            Event::Signal(signal) => self.work.take(*signal),
            Event::RunFailed { message } => {
                let text = format!("the run failed: {}", countersign_tools::shown(&message));
                self.screen.tell(&Told::Warning(text));
            }
            Event::Gap => self.ask_for_pending(),
            Event::Other => {}
        }
    }

    /// Says what is here, for those who decide. Whoever waits for it does not for long: nothing is said
    /// twice.
    fn look(&self, asked: PreviewRequest) {
        let (link, bench, id) = (self.link.clone(), self.bench.clone(), self.id.clone());
        tokio::spawn(async move {
            let path = asked.id.to_string();
            let looking = tokio::task::spawn_blocking(move || bench.look(&asked, &id));
            if let Ok(body) = looking.await {
                let _ = link.post(&["tools", &path, "preimage"], &body, ANSWER).await;
            }
        });
    }

    /// Asks what waits: it may have come before us, or while we were away.
    fn ask_for_pending(&self) {
        if self.desk.asking != Asking::Here {
            return;
        }
        let (link, news, known) = (self.link.clone(), self.news.clone(), self.desk.waiting());
        tokio::spawn(async move {
            // If it cannot be asked, the stream is about to break too, and we come here again.
            let _ = match pending(&link).await {
                Ok(requests) => news.send(News::Pending { requests, known }),
                Err(LinkError::Refused(refusal)) if refusal.code == "role" => {
                    news.send(News::MayNotDecide)
                }
                Err(_) => Ok(()),
            };
        });
    }

    fn catch_up(&mut self, requests: Vec<Request>, known: &[ApprovalId]) {
        let gone = known.iter().filter(|id| !requests.iter().any(|it| it.approval_id == **id));
        for id in gone {
            self.desk.settle(*id, "no longer waits", None);
        }
        for request in requests {
            self.desk.arrive(request);
        }
    }
}

/// Returns everything that waits, oldest first.
async fn pending(link: &Link) -> Result<Vec<Request>, LinkError> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let mut query = vec![("status", "pending"), ("limit", "100")];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = link.get(&["approvals"], &query).await?;
        let requests = page.get("approvals").and_then(Value::as_array).cloned();
        let requests = requests.into_iter().flatten();
        found.extend(requests.filter_map(|it| serde_json::from_value::<Request>(it).ok()));
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
fn unwelcome(refusal: Refusal) -> anyhow::Error {
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
        Some(hint) => Hinted { error, hint }.into(),
        None => error,
    }
}
