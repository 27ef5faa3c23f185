//! `bench sdk`: a stream of messages and permission requests through the Rust SDK.

use std::time::Instant;

use anyhow::Context;
use countersign_claude::message::Message;
use countersign_claude::{ClaudeClient, Options, PermissionResult};
use serde::Deserialize;

use crate::cli::BenchSdkArgs;
use crate::measurement::{BenchMeasurement, busy};
use crate::runtime;

/// What the other side says in its result.
#[derive(Deserialize)]
struct SdkBenchResult {
    asks: usize,
    p50_us: f64,
    p99_us: f64,
}

pub(crate) fn run(args: &BenchSdkArgs) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        let options = Options::new()
            .cli_path(&args.cli)
            .clean_env()
            .env("PATH", "/usr/bin:/bin")
            .can_use_tool(async |_| PermissionResult::allow());
        let client = ClaudeClient::connect(options).await?;
        let (started, busy_before) = (Instant::now(), busy());
        let mut turn = client.send("go")?;
        let (mut count, mut characters, mut told) = (0_u32, 0, None);
        while let Some(message) = turn.next().await {
            match message? {
                Message::Assistant(said) => {
                    count += 1;
                    characters += said.text().len();
                }
                Message::Result(result) => told.clone_from(&result.result),
                _ => {}
            }
        }
        let seconds = started.elapsed().as_secs_f64();
        let cpu = busy().saturating_sub(busy_before);
        let told: SdkBenchResult = serde_json::from_str(&told.context("there was no result")?)?;
        client.close().await;
        let notes = format!("{} requests, {characters} characters of text", told.asks);
        let measured = BenchMeasurement {
            bench: "sdk_stream",
            case: format!("{count} messages, {} requests", told.asks),
            rounds: Vec::new(),
            seconds,
            cpu,
            notes,
        };
        let per_second = f64::from(count) / seconds;
        let busy_each = cpu.as_secs_f64() * 1e6 / f64::from(count.max(1));
        measured.print_with(&[
            // What is counted here are messages, and what is timed are requests.
            ("n", f64::from(count)),
            ("per_s", per_second),
            ("p50_us", told.p50_us),
            ("p99_us", told.p99_us),
            ("cpu_us", busy_each),
            ("messages_per_s", per_second),
            ("ask_p50_us", told.p50_us),
            ("ask_p99_us", told.p99_us),
        ]);
        Ok(())
    })
}
