//! `countersign undo`: shows what a call did to files the other way round, asks, and has it put back.

use std::io::{BufRead, IsTerminal};

use anyhow::{Context, bail};
use countersign_tools::escape_to_line;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::approval_card::file_diff_lines;
use super::serve;
use super::server_link::{ANSWER, LinkError, ServerLink, explain_link_error};
use crate::cli::UndoArgs;
use crate::hint::HintedError;
use crate::output;
use crate::terminal_colors::TerminalColors;

/// How many calls are asked for at a time.
const PAGE: &str = "200";

/// What the server says an undo would do.
#[derive(Deserialize)]
struct UndoPlanAnswer {
    tool_ids: Vec<String>,
    files: Vec<UndoPlanFile>,
    is_partial: bool,
    digest: String,
    undone_by: Option<String>,
}

#[derive(Deserialize)]
struct UndoPlanFile {
    file_path: String,
    action: String,
    reason: Option<String>,
    #[serde(default)]
    diff: Value,
}

/// What the server has done.
#[derive(Deserialize)]
struct UndoAnswer {
    files: u64,
    left: Vec<UndoSkippedFile>,
}

#[derive(Deserialize)]
struct UndoSkippedFile {
    file_path: String,
    reason: String,
}

/// What can be undone: where to ask for it, and what that would do.
struct UndoCandidate {
    link: ServerLink,
    path: Vec<String>,
    plan: UndoPlanAnswer,
}

/// A call as the history lists it.
#[derive(Deserialize)]
struct ListedCall {
    tool_id: String,
    risk_level: String,
    created_at: Timestamp,
}

pub(crate) fn run(args: &UndoArgs) -> anyhow::Result<()> {
    let link = ServerLink::for_person(&args.at)?;
    serve::runtime()?.block_on(undo(args, &link))
}

async fn undo(args: &UndoArgs, link: &ServerLink) -> anyhow::Result<()> {
    let links = if args.at.project.is_some() {
        vec![link.clone()]
    } else {
        let projects = link.projects().await.map_err(explain_link_error)?;
        projects.iter().map(|project| link.to_project(&project.id)).collect()
    };
    let UndoCandidate { link, path, plan } = match (&args.call, &args.run) {
        (_, Some(run)) => find_undo_candidate(links, ["runs", run, "undo"]).await?,
        (Some(call), None) => find_undo_candidate(links, ["tools", call, "undo"]).await?,
        (None, None) => last(links).await?,
    };
    show(&plan);
    let there_is = |action: &str| plan.files.iter().any(|file| file.action == action);
    if !there_is("restore") && !there_is("delete") {
        let why = if there_is("refused") { "nothing can be put back" } else { "all is as it was" };
        bail!("{why}");
    }
    if there_is("refused") && !args.skip_refused && !args.dry_run {
        bail!(HintedError {
            error: anyhow::anyhow!("not every file can be put back"),
            hint: "--skip-refused puts back the others".to_owned(),
        });
    }
    if args.dry_run || !(args.yes || says_yes()?) {
        output::note("Nothing was changed.");
        return Ok(());
    }
    let body = json!({"digest": plan.digest, "skip_refused": args.skip_refused});
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let done = link.post(&path, &body, ANSWER).await.map_err(explain_link_error)?;
    tell(&serde_json::from_value(done).context("the server's answer cannot be read")?);
    Ok(())
}

/// Returns the plan for the last call that changed files and was not undone, of all these projects.
async fn last(links: Vec<ServerLink>) -> anyhow::Result<UndoCandidate> {
    let mut latest: Option<(Timestamp, UndoCandidate)> = None;
    for link in links {
        let after = latest.as_ref().map(|(at, _)| *at);
        if let Some(found) = last_of_project(link, after).await? {
            latest = Some(found);
        }
    }
    let Some((_, undoable)) = latest else {
        bail!(HintedError {
            error: anyhow::anyhow!("no call has changed files that could be put back"),
            hint: "the page's history shows what was called".to_owned(),
        });
    };
    Ok(undoable)
}

