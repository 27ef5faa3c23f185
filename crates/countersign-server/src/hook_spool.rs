//! The spool of the hook: calls that it saw and answered by itself, on their way into the record.
//!
//! A hook is a process per call and must not wait for us, who may not even be there. So it appends a line
//! to a file, and the server takes the file away and records what it says. Whoever can write the file
//! can tell stories; they become records that say who told them (`Gate::record_seen_call`), and no more.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use countersign_core::{
    ExecutionReport, Executor, ReportedOutcome, SessionId, ToolCall, VerdictAction, mask_input,
    mask_text,
};
use countersign_gate::{Project, SeenCall, StoreError, new_id, time_after};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::app::App;
use crate::decide::planner_for;
use crate::project_registry::{ProjectHandle, working_folder};

/// Above this many bytes nothing is added until the server has been there.
const MOST: u64 = 16 * 1024 * 1024;

/// Above this many bytes the long texts of a line are cut, and then left out.
const LONGEST_LINE: usize = 64 * 1024;
const LONGEST_TEXT: usize = 2048;

/// How often the server looks.
const LOOK: Duration = Duration::from_millis(500);

/// For how long a hook tries to get at a file that the server is just taking away. Its answer is out by
/// then, so nobody waits for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long it waits between two tries.
const PAUSE: Duration = Duration::from_millis(1);

/// How long a name of an agent's may be.
const LONGEST_NAME: usize = 200;

/// Who tells of these calls.
const TELLER: &str = "hook";

/// A line of the spool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SpooledLine {
    /// A call was seen and answered.
    Call(SpooledCall),
    /// A call is over.
    Result(SpooledResult),
}

/// A call that a hook saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpooledCall {
    /// When it was seen.
    pub at: Timestamp,
    /// The folder of its project, links resolved.
    pub root: String,
    /// The folder that it was made in.
    pub cwd: String,
    /// The agent's conversation.
    pub session_id: String,
    /// The agent's id of the call.
    pub tool_use_id: String,
    /// The tool.
    pub tool_name: String,
    /// Its input, secrets masked.
    pub tool_input: Value,
    /// The subagent that makes it, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the hook said.
    pub verdict: SpooledVerdict,
    /// Why.
    pub why: String,
}

/// What a hook said to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpooledVerdict {
    /// The rules let it pass.
    Allowed,
    /// The rules denied it.
    Denied,
    /// It was left to the agent's own prompt.
    LeftToAgent,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpooledResult {
    /// The folder of its project, links resolved.
    pub root: String,
    /// The agent's conversation.
    pub session_id: String,
    /// The agent's id of the call.
    pub tool_use_id: String,
    /// `{"status": "completed", "result": {…}}` or `{"status": "failed", "error": "…"}`.
    pub outcome: Value,
}

/// The files of a spool, in the data folder.
#[derive(Clone, Debug)]
pub struct HookSpool {
    /// What hooks append to.
    open: PathBuf,
    /// What the server has taken away and not recorded whole.
    taken: PathBuf,
    /// What is about folders that this server does not serve: the next one may.
    foreign: PathBuf,
}

impl HookSpool {
    /// Returns the spool of a data folder.
    pub fn in_folder(data: &Path) -> Self {
        Self {
            open: data.join("hook-calls.jsonl"),
            taken: data.join("hook-calls.taken.jsonl"),
            foreign: data.join("hook-calls.foreign.jsonl"),
        }
    }

    /// Appends a line, whole or not at all. Blocks, for a moment.
    pub fn append(&self, line: &SpooledLine) -> io::Result<()> {
        append_to(&self.open, &line.to_json_line()?)
    }

    /// Takes what was appended away, for the server alone; returns whether there is something.
    fn take(&self) -> io::Result<bool> {
        if self.taken.try_exists()? {
            return Ok(true);
        }
        let file = match File::open(&self.open) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        // Whoever is just writing has the lock: the next look is soon.
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        fs::rename(&self.open, &self.taken)?;
        Ok(true)
    }

    /// Puts what an earlier server could not place before this one.
    fn reopen_foreign(&self) -> io::Result<()> {
        if self.taken.try_exists()? || !self.foreign.try_exists()? {
            return Ok(());
        }
        fs::rename(&self.foreign, &self.taken)
    }
}

