//! `bench sdk-cli`: plays the Claude Code CLI for who measures an SDK, this one or another.
//!
//! It answers `initialize`, and each prompt with messages of about a kilobyte and permission requests
//! spread evenly among them. The result tells how long the requests took, by this side's clock; in a
//! stream that includes what the SDK has to read before it comes to the request.

use std::collections::HashMap;
use std::io::{BufRead, BufWriter, Write};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use crate::cli::BenchSdkCliArgs;
use crate::measurement::micros;

const SESSION: &str = "11111111-1111-4111-8111-111111111111";

pub(crate) fn run(args: &BenchSdkCliArgs) -> anyhow::Result<()> {
    let (heard, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let at = Instant::now();
            if let Ok(line) = serde_json::from_str(&line)
                && heard.send((line, at)).is_err()
            {
                return;
            }
        }
    });
    let out = BufWriter::with_capacity(64 * 1024, std::io::stdout().lock());
    SimulatedClaudeCli { out, lines, asked: HashMap::new(), rounds: Vec::new() }.play(args)
}

struct SimulatedClaudeCli<W: Write> {
    out: W,
    lines: Receiver<(Value, Instant)>,
    asked: HashMap<String, Instant>,
    rounds: Vec<Duration>,
}

impl<W: Write> SimulatedClaudeCli<W> {
    fn play(&mut self, args: &BenchSdkCliArgs) -> anyhow::Result<()> {
        while let Ok((line, at)) = self.lines.recv() {
            match kind(&line) {
                "control_request" => self.agree(&line)?,
                "control_response" => self.note(&line, at),
                "user" => self.answer(args)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn agree(&mut self, request: &Value) -> anyhow::Result<()> {
        let id = request.get("request_id").unwrap_or(&Value::Null);
        let response = json!({"subtype": "success", "request_id": id, "response": {}});
        self.say(&json!({"type": "control_response", "response": response}))?;
        Ok(self.out.flush()?)
    }

    fn answer(&mut self, args: &BenchSdkCliArgs) -> anyhow::Result<()> {
        let init = json!({
            "type": "system", "subtype": "init", "session_id": SESSION, "uuid": SESSION,
            "claude_code_version": "2.1.325", "tools": [], "mcp_servers": [], "model": "none",
        });
        self.say(&init)?;
        let message = message();
        let every = (args.messages / args.asks.max(1)).max(1);
        for number in 1..=args.messages {
            self.out.write_all(message.as_bytes())?;
            if number % every == 0 && number / every <= args.asks {
                self.ask(number)?;
            }
        }
        if args.messages == 0 {
            // One after the other, with nothing in between.
            for number in 1..=args.asks {
                self.ask(number)?;
                self.wait_for_answers()?;
            }
        }
        self.out.flush()?;
        self.wait_for_answers()?;
        self.result()
    }

    fn ask(&mut self, number: usize) -> anyhow::Result<()> {
        let id = format!("ask-{number}");
        let request = json!({
            "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "true"},
            "tool_use_id": id,
        });
        let line = json!({"type": "control_request", "request_id": id, "request": request});
        self.say(&line)?;
        self.out.flush()?;
        self.asked.insert(id, Instant::now());
        Ok(())
    }

    fn wait_for_answers(&mut self) -> anyhow::Result<()> {
        while !self.asked.is_empty() {
            let (line, at) = self.lines.recv().context("the SDK went away")?;
            self.note(&line, at);
        }
        Ok(())
    }

    fn note(&mut self, line: &Value, at: Instant) {
        let id = line.pointer("/response/request_id").and_then(Value::as_str);
        if let Some(asked) = id.and_then(|id| self.asked.remove(id)) {
            self.rounds.push(at.saturating_duration_since(asked));
        }
    }

    fn result(&mut self) -> anyhow::Result<()> {
        self.rounds.sort_unstable();
        let told = json!({
            "asks": self.rounds.len(),
            "p50_us": micros(&self.rounds, 50),
            "p99_us": micros(&self.rounds, 99),
        });
        self.say(&json!({
            "type": "result", "subtype": "success", "is_error": false, "result": told.to_string(),
            "duration_ms": 0, "duration_api_ms": 0, "num_turns": 1, "session_id": SESSION,
            "uuid": SESSION, "total_cost_usd": 0.0,
        }))?;
        self.say(&json!({
            "type": "system", "subtype": "session_state_changed", "state": "idle",
            "session_id": SESSION, "uuid": SESSION,
        }))?;
        Ok(self.out.flush()?)
    }

    fn say(&mut self, line: &Value) -> anyhow::Result<()> {
        Ok(writeln!(self.out, "{line}")?)
    }
}

fn kind(line: &Value) -> &str {
    line.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// A message of the model of about a kilobyte, as a line.
fn message() -> String {
    let text = "The quick brown fox jumps over the lazy dog. ".repeat(13);
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "none",
        "content": [{"type": "text", "text": text}], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 20},
    });
    let line = json!({
        "type": "assistant", "message": message, "parent_tool_use_id": null,
        "session_id": SESSION, "uuid": SESSION,
    });
    format!("{line}\n")
}
