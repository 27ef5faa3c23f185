//! A program that plays the CLI by a script, for tests and measurements that need a real process.
//!
//! The script is a file with one JSON step per line, named by `FAKE_CLI_SCRIPT`:
//!
//! | step | what it does |
//! | --- | --- |
//! | `{"reply": "initialize", "with": {..}}` | waits for that request and answers it |
//! | `{"await": "user"}` | waits for a line of that type |
//! | `{"say": {..}, "times": n}` | writes a line, n times; `"$i"` in it becomes a number |
//! | `{"ask": {..}, "times": n}` | writes n requests and waits for all the answers |
//! | `{"ask": {..}, "every": k}` before a `say` | one request after each k lines of that `say` |
//! | `{"stderr": ".."}` | writes to the error output |
//! | `{"hold": true}` | waits until its input is closed |
//! | `{"stay": true}` | waits for ever |
//! | `{"exit": n}` | ends |
#![expect(clippy::print_stderr, reason = "it is a program of its own")]
#![expect(clippy::disallowed_methods, reason = "it is a program of its own")]

use std::io::{BufRead, BufWriter, StdinLock, StdoutLock, Write};

use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let script = std::fs::read_to_string(std::env::var("FAKE_CLI_SCRIPT")?)?;
    let mut fake = Fake {
        input: std::io::stdin().lock(),
        output: BufWriter::with_capacity(64 * 1024, std::io::stdout().lock()),
        asked: 0,
        interleaved: None,
    };
    for line in script.lines().filter(|line| !line.trim().is_empty()) {
        fake.step(&serde_json::from_str(line)?)?;
        fake.output.flush()?;
    }
    Ok(())
}

struct Fake {
    input: StdinLock<'static>,
    output: BufWriter<StdoutLock<'static>>,
    asked: u64,
    interleaved: Option<(Value, u64)>,
}

impl Fake {
    fn step(&mut self, step: &Value) -> Result<(), Failure> {
        let times = step.get("times").and_then(Value::as_u64).unwrap_or(1);
        if let Some(subtype) = step.get("reply").and_then(Value::as_str) {
            self.reply(subtype, step.get("with").unwrap_or(&Value::Null))
        } else if let Some(kind) = step.get("await").and_then(Value::as_str) {
            self.read_until(|line| is(line, "/type", kind)).map(drop)
        } else if let Some(line) = step.get("say") {
            self.say(line, times)
        } else if let Some(request) = step.get("ask") {
            if let Some(every) = step.get("every").and_then(Value::as_u64) {
                self.interleaved = Some((request.clone(), every));
                return Ok(());
            }
            (0..times).try_for_each(|_| self.ask(request))?;
            self.output.flush()?;
            (0..times).try_for_each(|_| {
                self.read_until(|line| is(line, "/type", "control_response")).map(drop)
            })
        } else if let Some(text) = step.get("stderr").and_then(Value::as_str) {
            eprintln!("{text}");
            Ok(())
        } else if step.get("hold").is_some() {
            self.output.flush()?;
            while self.read()?.is_some() {}
            Ok(())
        } else if step.get("stay").is_some() {
            self.output.flush()?;
            loop {
                std::thread::park();
            }
        } else if let Some(code) = step.get("exit").and_then(Value::as_i64) {
            self.output.flush()?;
            std::process::exit(i32::try_from(code)?)
        } else {
            Err(format!("an unknown step: {step}").into())
        }
    }

    fn reply(&mut self, subtype: &str, with: &Value) -> Result<(), Failure> {
        let request = self.read_until(|line| is(line, "/request/subtype", subtype))?;
        let response = json!({ "subtype": "success", "request_id": request.get("request_id"), "response": with });
        self.write(&json!({ "type": "control_response", "response": response }).to_string())
    }

    fn say(&mut self, line: &Value, times: u64) -> Result<(), Failure> {
        let text = line.to_string();
        let interleaved = self.interleaved.take();
        for number in 0..times {
            self.write(&text.replace("\"$i\"", &number.to_string()))?;
            if let Some((request, every)) = &interleaved
                && (number + 1) % every == 0
            {
                self.ask(request)?;
                self.output.flush()?;
                self.read_until(|line| is(line, "/type", "control_response"))?;
            }
        }
        Ok(())
    }

    fn ask(&mut self, request: &Value) -> Result<(), Failure> {
        self.asked += 1;
        let id = format!("ask-{}", self.asked);
        let line = json!({ "type": "control_request", "request_id": id, "request": request });
        self.write(&line.to_string())
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        Ok(writeln!(self.output, "{line}")?)
    }

    fn read_until(&mut self, wanted: impl Fn(&Value) -> bool) -> Result<Value, Failure> {
        self.output.flush()?;
        while let Some(line) = self.read()? {
            if wanted(&line) {
                return Ok(line);
            }
        }
        Err("the input was closed".into())
    }

    fn read(&mut self) -> Result<Option<Value>, Failure> {
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_str(&line)?))
    }
}

fn is(line: &Value, place: &str, word: &str) -> bool {
    line.pointer(place).and_then(Value::as_str) == Some(word)
}
