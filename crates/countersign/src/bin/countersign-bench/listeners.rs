//! `bench listeners`: very many event streams on one project, and one request that all of them hear of.
//!
//! The server is a process of its own, so that its memory is only what the streams cost it. A decision
//! after the request tells each listener that nothing more of the request can come.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use futures_util::StreamExt;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use sse_stream::SseByteStream;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant as Deadline, timeout_at};

use crate::bench_server::BenchServer;
use crate::cli::BenchListenersArgs;
use crate::measurement::print_line;
use crate::open_file_limit::raise_open_file_limit;
use crate::runtime;

/// How many connect at the same time.
const AT_ONCE: usize = 64;

/// How long each part may take before those that are missing count as lost.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn run(args: &BenchListenersArgs) -> anyhow::Result<()> {
    // The server inherits what we may have.
    raise_open_file_limit(args.n)?;
    runtime()?.block_on(async {
        let served = BenchServer::start().await?;
        let seen = measure(&served, args.n).await;
        served.stop().await?;
        let seen = seen?;
        seen.print(args.n);
        if seen.once < args.n {
            bail!("only {} of {} listeners saw the request exactly once", seen.once, args.n);
        }
        Ok(())
    })
}

/// What was seen from outside.
struct ListenerMeasurement {
    opened: Duration,
    /// How long after the call was handed in each listener heard of it, the first one first.
    delays: Vec<Duration>,
    /// How many heard of it exactly once.
    once: usize,
    /// The server's memory: before any listener, with all of them, and after the request.
    memory: [u64; 3],
}

async fn measure(served: &BenchServer, n: usize) -> anyhow::Result<ListenerMeasurement> {
    let http = Client::builder().no_proxy().build()?;
    // Whatever is made at the first request is no listener's.
    let first = ask(&http, served).await?;
    reject(&http, served, &first).await?;
    let before = served.memory()?;
    let started = Instant::now();
    let mut heard = listen(&http, served, n);
    let open =
        gather(&mut heard, n, |it| matches!(it, ListenerSignal::Open).then_some(())).await?.len();
    if open < n {
        bail!("only {open} of {n} streams could be opened");
    }
    let (opened, idle) = (started.elapsed(), served.memory()?);

    let asked = Instant::now();
    let request = ask(&http, served).await?;
    let at = gather(&mut heard, n, ListenerSignal::asked_at).await?;
    let mut delays: Vec<_> = at.into_iter().map(|at| at.duration_since(asked)).collect();
    delays.sort_unstable();
    let memory = [before, idle, served.memory()?];
    reject(&http, served, &request).await?;
    let times = gather(&mut heard, n, ListenerSignal::times).await?;
    let once = times.into_iter().filter(|times| *times == 1).count();
    Ok(ListenerMeasurement { opened, delays, once, memory })
}

impl ListenerMeasurement {
    fn print(&self, n: usize) {
        let milliseconds = |time: Option<&Duration>| time.map(|time| time.as_secs_f64() * 1e3);
        let [before, idle, after] = self.memory;
        let line = json!({
            "bench": "listeners",
            "system": "countersign",
            "case": format!("n={n}"),
            "role": "ours",
            "n": n,
            "saw_once": self.once,
            "open_ms": milliseconds(Some(&self.opened)),
            "first_ms": milliseconds(self.delays.first()),
            "p50_ms": milliseconds(self.delays.get(self.delays.len() / 2)),
            "last_ms": milliseconds(self.delays.last()),
            "bytes_per_listener": each(before, idle, n),
            "bytes_per_listener_after": each(before, after, n),
            "rss_mb": each(0, after, 1024 * 1024),
            "notes": "from handing in the call to reading the event; listeners and server share the machine",
        });
        print_line(&line.to_string());
    }
}

/// What a listener tells of itself.
enum ListenerSignal {
    /// The stream has begun.
    Open,
    /// The request was seen for the first time.
    Asked(Instant),
    /// The decision was seen, and the request so often before it.
    Decided(usize),
    /// It heard no more.
    Lost(anyhow::Error),
}

