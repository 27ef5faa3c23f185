//! A listener that knows nothing but the rules of server-sent events.

use reqwest::{Response, StatusCode};
use serde_json::Value;

use crate::world::{TOKEN, World};

/// One event as it came.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// An open stream.
pub(crate) struct Stream {
    pub(crate) response: Response,
    buffer: String,
    pub(crate) last_id: Option<u64>,
    pub(crate) comments: Vec<String>,
}

impl Stream {
    pub(crate) async fn open(world: &World, query: &str, last_event_id: Option<u64>) -> Self {
        let response = request(world, query, last_event_id).await;
        assert_eq!(response.status(), StatusCode::OK);
        Self { response, buffer: String::new(), last_id: None, comments: Vec::new() }
    }

    /// Returns the next event; none when the stream is over.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((block, rest)) = self.buffer.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.buffer = rest;
                if let Some(event) = self.read(&block) {
                    return Some(event);
                }
            }
            let piece = self.response.chunk().await.ok().flatten()?;
            self.buffer.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    /// Waits until the server has begun to talk.
    pub(crate) async fn comment(&mut self) {
        while self.comments.is_empty() {
            let piece = self.response.chunk().await.unwrap().unwrap();
            let text = std::str::from_utf8(&piece).unwrap();
            if let Some(comment) = text.strip_prefix(": ") {
                self.comments.push(comment.lines().next().unwrap_or_default().to_owned());
            } else {
                self.buffer.push_str(text);
            }
        }
    }

    /// Returns the next event of a name; none when the stream is over before.
    pub(crate) async fn next_of(&mut self, name: &str) -> Option<Event> {
        loop {
            let event = self.next().await?;
            if event.name == name {
                return Some(event);
            }
        }
    }

    /// Returns the next event of a name, passing over others.
    pub(crate) async fn until(&mut self, name: &str) -> Event {
        self.gather(name).await.pop().unwrap()
    }

    /// Returns all events up to and with the first of a name.
    pub(crate) async fn gather(&mut self, name: &str) -> Vec<Event> {
        let mut seen = Vec::new();
        loop {
            let Some(event) = self.next().await else { panic!("over before `{name}`: {seen:#?}") };
            let found = event.name == name;
            seen.push(event);
            if found {
                return seen;
            }
        }
    }

    fn read(&mut self, block: &str) -> Option<Event> {
        let (mut name, mut data) = (String::new(), None);
        let mut id = None;
        for line in block.lines() {
            let (field, value) = line.split_once(": ").unwrap_or((line, ""));
            match field {
                "" | ":" => self.comments.push(value.to_owned()),
                "id" => id = Some(value.parse().unwrap()),
                "event" => value.clone_into(&mut name),
                "data" => data = Some(serde_json::from_str(value).unwrap()),
                "retry" => assert_eq!(value, "1000"),
                _ if line.starts_with(':') => self.comments.push(line.to_owned()),
                other => panic!("{other:?} in {block}"),
            }
        }
        self.last_id = id.or(self.last_id);
        data.map(|data| Event { id, name, data })
    }
}

/// Asks for the stream, and returns whatever is answered.
pub(crate) async fn request(world: &World, query: &str, last_event_id: Option<u64>) -> Response {
    let url = world.url(&format!("/my/projects/default/chat/stream{query}"));
    let mut request = world.http.get(url).bearer_auth(TOKEN);
    if let Some(last) = last_event_id {
        request = request.header("Last-Event-ID", last.to_string());
    }
    request.send().await.unwrap()
}