/// Returns the last call of a project that can be undone, if it was made after a moment.
async fn last_of_project(
    link: ServerLink,
    after: Option<Timestamp>,
) -> anyhow::Result<Option<(Timestamp, UndoCandidate)>> {
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("limit", PAGE)];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = link.get(&["tools", "executions"], &query).await.map_err(explain_link_error)?;
        let calls = page.get("executions").and_then(Value::as_array).into_iter().flatten();
        for call in calls.filter_map(|call| ListedCall::deserialize(call).ok()) {
            if after.is_some_and(|after| call.created_at <= after) {
                return Ok(None);
            }
            // What is LOW only looks.
            if call.risk_level == "LOW" {
                continue;
            }
            let path = ["tools", call.tool_id.as_str(), "undo"];
            match link.get(&path, &[]).await {
                Err(LinkError::Refused(refusal)) if refusal.code == "nothing_to_undo" => {}
                answer => {
                    let plan = read(answer)?;
                    if plan.undone_by.is_none() {
                        let path = path.map(str::to_owned).into();
                        return Ok(Some((call.created_at, UndoCandidate { link, path, plan })));
                    }
                }
            }
        }
        cursor = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
        if cursor.is_none() {
            return Ok(None);
        }
    }
}

/// Returns the plan for what is named, from the project that knows it.
async fn find_undo_candidate(
    links: Vec<ServerLink>,
    path: [&str; 3],
) -> anyhow::Result<UndoCandidate> {
    let mut unknown = None;
    for link in links {
        match link.get(&path, &[]).await {
            Err(LinkError::Refused(refusal)) if refusal.status == 404 => {
                unknown = Some(LinkError::Refused(refusal));
            }
            answer => {
                let plan = read(answer)?;
                return Ok(UndoCandidate { link, path: path.map(str::to_owned).into(), plan });
            }
        }
    }
    let nowhere = || LinkError::Away("it has no projects".to_owned());
    Err(explain_link_error(unknown.unwrap_or_else(nowhere)))
}

fn read(answer: Result<Value, LinkError>) -> anyhow::Result<UndoPlanAnswer> {
    let plan = answer.map_err(explain_link_error)?;
    serde_json::from_value(plan).context("the server's answer cannot be read")
}

fn show(plan: &UndoPlanAnswer) {
    let paint = TerminalColors(output::is_coloured());
    match plan.tool_ids.as_slice() {
        [call] => output::line(&format!("Undoing {} would", escape_to_line(call))),
        calls => output::line(&format!("Undoing {} calls would", calls.len())),
    }
    for file in &plan.files {
        let path = escape_to_line(&file.file_path);
        match (file.action.as_str(), &file.reason) {
            ("nothing", _) => output::line(&paint.dim(&format!("  {path}: it is as it was"))),
            (_, Some(why)) => {
                output::line(&paint.yellow(&format!("  {path}: left: {}", escape_to_line(why))));
            }
            _ => file_diff_lines(&file.diff, paint).iter().for_each(|line| output::line(line)),
        }
    }
    if plan.is_partial {
        let more = "  A command ran: what it changed beyond these files is not put back.";
        output::line(&paint.yellow(more));
    }
    if let Some(by) = &plan.undone_by {
        output::line(&paint.dim(&format!("  It was undone already, by {}.", escape_to_line(by))));
    }
}

fn says_yes() -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!(HintedError {
            error: anyhow::anyhow!("there is nobody to ask"),
            hint: "--yes does not ask, --dry-run only shows".to_owned(),
        });
    }
    output::note("Put these files back? [y/N]");
    let mut said = String::new();
    std::io::stdin().lock().read_line(&mut said)?;
    Ok(matches!(said.trim(), "y" | "Y" | "yes"))
}

fn tell(done: &UndoAnswer) {
    let files = if done.files == 1 { "file is" } else { "files are" };
    output::line(&format!("{} {files} as before.", done.files));
    for UndoSkippedFile { file_path, reason } in &done.left {
        output::note(&format!("left: {}: {}", escape_to_line(file_path), escape_to_line(reason)));
    }
}
