//! Somebody who hears everything on the event stream, across restarts of the server.

use std::collections::VecDeque;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde_json::Value;
use sse_stream::{Sse, SseStream};

use crate::world::TOKEN;

pub(crate) struct Listener {
    http: reqwest::Client,
    url: String,
    stream: Option<BoxStream<'static, Sse>>,
    last: Option<String>,
    /// The numbers that came: none may come twice or out of order.
    seen: VecDeque<u64>,
}

impl Listener {
    pub(crate) async fn new(http: reqwest::Client, url: String) -> Self {
        let mut listener = Self { http, url, stream: None, last: None, seen: VecDeque::new() };
        listener.connect().await;
        listener
    }

    /// Connects, again if need be, and goes on where it was.
    async fn connect(&mut self) {
        let url = format!("{}/my/projects/default/chat/stream?executor=none", self.url);
        loop {
            let mut request = self.http.get(&url).bearer_auth(TOKEN);
            if let Some(last) = &self.last {
                request = request.header("Last-Event-ID", last);
            }
            match request.send().await {
                Ok(response) => {
                    assert_eq!(response.status(), 200);
                    let events = SseStream::from_bytes_stream(response.bytes_stream());
                    let events = events.take_while(|it| std::future::ready(it.is_ok()));
                    self.stream = Some(events.filter_map(async |it| it.ok()).boxed());
                    return;
                }
                // It is just being started again.
                Err(_) => tokio::task::yield_now().await,
            }
        }
    }

    /// Returns the next event: its name and its data.
    pub(crate) async fn next(&mut self) -> (String, Value) {
        loop {
            let Some(stream) = &mut self.stream else {
                self.connect().await;
                continue;
            };
            let Some(sse) = stream.next().await else {
                self.stream = None;
                continue;
            };
            if let Some(id) = &sse.id {
                let number: u64 = id.parse().unwrap();
                assert!(self.seen.back().is_none_or(|last| *last < number), "{number} came again");
                self.seen.push_back(number);
                self.last = Some(id.clone());
            }
            if let (Some(event), Some(data)) = (sse.event, sse.data) {
                return (event, serde_json::from_str(&data).unwrap());
            }
        }
    }

    /// Returns the next event of a kind.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let (event, data) = self.next().await;
            if event == kind {
                return data;
            }
            assert_ne!(event, "run.error", "before `{kind}`: {data}");
        }
    }

    /// Returns when a call of a tool came into a state.
    pub(crate) async fn until_state(&mut self, tool: &str, status: &str) -> Value {
        loop {
            let state = self.until("tool.state").await;
            if state["tool_name"] == tool && state["status"] == status {
                return state;
            }
        }
    }

    /// Returns what the agent said last before the run came to its end.
    pub(crate) async fn last_words(&mut self) -> String {
        let mut said = String::new();
        loop {
            let (event, data) = self.next().await;
            match event.as_str() {
                "chat.message" if data["role"] == "assistant" => {
                    data["content"].as_str().unwrap().clone_into(&mut said);
                }
                "run.done" => return said,
                "run.error" => panic!("{data}"),
                _ => {}
            }
        }
    }
}
