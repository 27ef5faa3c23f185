//! The fleet: the servers, each kept alive by a keeper that also does to it what it is told.

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::notes::Notes;
use crate::world::countersign;

/// So long a server may take to start on a loaded machine.
const STARTING: Duration = Duration::from_secs(20);

/// How one server is started.
#[derive(Clone)]
pub(super) struct Spec {
    pub(super) home: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(&'static str, String)>,
    /// Where what it says to the person goes.
    pub(super) log: PathBuf,
}

pub(super) enum Order {
    Kill,
    Pause(Duration),
}

pub(super) struct Fleet {
    orders: Vec<mpsc::UnboundedSender<Order>>,
    /// Where each one is; none while it is away.
    pub(super) addresses: watch::Receiver<Vec<Option<String>>>,
    keepers: JoinSet<()>,
}

impl Fleet {
    pub(super) fn start(specs: Vec<Spec>, notes: &Arc<Notes>) -> Self {
        let (published, addresses) = watch::channel(vec![None; specs.len()]);
        let published = Arc::new(published);
        let mut fleet = Self { orders: Vec::new(), addresses, keepers: JoinSet::new() };
        for (number, spec) in specs.into_iter().enumerate() {
            let (sender, orders) = mpsc::unbounded_channel();
            let (published, notes) = (published.clone(), notes.clone());
            fleet.orders.push(sender);
            fleet.keepers.spawn(Keeper { number, spec, orders, published, notes }.keep());
        }
        fleet
    }

    /// Returns once all servers listen; says whether they do.
    pub(super) async fn listens(&self) -> bool {
        let mut addresses = self.addresses.clone();
        let all = addresses.wait_for(|all| all.iter().all(Option::is_some));
        matches!(timeout(STARTING, all).await, Ok(Ok(_)))
    }

    pub(super) fn order(&self, server: usize, order: Order) {
        // A keeper that has given up has written down why.
        let _ = self.orders[server].send(order);
    }

    /// Ends all servers.
    pub(super) async fn stop(mut self) {
        self.orders.clear();
        while self.keepers.join_next().await.is_some() {}
    }
}

/// Keeps one server running.
struct Keeper {
    number: usize,
    spec: Spec,
    orders: mpsc::UnboundedReceiver<Order>,
    published: Arc<watch::Sender<Vec<Option<String>>>>,
    notes: Arc<Notes>,
}

/// How a server's life ended.
enum End {
    Killed,
    /// All is over.
    Over,
    ByItself,
}

impl Keeper {
    async fn keep(mut self) {
        loop {
            let end = self.live().await;
            self.publish(None);
            match end {
                End::Killed => {}
                End::Over => return,
                End::ByItself => {
                    let log = std::fs::read_to_string(&self.spec.log).unwrap_or_default();
                    let last: Vec<_> = log.lines().rev().take(5).collect();
                    let said = last.into_iter().rev().collect::<Vec<_>>().join("\n    ");
                    self.notes
                        .wrong(format!("server {} ended by itself:\n    {said}", self.number));
                    return;
                }
            }
        }
    }

    /// One life of the server, from its start to its end.
    async fn live(&mut self) -> End {
        let mut server = Server::spawn(&self.spec);
        let mut paused_until: Option<Instant> = None;
        let mut was_paused = false;
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(Order::Pause(lasts)) => {
                        self.notes.lock().pauses += 1;
                        server.signal(Signal::STOP);
                        was_paused = true;
                        paused_until = Some(Instant::now() + lasts);
                    }
                    Some(Order::Kill) => {
                        self.notes.lock().kills += 1;
                        server.kill().await;
                        return End::Killed;
                    }
                    None => {
                        server.kill().await;
                        return End::Over;
                    }
                },
                address = server.said.address() => self.publish(Some(address)),
                // One that was declared dead meanwhile may well leave; it is started anew.
                _ = server.child.wait() => {
                    return if was_paused { End::Killed } else { End::ByItself };
                }
                () = until(paused_until) => {
                    server.signal(Signal::CONT);
                    paused_until = None;
                }
            }
        }
    }

    fn publish(&self, address: Option<String>) {
        self.published.send_modify(|all| all[self.number] = address);
    }
}

struct Server {
    child: Child,
    said: Said,
}

/// What a server says to programs.
struct Said {
    lines: Lines<BufReader<ChildStdout>>,
    is_over: bool,
}

impl Server {
    fn spawn(spec: &Spec) -> Self {
        let log = File::options().create(true).append(true).open(&spec.log).unwrap();
        let mut command = countersign(&spec.home);
        command.args(&spec.args).envs(spec.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = Command::from(command).kill_on_drop(true).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, said: Said { lines, is_over: false } }
    }

    fn signal(&self, signal: Signal) {
        let pid = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        // It may just have ended.
        let _ = kill_process(pid.unwrap(), signal);
    }

    async fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.child.wait().await.unwrap();
    }
}

impl Said {
    /// Returns the address once it is said, and then never again. Dropped half-way nothing is lost.
    async fn address(&mut self) -> String {
        while !self.is_over {
            // At the end of what it says it is about to end itself, which somebody else sees.
            let Ok(Some(line)) = self.lines.next_line().await else { break };
            if let Some(url) = line.strip_prefix("listening on http://") {
                self.is_over = true;
                return url.trim_end_matches('/').to_owned();
            }
        }
        std::future::pending().await
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
