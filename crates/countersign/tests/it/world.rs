//! The real binary in a clean environment, and clients to talk to what it serves.
#![expect(clippy::disallowed_methods, reason = "the children are what is tested")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

pub(crate) const TOKEN: &str = "a-token-for-tests";

/// The command with nothing of our environment and a home of its own.
pub(crate) fn countersign(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home).current_dir(home);
    command
}

pub(crate) fn output(args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    countersign(home.path()).args(args).output().unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A child that says `listening on …` and is ended with its world.
pub(crate) struct Serving {
    pub(crate) url: String,
    child: Child,
    said: Receiver<String>,
    pub(crate) home: TempDir,
}

impl Serving {
    pub(crate) fn start(args: &[&str], env: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = countersign(home.path());
        command.args(args).envs(env.iter().copied());
        Self::of(command, home)
    }

    /// Starts a command that serves.
    pub(crate) fn of(mut command: Command, home: TempDir) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = read_lines(child.stderr.take().unwrap());
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some(url) = line.trim_end().strip_prefix("listening on ") else {
            let why: String = said.iter().collect();
            panic!("it does not listen: {line}{why}");
        };
        let url = url.trim_end_matches('/').to_owned();
        Self { url, child, said, home }
    }

    /// Returns the next line it says to the person that has `part` in it.
    pub(crate) fn says(&mut self, part: &str) -> String {
        let line = self.said.iter().find(|line| line.contains(part));
        line.unwrap_or_else(|| panic!("it never says `{part}`")).trim_end().to_owned()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop, and returns how it ended and what it still had to say to the person.
    pub(crate) fn stop(mut self) -> (ExitStatus, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = self.child.wait().unwrap();
        (status, self.said.iter().collect())
    }

    pub(crate) async fn client(&self) -> Client {
        let address = self.url.strip_prefix("http://").unwrap();
        let url = format!("ws://{address}/api/terminal/ws/agent?token={TOKEN}");
        Client(connect_async(url).await.unwrap().0)
    }
}

/// Returns lines as they come. They are read at once: a child whose pipe is full stands still.
fn read_lines(pipe: ChildStderr) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = String::new();
        while pipe.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            // Whoever no longer listens has ended the child.
            let _ = sender.send(std::mem::take(&mut line));
        }
    });
    lines
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Client(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    pub(crate) async fn send(&mut self, command: Value) {
        self.0.send(Message::text(command.to_string())).await.unwrap();
    }

    /// Returns the next message; none when the server has nothing more to say.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            match self.0.next().await?.ok()? {
                Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    /// Returns the message that ends a run, however it ended.
    pub(crate) async fn until_result(&mut self) -> Value {
        loop {
            let message = self.next().await.unwrap();
            if message["type"] == "result" {
                return message;
            }
        }
    }

    /// Returns the next message of a type (and, after a slash, subtype).
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next().await.unwrap();
            let (of, subtype) = kind.split_once('/').unwrap_or((kind, ""));
            let fits =
                message["type"] == of && (subtype.is_empty() || message["subtype"] == subtype);
            if fits {
                return message;
            }
            assert_ne!(message["type"], "result", "the run ended before `{kind}` came: {message}");
        }
    }
}
