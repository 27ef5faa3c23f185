//! `countersign undo`: shows what a call did to files the other way round, asks, and has it put back.

use std::io::{BufRead, IsTerminal};

use anyhow::bail;
use countersign_api::execution::ExecutionList;
use countersign_api::risk_level::RiskLevel;
use countersign_api::undo::{LeftFile, UndoAction, UndoBody, UndoView, UndoneView};
use countersign_client::{ANSWER_TIMEOUT, ApiClient, ApiClientError};
use countersign_tools::escape_to_line;
use jiff::Timestamp;

use crate::cli::UndoArgs;
use crate::hint::HintedError;
use crate::output;
use crate::runtime::runtime;
use crate::server_target::{client_for_person, explain_client_error};
use crate::terminal::TerminalColors;
use crate::terminal::approval_card::file_diff_lines;

/// How many calls are asked for at a time.
const PAGE: &str = "200";

/// What can be undone: where to ask for it, and what that would do.
struct UndoCandidate {
    server: ApiClient,
    path: Vec<String>,
    plan: UndoView,
}

pub(crate) fn run(args: &UndoArgs) -> anyhow::Result<()> {
    let server = client_for_person(&args.at)?;
    runtime()?.block_on(undo(args, &server))
}

async fn undo(args: &UndoArgs, server: &ApiClient) -> anyhow::Result<()> {
    let servers = if args.at.project.is_some() {
        vec![server.clone()]
    } else {
        let projects = server.projects().await.map_err(explain_client_error)?;
        projects.iter().map(|project| server.to_project(&project.project_id)).collect()
    };
    let UndoCandidate { server, path, plan } = match (&args.call, &args.run) {
        (_, Some(run)) => find_undo_candidate(servers, ["runs", run, "undo"]).await?,
        (Some(call), None) => find_undo_candidate(servers, ["tools", call, "undo"]).await?,
        (None, None) => last(servers).await?,
    };
    show(&plan);
    let there_is = |action: UndoAction| plan.files.iter().any(|file| file.action == action);
    let is_refused = there_is(UndoAction::Refused);
    if !there_is(UndoAction::Restore) && !there_is(UndoAction::Delete) {
        let why = if is_refused { "nothing can be put back" } else { "all is as it was" };
        bail!("{why}");
    }
    if is_refused && !args.skip_refused && !args.dry_run {
        bail!(HintedError {
            error: anyhow::anyhow!("not every file can be put back"),
            hint: "--skip-refused puts back the others".to_owned(),
        });
    }
    if args.dry_run || !(args.yes || says_yes()?) {
        output::note("Nothing was changed.");
        return Ok(());
    }
    let body = UndoBody { digest: plan.digest, skip_refused: args.skip_refused };
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let done = server.post(&path, &body, ANSWER_TIMEOUT).await.map_err(explain_client_error)?;
    tell(&done);
    Ok(())
}

/// Returns the plan for the last call that changed files and was not undone, of all these projects.
async fn last(servers: Vec<ApiClient>) -> anyhow::Result<UndoCandidate> {
    let mut latest: Option<(Timestamp, UndoCandidate)> = None;
    for server in servers {
        let after = latest.as_ref().map(|(at, _)| *at);
        if let Some(found) = last_of_project(server, after).await? {
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
    server: ApiClient,
    after: Option<Timestamp>,
) -> anyhow::Result<Option<(Timestamp, UndoCandidate)>> {
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("limit", PAGE)];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = server.get(&["tools", "executions"], &query).await;
        let page: ExecutionList = page.map_err(explain_client_error)?;
        for call in page.executions {
            if after.is_some_and(|after| call.created_at <= after) {
                return Ok(None);
            }
            // What is LOW only looks.
            if call.risk_level == RiskLevel::Low {
                continue;
            }
            let path = ["tools", call.tool_id.as_str(), "undo"];
            match server.get::<UndoView>(&path, &[]).await {
                Err(ApiClientError::Refused(refusal)) if refusal.code == "nothing_to_undo" => {}
                answer => {
                    let plan = answer.map_err(explain_client_error)?;
                    if plan.undone_by.is_none() {
                        let path = path.map(str::to_owned).into();
                        return Ok(Some((call.created_at, UndoCandidate { server, path, plan })));
                    }
                }
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(None);
        }
    }
}

/// Returns the plan for what is named, from the project that knows it.
async fn find_undo_candidate(
    servers: Vec<ApiClient>,
    path: [&str; 3],
) -> anyhow::Result<UndoCandidate> {
    let mut unknown = None;
    for server in servers {
        match server.get::<UndoView>(&path, &[]).await {
            Err(ApiClientError::Refused(refusal)) if refusal.status == 404 => {
                unknown = Some(ApiClientError::Refused(refusal));
            }
            answer => {
                let plan = answer.map_err(explain_client_error)?;
                return Ok(UndoCandidate { server, path: path.map(str::to_owned).into(), plan });
            }
        }
    }
    let nowhere = || ApiClientError::Away("it has no projects".to_owned());
    Err(explain_client_error(unknown.unwrap_or_else(nowhere)))
}

fn show(plan: &UndoView) {
    let paint = TerminalColors(output::is_coloured());
    match plan.tool_ids.as_slice() {
        [call] => output::line(&format!("Undoing {} would", escape_to_line(call))),
        calls => output::line(&format!("Undoing {} calls would", calls.len())),
    }
    for file in &plan.files {
        let path = escape_to_line(&file.file_path);
        match (file.action, &file.reason) {
            (UndoAction::Nothing, _) => {
                output::line(&paint.dim(&format!("  {path}: it is as it was")));
            }
            (_, Some(why)) => {
                output::line(&paint.yellow(&format!("  {path}: left: {}", escape_to_line(why))));
            }
            _ => {
                let lines = file.diff.iter().flat_map(|diff| file_diff_lines(diff, paint));
                lines.for_each(|line| output::line(&line));
            }
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

fn tell(done: &UndoneView) {
    let files = if done.files == 1 { "file is" } else { "files are" };
    output::line(&format!("{} {files} as before.", done.files));
    for LeftFile { file_path, reason } in &done.left {
        output::note(&format!("left: {}: {}", escape_to_line(file_path), escape_to_line(reason)));
    }
}