/// Appends a text to a file in one write, for its owner alone.
fn append_to(path: &Path, text: &str) -> io::Result<()> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                std::thread::park_timeout(PAUSE);
                continue;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let metadata = file.metadata()?;
        // The server has taken it away between opening and locking it.
        if fs::metadata(path).map(|it| it.ino()).ok() != Some(metadata.ino()) {
            continue;
        }
        if metadata.len() + text.len() as u64 > MOST {
            return Err(io::Error::new(ErrorKind::QuotaExceeded, "too much waits for a server"));
        }
        return file.write_all(text.as_bytes());
    }
    Err(io::Error::new(ErrorKind::WouldBlock, "somebody holds the file"))
}

impl SpooledLine {
    /// Returns the line, without secrets and of bounded length.
    fn to_json_line(&self) -> io::Result<String> {
        let mut line = self.clone();
        let (body, why) = match &mut line {
            Self::Call(call) => (&mut call.tool_input, Some(&mut call.why)),
            Self::Result(result) => (&mut result.outcome, None),
        };
        *body = mask_input(body);
        if let Some(why) = why {
            *why = mask_text(why);
        }
        let length = body.to_string().len();
        if length > LONGEST_LINE {
            shorten(body);
        }
        if body.to_string().len() > LONGEST_LINE {
            *body = json!({"omitted_bytes": length});
        }
        Ok(format!("{}\n", serde_json::to_string(&line)?))
    }

    fn root(&self) -> &str {
        match self {
            Self::Call(call) => &call.root,
            Self::Result(result) => &result.root,
        }
    }
}

/// Cuts every long text of a value.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((at, _)) = text.char_indices().nth(LONGEST_TEXT) {
                text.truncate(at);
                text.push('…');
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Records what hooks tell of, until the server stops.
pub(crate) async fn record(app: App, spool: HookSpool) {
    let files = spool.clone();
    if let Ok(Err(error)) = spawn_blocking(move || files.reopen_foreign()).await {
        tracing::warn!(%error, "what hooks told of other folders cannot be read");
    }
    loop {
        if let Err(why) = drain(&app, &spool).await {
            tracing::warn!(why, "what hooks told was not recorded; it is tried again");
        }
        let clock = app.gate.clock();
        tokio::select! {
            () = clock.sleep_until(time_after(clock.now(), LOOK)) => {}
            () = app.stopping.cancelled() => return,
        }
    }
}

/// Takes the spool away and records it. What is recorded already is so once.
async fn drain(app: &App, spool: &HookSpool) -> Result<(), String> {
    let files = spool.clone();
    let take = move || -> io::Result<Option<String>> {
        if !files.take()? {
            return Ok(None);
        }
        // What is no text is as unreadable as what is no line of ours.
        Ok(Some(String::from_utf8_lossy(&fs::read(&files.taken)?).into_owned()))
    };
    let taken = spawn_blocking(take).await.map_err(|error| error.to_string())?;
    let Some(text) = taken.map_err(|error| error.to_string())? else { return Ok(()) };
    let (mut foreign, mut unreadable) = (String::new(), 0_usize);
    for line in text.lines() {
        let Ok(spooled) = serde_json::from_str::<SpooledLine>(line) else {
            unreadable += 1;
            continue;
        };
        let id = Project::from_root(spooled.root()).id;
        let Ok(place) = app.projects.get(id.as_str()).await else {
            foreign.push_str(line);
            foreign.push('\n');
            continue;
        };
        record_line(app, &place, spooled).await.map_err(|error| error.to_string())?;
    }
    if unreadable > 0 {
        tracing::warn!(lines = unreadable, "some of what hooks told cannot be read");
    }
    let files = spool.clone();
    let done = move || {
        if !foreign.is_empty()
            && let Err(error) = append_to(&files.foreign, &foreign)
        {
            tracing::warn!(%error, "what hooks told of other folders is not kept");
        }
        fs::remove_file(&files.taken)
    };
    let done = spawn_blocking(done).await.map_err(|error| error.to_string())?;
    done.map_err(|error| error.to_string())
}

async fn record_line(
    app: &App,
    place: &ProjectHandle,
    line: SpooledLine,
) -> Result<(), StoreError> {
    match line {
        SpooledLine::Call(told) => {
            let Some((call, seen)) = told.into_tool_call(place) else { return Ok(()) };
            let planner = planner_for(app, &place.1, &call);
            app.gate.record_seen_call(call, planner, seen).await.map(drop)
        }
        SpooledLine::Result(told) => {
            let SpooledResult { session_id, tool_use_id, outcome, .. } = told;
            let session = SessionId::from(session_id);
            let (project, id) = (&place.0.id, tool_use_id.into());
            let outcome = parse_outcome(&outcome);
            app.gate.record_seen_call_result(project, &session, &id, outcome).await.map(drop)
        }
    }
}