impl ListenerSignal {
    fn asked_at(self) -> Option<Instant> {
        if let Self::Asked(at) = self { Some(at) } else { None }
    }

    fn times(self) -> Option<usize> {
        if let Self::Decided(times) = self { Some(times) } else { None }
    }
}

/// Opens `n` streams, some at a time, and tells what comes on them.
fn listen(http: &Client, served: &BenchServer, n: usize) -> UnboundedReceiver<ListenerSignal> {
    let (told, heard) = unbounded_channel();
    let line = Arc::new(Semaphore::new(AT_ONCE));
    for _ in 0..n {
        let (told, line) = (told.clone(), line.clone());
        let request = served.signed(http.get(served.url("chat/stream?executor=none")));
        tokio::spawn(async move {
            if let Err(error) = follow(request, &line, &told).await {
                // Nobody gathers any more: what was to be measured is.
                let _ = told.send(ListenerSignal::Lost(error));
            }
        });
    }
    heard
}

async fn follow(
    request: RequestBuilder,
    line: &Semaphore,
    told: &UnboundedSender<ListenerSignal>,
) -> anyhow::Result<()> {
    let turn = line.acquire().await?;
    let response = request.send().await?.error_for_status()?;
    drop(turn);
    told.send(ListenerSignal::Open)?;
    let mut events = Box::pin(SseByteStream::new(response.bytes_stream()));
    let mut times = 0;
    while let Some(event) = events.next().await {
        match event?.event.as_deref() {
            Some("tool.approval_request") => {
                times += 1;
                if times == 1 {
                    told.send(ListenerSignal::Asked(Instant::now()))?;
                }
            }
            Some("tool.approval_decided") => {
                told.send(ListenerSignal::Decided(times))?;
            }
            _ => {}
        }
    }
    bail!("the server ended a stream")
}

/// Waits until `n` listeners told what is wanted of them, or for as long as there is patience.
async fn gather<T>(
    heard: &mut UnboundedReceiver<ListenerSignal>,
    n: usize,
    wanted: impl Fn(ListenerSignal) -> Option<T>,
) -> anyhow::Result<Vec<T>> {
    let until = Deadline::now() + PATIENCE;
    let mut found = Vec::with_capacity(n);
    while found.len() < n {
        match timeout_at(until, heard.recv()).await {
            Ok(Some(ListenerSignal::Lost(error))) => {
                return Err(error.context("a listener was lost"));
            }
            Ok(Some(told)) => found.extend(wanted(told)),
            Ok(None) | Err(_) => break,
        }
    }
    Ok(found)
}

/// Hands in a call that asks, and returns what it is asked under.
async fn ask(http: &Client, served: &BenchServer) -> anyhow::Result<String> {
    let input = json!({"path": "notes.txt", "content": "x".repeat(160)});
    let body = json!({"tool_name": "write_file", "tool_input": input});
    let asked = call(http, served, "tools/calls", &body).await?;
    let id = asked.get("approval_id").and_then(Value::as_str);
    Ok(id.with_context(|| format!("nobody was asked: {asked}"))?.to_owned())
}

async fn reject(http: &Client, served: &BenchServer, id: &str) -> anyhow::Result<()> {
    call(http, served, &format!("approvals/{id}/reject"), &json!({})).await?;
    Ok(())
}

async fn call(
    http: &Client,
    served: &BenchServer,
    path: &str,
    body: &Value,
) -> anyhow::Result<Value> {
    let response = served.signed(http.post(served.url(path))).json(body).send().await?;
    let (status, said) = (response.status(), response.text().await?);
    if !status.is_success() {
        bail!("`{path}` was answered with {status}: {said}");
    }
    Ok(serde_json::from_str(&said)?)
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a process are far below 2^52")]
fn each(before: u64, after: u64, n: usize) -> f64 {
    (after as f64 - before as f64) / n.max(1) as f64
}
