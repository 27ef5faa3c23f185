//! Case 15: the copy of a transcript.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_claude::{Options, TranscriptBatch, TranscriptStore};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::fake::{ask_once, assistant, result};

/// Keeps what it is given, when it may, after failing as often as it is told.
#[derive(Clone)]
struct Store {
    kept: Arc<Mutex<Vec<TranscriptBatch>>>,
    failures: Arc<Mutex<u32>>,
    may: Arc<Semaphore>,
}

impl Store {
    fn new(failures: u32, may: usize) -> Self {
        let failures = Arc::new(Mutex::new(failures));
        Self { kept: Arc::default(), failures, may: Arc::new(Semaphore::new(may)) }
    }

    fn kept(&self) -> Vec<(String, usize)> {
        let kept = self.kept.lock().unwrap();
        kept.iter().map(|batch| (batch.file_path.clone(), batch.entries.len())).collect()
    }
}

impl TranscriptStore for Store {
    fn append(&self, batch: TranscriptBatch) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            self.may.acquire().await.unwrap().forget();
            let mut failures = self.failures.lock().unwrap();
            if *failures > 0 {
                *failures -= 1;
                return Err("no disk".to_owned());
            }
            self.kept.lock().unwrap().push(batch);
            Ok(())
        })
    }
}

fn entries(file: &str, count: usize) -> Value {
    let entries: Vec<_> = (0..count).map(|number| json!({ "n": number })).collect();
    json!({ "type": "transcript_mirror", "filePath": file, "entries": entries })
}

#[tokio::test]
async fn a_result_comes_only_after_what_led_to_it_is_stored() {
    let store = Store::new(0, 0);
    let (mut query, mut fake, uuid) =
        ask_once("hello", Options::new().transcript_store(store.clone())).await;
    fake.say(entries("a", 2)).await;
    fake.say(assistant("before")).await;
    fake.say(entries("a", 1)).await;
    fake.say(entries("b", 1)).await;
    fake.say(result(&uuid, "done")).await;
    assert_eq!(query.next().await.unwrap().unwrap().text(), "before");
    // The store waits, and so does the result; requests are answered all the same.
    fake.ask("1", json!({ "subtype": "of_tomorrow" })).await;
    let mut result = std::pin::pin!(query.next());
    assert!(futures_util::poll!(&mut result).is_pending());
    store.may.add_permits(2);
    assert_eq!(result.await.unwrap().unwrap().text(), "done");
    assert_eq!(store.kept(), [("a".to_owned(), 3), ("b".to_owned(), 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_twice_is_tried_a_third_time() {
    let store = Store::new(2, 10);
    let (query, mut fake, uuid) =
        ask_once("hello", Options::new().transcript_store(store.clone())).await;
    let begun = tokio::time::Instant::now();
    fake.say(entries("a", 1)).await;
    fake.say(result(&uuid, "done")).await;
    fake.exit(0).await;
    query.result().await.unwrap();
    assert_eq!(store.kept(), [("a".to_owned(), 1)]);
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn what_the_store_never_takes_is_lost_and_said_so() {
    for (store, reason) in [
        (Store::new(3, 10), "no disk"),
        // One that never answers is not tried again.
        (Store::new(0, 0), "not written within 60 s"),
    ] {
        let (mut query, mut fake, uuid) =
            ask_once("hello", Options::new().transcript_store(store)).await;
        fake.say(entries("a", 1)).await;
        fake.say(result(&uuid, "done")).await;
        let error = query.next().await.unwrap().unwrap();
        assert_eq!(error.subtype(), Some("mirror_error"));
        assert_eq!(error.value()["error"], reason);
        assert!(query.next().await.unwrap().unwrap().is_result());
    }
}

#[tokio::test]
async fn a_full_batch_is_stored_without_waiting_for_a_result() {
    let store = Store::new(0, 10);
    let (mut query, mut fake, _) =
        ask_once("hello", Options::new().transcript_store(store.clone())).await;
    fake.say(entries("a", 499)).await;
    fake.say(assistant("one")).await;
    query.next().await.unwrap().unwrap();
    assert_eq!(store.kept(), []);
    fake.say(entries("a", 1)).await;
    fake.say(assistant("two")).await;
    query.next().await.unwrap().unwrap();
    assert_eq!(store.kept(), [("a".to_owned(), 500)]);
}
