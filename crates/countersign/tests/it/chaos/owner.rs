//! An owner: a client that starts a conversation and stays with it to its end, whatever happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::link::{Door, Link, is};
use super::load::{Load, Talk};
use super::model::Model;
use super::notes::{Notes, Reading};

pub(super) struct Owner {
    pub(super) door: Door,
    pub(super) notes: Arc<Notes>,
    pub(super) load: Arc<Load>,
    pub(super) model: Arc<Model>,
    /// The number of the next conversation, whoever has it.
    pub(super) numbers: Arc<AtomicUsize>,
}

impl Owner {
    /// Has one conversation after the other, until the storm has passed.
    pub(super) async fn work(mut self, passed: watch::Receiver<bool>) {
        while !*passed.borrow() {
            let talk = self.load.talk(self.numbers.fetch_add(1, Ordering::Relaxed));
            self.notes.begin(talk.clone());
            let result = self.hold(&talk).await;
            self.notes.end(&talk.name, result, self.model.requests(&talk.prompt));
        }
    }

    /// Has a conversation and returns the message that ended it.
    ///
    /// Only its first prompt is ever sent: it must come to its end by itself.
    async fn hold(&mut self, talk: &Talk) -> Value {
        let mut reading = Reading::new(format!("the owner of {}", talk.name), Some(&talk.name));
        let mut has_begun = false;
        loop {
            let mut link = self.door.resume(&reading, &self.notes).await;
            // Until it is known to be recorded it may have been lost, and nobody was told otherwise.
            // The name is ours, so that it cannot begin twice.
            let run = json!({"command": "run", "prompt": talk.prompt, "session_id": talk.name});
            if !has_begun && link.say(&run).await.is_err() {
                continue;
            }
            if let Some(result) = self.listen(&mut link, &mut reading, &mut has_begun).await {
                self.notes.lock().readings.push(reading);
                return result;
            }
        }
    }

    /// Returns the result; none if the connection went before it.
    async fn listen(
        &self,
        link: &mut Link,
        reading: &mut Reading,
        has_begun: &mut bool,
    ) -> Option<Value> {
        while let Ok(message) = link.hear().await {
            reading.take(&message, &self.notes);
            let is_own = message["seq"].is_u64() && reading.is_of(&message);
            if is_own && is(&message, "system", "init") {
                *has_begun = true;
            }
            if is_own && message["type"] == "result" {
                return Some(message);
            }
            if message["type"] == "error" && message["content"]["code"] == "busy" {
                *has_begun = true;
            }
            if message["type"] == "result" && message["seq"].is_null() {
                match message["content"]["code"].as_str() {
                    // It was recorded, and the log is about to tell.
                    Some("session_exists" | "busy") => *has_begun = true,
                    // This server cannot, now.
                    Some("store") => return None,
                    _ => self.notes.wrong(format!("{} was refused: {message}", reading.of)),
                }
            }
        }
        None
    }
}
