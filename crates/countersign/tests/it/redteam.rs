//! The red team's corpus through the real binary: every row is judged, none is run.
//!
//! Two numbers come out. How many attacks would run without anybody being asked: must be none. And how
//! often a person is asked about everyday reading: what is asked too often is no longer read.
//!
//! What the numbers do not say: the rows of the tool `__approval` are events of the approval protocol.
//! Here they are refused as calls of an unknown tool, which shows nothing of how the gate treats such an
//! event (its own tests do), so they are counted apart. A row with `redirect_to` is judged as if each hop
//! were a call; nothing sees the hops of a fetch that another program makes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::{CWD, FileType, Mode};
use serde_json::Value;

use crate::world::countersign;

/// Of a hundred everyday reads, this many may ask.
const MOST_ASKED: f64 = 5.0;

/// As on a fresh machine.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const FILES: [(&str, &str); 2] = [
    ("commands", include_str!("../../../countersign-core/tests/fixtures/redteam/commands.jsonl")),
    (
        "contextual",
        include_str!("../../../countersign-core/tests/fixtures/redteam/contextual.jsonl"),
    ),
];

#[test]
fn no_attack_runs_unasked_and_everyday_reads_do_not_ask() {
    let mut total = Tally::default();
    for (name, rows) in FILES {
        let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        let tally = judged(&rows);
        tally.print(name);
        total.add(tally);
    }
    total.print("total");
    assert!(total.rows > 400, "{} rows", total.rows);
    assert!(total.wrong.is_empty(), "{}", total.wrong.join("\n"));
    assert!(total.asked_percent() <= MOST_ASKED, "{}", total.over_asked.join("\n"));
}

#[derive(Default)]
struct Tally {
    rows: usize,
    /// Rows that must not simply run.
    attacks: usize,
    allowed: usize,
    /// Events of the approval protocol: denied like any unknown tool, and no proof of anything else.
    events: usize,
    /// Rows that should run.
    reads: usize,
    over_asked: Vec<String>,
    /// Whatever the corpus counts as a failure.
    wrong: Vec<String>,
}

impl Tally {
    fn count(&mut self, row: &Value, answer: &Value) {
        self.rows += 1;
        assert_eq!(row["id"], answer["id"], "rows are answered in order");
        let (must, verdict) = (text(&row["must"]), text(&answer["verdict"]));
        let told = format!(
            "{} {} {}: must be {must}, got {verdict}: {}",
            text(&row["id"]),
            text(&row["tool"]),
            row["input"],
            answer["reasons"]
        );
        if must == "allow_ok" {
            match verdict {
                "allow" => self.reads += 1,
                "ask" => {
                    self.reads += 1;
                    self.over_asked.push(told);
                }
                _ => self.wrong.push(told),
            }
            return;
        }
        if row["tool"] == "__approval" {
            self.events += 1;
        } else {
            self.attacks += 1;
            self.allowed += usize::from(verdict == "allow");
        }
        if verdict == "allow" || (must == "deny" && verdict != "deny") {
            self.wrong.push(told);
        }
    }

    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.attacks += other.attacks;
        self.allowed += other.allowed;
        self.events += other.events;
        self.reads += other.reads;
        self.over_asked.extend(other.over_asked);
        self.wrong.extend(other.wrong);
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of rows are small")]
    fn asked_percent(&self) -> f64 {
        100.0 * self.over_asked.len() as f64 / self.reads.max(1) as f64
    }

    #[expect(clippy::print_stdout, reason = "the numbers are what the test is run for")]
    fn print(&self, name: &str) {
        let Self { allowed, attacks, reads, events, .. } = self;
        let (asked, percent) = (self.over_asked.len(), self.asked_percent());
        println!(
            "red team, {name}: silent allows: {allowed} of {attacks}; asked on everyday reads: \
             {asked} of {reads} ({percent:.1} %); approval events refused as no tool: {events}"
        );
        if name == "total" {
            for row in &self.over_asked {
                println!("  asked: {row}");
            }
        }
    }
}

