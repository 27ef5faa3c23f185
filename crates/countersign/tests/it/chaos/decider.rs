//! A decider: a client that reads all of the project's log and decides every request it is shown.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::link::{Door, Gone, Link, is};
use super::load::{Rule, call_of, rule_of};
use super::notes::{Notes, Reading};

/// A person thinks for a moment; a server may die in it.
const THINKING: u64 = 250;

pub(super) struct Decider {
    pub(super) door: Door,
    pub(super) notes: Arc<Notes>,
    pub(super) rng: Rng,
    /// What it says where the two disagree.
    pub(super) says_yes: bool,
    pub(super) reading: Reading,
}

/// A decision that is about to be sent.
struct Due {
    at: Instant,
    command: Value,
}

impl Decider {
    /// Decides until all is over and all of the log is read; returns what was read.
    pub(super) async fn work(mut self, mut over: watch::Receiver<bool>) -> Reading {
        loop {
            let mut link = self.door.resume(&self.reading, &self.notes).await;
            let is_last = *over.borrow_and_update();
            // What waits is shown anew on every connection, so nothing is due yet.
            let listened = self.listen(&mut link, &mut over, is_last).await;
            if listened.is_ok() && is_last {
                return self.reading;
            }
        }
    }

    /// Returns when the last look has seen everything, or when it is time for it.
    async fn listen(
        &mut self,
        link: &mut Link,
        over: &mut watch::Receiver<bool>,
        is_last: bool,
    ) -> Result<(), Gone> {
        let mut due: Vec<Due> = Vec::new();
        loop {
            let soonest = due.iter().map(|it| it.at).min();
            tokio::select! {
                heard = link.hear() => {
                    let message = heard?;
                    self.reading.take(&message, &self.notes);
                    if is_last && is(&message, "system", "caught_up") {
                        return Ok(());
                    }
                    due.extend(self.answer(&message)?);
                }
                () = until(soonest) => {
                    for ready in due.extract_if(.., |it| it.at <= Instant::now()) {
                        link.say(&ready.command).await?;
                    }
                }
                _ = over.changed(), if !is_last => return Ok(()),
            }
        }
    }

    fn answer(&mut self, message: &Value) -> Result<Option<Due>, Gone> {
        match message["type"].as_str() {
            Some("tool_approval_request") if message["status"] == "PENDING" => {
                Ok(self.decision(message))
            }
            Some("error") => match message["content"]["code"].as_str() {
                Some("already_settled") => {
                    self.notes.lock().too_late += 1;
                    Ok(None)
                }
                // This server cannot, now: the request is shown again by the next.
                Some("store") => Err(Gone),
                _ => {
                    self.notes.wrong(format!("{} was refused: {message}", self.reading.of));
                    Ok(None)
                }
            },
            _ => Ok(None),
        }
    }

    fn decision(&mut self, request: &Value) -> Option<Due> {
        let Some(call) = call_of(&request["tool_input"]) else {
            self.notes.wrong(format!("somebody is asked about what asks nobody: {request}"));
            return None;
        };
        let approved = match rule_of(call) {
            Rule::Approve => true,
            Rule::Reject => false,
            Rule::Contested => self.says_yes,
        };
        let command = json!({"command": "tool_approval_response",
            "request_id": request["request_id"], "approved": approved, "digest": request["digest"]});
        let at = Instant::now() + Duration::from_millis(self.rng.u64(..THINKING));
        Some(Due { at, command })
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