impl SpooledCall {
    /// Returns the call that it tells of; none where its names are none that we take.
    fn into_tool_call(self, place: &ProjectHandle) -> Option<(ToolCall, SeenCall)> {
        let names = [&self.session_id, &self.tool_use_id, &self.tool_name];
        if !names.into_iter().chain(&self.agent).all(|name| is_name(name)) {
            return None;
        }
        let root = PathBuf::from(&place.0.root);
        let call = ToolCall {
            id: new_id(),
            project: place.0.id.clone(),
            session: self.session_id.into(),
            run: None,
            tool_use_id: self.tool_use_id.into(),
            tool_name: self.tool_name,
            input: mask_input(&self.tool_input),
            cwd: working_folder(place, Some(&self.cwd)).unwrap_or(root),
            executor: Executor::ClaudeCli,
            agent: self.agent,
        };
        let outcome = match self.verdict {
            SpooledVerdict::Allowed => VerdictAction::Allow,
            SpooledVerdict::Denied => VerdictAction::Deny,
            SpooledVerdict::LeftToAgent => VerdictAction::Ask,
        };
        let (reported_by, why, at) = (TELLER.to_owned(), self.why, self.at);
        Some((call, SeenCall { reported_by, outcome, why, at }))
    }
}

/// Reads what came of a call; what is not understood is told as a failure to tell.
fn parse_outcome(outcome: &Value) -> ReportedOutcome {
    let outcome = mask_input(outcome);
    let text = |field: &str| outcome.get(field).and_then(Value::as_str);
    match (text("status"), outcome.get("result").map(ExecutionReport::from_json)) {
        (Some("completed"), Some(Ok(report))) => ReportedOutcome::Done(report),
        (Some("failed"), _) => {
            ReportedOutcome::Failed(text("error").unwrap_or("it failed").to_owned())
        }
        _ => ReportedOutcome::Failed("what the hook reported is not understood".to_owned()),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= LONGEST_NAME && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_hooks_and_a_server_that_takes_it_away() {
        let folder = tempfile::tempdir().unwrap();
        let spool = HookSpool::in_folder(folder.path());
        let hooks = [0, 1, 2].map(|hook| {
            let spool = spool.clone();
            std::thread::spawn(move || {
                for number in 0..200 {
                    spool.append(&result(&format!("{hook}-{number}"))).unwrap();
                }
            })
        });
        let mut found = Vec::new();
        let mut collect = || {
            if spool.take().unwrap() {
                let text = fs::read_to_string(&spool.taken).unwrap();
                found.extend(text.lines().map(|line| serde_json::from_str(line).unwrap()));
                fs::remove_file(&spool.taken).unwrap();
            }
        };
        while hooks.iter().any(|hook| !hook.is_finished()) {
            collect();
        }
        collect();
        let mut ids: Vec<String> = found
            .into_iter()
            .map(|line| match line {
                SpooledLine::Result(result) => result.tool_use_id,
                SpooledLine::Call(call) => call.tool_use_id,
            })
            .collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 600);
    }

    #[test]
    fn a_line_shows_no_secret_and_the_file_does_not_grow_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let spool = HookSpool::in_folder(folder.path());
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let line = SpooledLine::Result(SpooledResult {
            outcome: json!({"status": "failed", "error": format!("{secret} {}", "x".repeat(200_000))}),
            ..told("t")
        });
        spool.append(&line).unwrap();
        let text = fs::read_to_string(&spool.open).unwrap();
        assert!(!text.contains(secret) && text.len() < 10_000, "{}", text.len());
        assert_eq!(fs::metadata(&spool.open).unwrap().mode() & 0o777, 0o600);
        File::options().write(true).open(&spool.open).unwrap().set_len(MOST).unwrap();
        let full = spool.append(&result("u")).unwrap_err();
        assert_eq!(full.kind(), ErrorKind::QuotaExceeded);
    }

    fn told(tool_use_id: &str) -> SpooledResult {
        SpooledResult {
            root: "/w".to_owned(),
            session_id: "s".to_owned(),
            tool_use_id: tool_use_id.to_owned(),
            outcome: json!({"status": "completed", "result": {}}),
        }
    }

    fn result(tool_use_id: &str) -> SpooledLine {
        SpooledLine::Result(told(tool_use_id))
    }
}