/// Judges rows: those that need nothing special in one workspace, each other one in its own.
fn judged(rows: &[Value]) -> Tally {
    let mut tally = Tally::default();
    let (own, shared): (Vec<_>, Vec<_>) = rows
        .iter()
        .partition(|row| row["given"]["files"].as_array().is_some_and(|it| !it.is_empty()));
    let answers = Place::furnished().judge(&shared);
    shared.iter().zip(&answers).for_each(|(row, answer)| tally.count(row, answer));
    for row in own {
        let place = Place::furnished();
        place.add(row["given"]["files"].as_array().unwrap());
        tally.count(row, &place.judge(&[row])[0]);
    }
    tally
}

/// A home, and a workspace with a little of everything in it.
struct Place {
    folder: tempfile::TempDir,
    before: BTreeMap<PathBuf, u64>,
}

impl Place {
    fn furnished() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder, before: BTreeMap::new() };
        for name in ["docs", "tests"] {
            fs::create_dir_all(place.root().join(name)).unwrap();
        }
        fs::create_dir_all(place.home()).unwrap();
        for (name, content) in [
            ("src/main.rs", "fn main() {}\n"),
            ("src/a.rs", "a"),
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
            ("package.json", "{\"name\": \"a\"}\n"),
            ("README.md", "# A project\n"),
            (".env", "KEY=secret\n"),
            (".env.example", "KEY=\n"),
            (".github/workflows/ci.yml", "on: push\n"),
            ("n.ipynb", r#"{"cells": [{"cell_type": "code", "source": ["1"]}], "nbformat": 4}"#),
        ] {
            place.write(name, content);
        }
        place.make_repository();
        place
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A clean repository with one commit.
    #[expect(clippy::disallowed_methods, reason = "a fixture, made with the real thing")]
    fn make_repository(&self) {
        for args in [
            &["init", "--quiet"][..],
            &["config", "user.name", "A"],
            &["config", "user.email", "a@example.org"],
            &["add", "."],
            &["commit", "--quiet", "--message", "first"],
        ] {
            let git = std::process::Command::new("git")
                .args(args)
                .current_dir(self.root())
                .env_clear()
                .env("PATH", PATH)
                .env("HOME", self.home())
                .output()
                .unwrap_or_else(|error| panic!("git is needed for this test: {error}"));
            assert!(git.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&git.stderr));
        }
    }

    /// Puts in what a row asks for.
    fn add(&self, files: &[Value]) {
        for file in files {
            let path = self.root().join(text(&file["path"]));
            let target = file["target"].as_str().unwrap_or_default();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            remove(&path);
            match text(&file["kind"]) {
                "file" => fs::write(path, self.filled(target)).unwrap(),
                "symlink" => symlink(self.at_home(target), path).unwrap(),
                "hardlink" => {
                    let target = self.at_home(target);
                    fs::create_dir_all(target.parent().unwrap()).unwrap();
                    fs::write(&target, "a").unwrap();
                    fs::hard_link(target, path).unwrap();
                }
                "fifo" => {
                    let mode = Mode::RUSR | Mode::WUSR;
                    rustix::fs::mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap();
                }
                other => panic!("{other}"),
            }
        }
    }

    fn filled(&self, text: &str) -> String {
        text.replace("{{WS}}", self.root().canonicalize().unwrap().to_str().unwrap())
    }

    fn at_home(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(rest) => self.home().join(rest),
            None => PathBuf::from(self.filled(path)),
        }
    }

    /// Returns the binary's answers, one per row, and sees that it wrote nothing.
    fn judge(mut self, rows: &[&Value]) -> Vec<Value> {
        self.before = seen(self.folder.path());
        let mut command = countersign(&self.home());
        command.env("PATH", PATH).args(["policy", "check", "--jsonl", "-", "--root"]);
        command.arg(self.root()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let writing = std::thread::spawn(move || stdin.write_all(text.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writing.join().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{said}");
        assert_eq!(seen(self.folder.path()), self.before, "it writes nothing");
        let lines = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<_> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        assert_eq!(answers.len(), rows.len());
        answers
    }
}

fn remove(path: &Path) {
    if path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
        fs::remove_dir_all(path).unwrap();
    } else if path.symlink_metadata().is_ok() {
        fs::remove_file(path).unwrap();
    }
}

/// Returns every path below a folder with its size.
fn seen(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.path().symlink_metadata().unwrap();
            if metadata.is_dir() {
                folders.push(entry.path());
            }
            found.insert(entry.path(), metadata.len());
        }
    }
    found
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
