//! `countersign approvals`: requests of all projects, listed, shown and decided from the terminal.

mod card;

use std::io::{BufRead, IsTerminal};

use anyhow::{Context, bail};
use countersign_tools::escape_to_line;
use serde::Deserialize;
use serde_json::{Value, json};

use self::card::{RequestCard, heading};
use super::serve;
use super::server_link::{ANSWER, LinkError, ServerLink, explain_link_error};
use crate::cli::{
    ApprovalsApproveArgs, ApprovalsCommand, ApprovalsListArgs, ApprovalsRejectArgs,
    ApprovalsShowArgs, ServerTargetArgs,
};
use crate::hint::HintedError;
use crate::output;
use crate::terminal_colors::TerminalColors;

/// How many requests are asked for at a time.
const PAGE: &str = "200";

/// A request as the server tells of it, as far as the terminal shows it.
#[derive(Deserialize)]
struct ListedRequest {
    approval_id: String,
    status: String,
    digest: String,
}

pub(crate) fn run(command: &ApprovalsCommand) -> anyhow::Result<()> {
    serve::runtime()?.block_on(async {
        match command {
            ApprovalsCommand::List(args) => list(args).await,
            ApprovalsCommand::Show(args) => show(args).await,
            ApprovalsCommand::Approve(args) => approve(args).await,
            ApprovalsCommand::Reject(args) => reject(args).await,
        }
    })
}

async fn list(args: &ApprovalsListArgs) -> anyhow::Result<()> {
    let link = ServerLink::for_person(&args.at)?;
    let path: Vec<&str> = match &args.at.project {
        Some(project) => vec!["my", "projects", project.as_str(), "approvals"],
        None => vec!["my", "approvals"],
    };
    let mut requests = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("limit", PAGE)];
        if args.status != "all" {
            query.push(("status", args.status.as_str()));
        }
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = link.get_at_server(&path, &query).await.map_err(explain_link_error)?;
        let approvals = page.get("approvals").and_then(Value::as_array).cloned();
        requests.extend(approvals.context("the server's answer cannot be read")?);
        cursor = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    if args.json {
        output::line(&json!({"approvals": requests}).to_string());
        return Ok(());
    }
    if requests.is_empty() {
        output::note("No such requests.");
    }
    // The oldest first: it has waited longest.
    let paint = TerminalColors(output::is_coloured());
    for request in requests.iter().rev() {
        let ListedRequest { approval_id, digest, .. } = read(request)?;
        output::line(&format!("{}  {}", escape_to_line(&approval_id), heading(request, paint)));
        output::line(&format!("  {}", card::belonging(request)));
        output::line(&paint.dim(&format!("  digest {}", escape_to_line(&digest))));
    }
    Ok(())
}

async fn show(args: &ApprovalsShowArgs) -> anyhow::Result<()> {
    let (_, request) = find(&args.at, &args.id).await?;
    if args.json {
        output::line(&request.to_string());
    } else {
        print_card(&request, output::line)?;
    }
    Ok(())
}

async fn approve(args: &ApprovalsApproveArgs) -> anyhow::Result<()> {
    let (link, request) = find(&args.at, &args.id).await?;
    // What is asked about is shown, also where the answer goes to a program.
    print_card(&request, if args.json { output::note } else { output::line })?;
    let ListedRequest { approval_id, status, digest } = read(&request)?;
    if status != "awaiting_approval" {
        bail!("the request no longer waits: it is {}", escape_to_line(&status));
    }
    let seen = args.digest.as_ref().unwrap_or(&digest);
    if *seen != digest {
        bail!(HintedError {
            error: anyhow::anyhow!("the request is not the one with that digest"),
            hint: "look at it again with `countersign approvals show`".to_owned(),
        });
    }
    if !args.yes && !says_yes()? {
        output::note("Nothing was approved.");
        return Ok(());
    }
    let body = json!({"decision": "approved", "digest": seen});
    let answer = link.post(&["approvals", &approval_id, "approve"], &body, ANSWER).await;
    tell(&answer.map_err(explain_link_error)?, args.json, "Approved.");
    Ok(())
}

async fn reject(args: &ApprovalsRejectArgs) -> anyhow::Result<()> {
    let (link, request) = find(&args.at, &args.id).await?;
    let ListedRequest { approval_id, .. } = read(&request)?;
    let body = json!({"decision": "rejected", "reason": args.feedback});
    let answer = link.post(&["approvals", &approval_id, "reject"], &body, ANSWER).await;
    tell(&answer.map_err(explain_link_error)?, args.json, "Rejected.");
    Ok(())
}

/// Returns a request, and the way to its project: the named one, else whichever has it.
async fn find(at: &ServerTargetArgs, id: &str) -> anyhow::Result<(ServerLink, Value)> {
    let link = ServerLink::for_person(at)?;
    let projects = match &at.project {
        Some(project) => vec![project.clone()],
        None => {
            link.projects().await.map_err(explain_link_error)?.into_iter().map(|it| it.id).collect()
        }
    };
    for project in projects {
        let of_project = link.to_project(&project);
        match of_project.get(&["approvals", id], &[]).await {
            Ok(request) => return Ok((of_project, request)),
            Err(LinkError::Refused(refusal)) if refusal.status == 404 => {}
            Err(error) => return Err(explain_link_error(error)),
        }
    }
    bail!(HintedError {
        error: anyhow::anyhow!("no request has the id `{}`", escape_to_line(id)),
        hint: "`countersign approvals list` shows those that wait".to_owned(),
    })
}

fn read(request: &Value) -> anyhow::Result<ListedRequest> {
    ListedRequest::deserialize(request).context("the server's answer cannot be read")
}

fn print_card(request: &Value, say: fn(&str)) -> anyhow::Result<()> {
    let paint = TerminalColors(output::is_coloured());
    for line in RequestCard::new(request).lines(paint) {
        say(&line);
    }
    let ListedRequest { digest, .. } = read(request)?;
    say(&paint.dim(&format!("digest {}", escape_to_line(&digest))));
    Ok(())
}

fn says_yes() -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!(HintedError {
            error: anyhow::anyhow!("there is nobody to ask"),
            hint: "--yes does not ask; add --digest to approve only what you have seen".to_owned(),
        });
    }
    output::note("Approve this? [y/N]");
    let mut said = String::new();
    std::io::stdin().lock().read_line(&mut said)?;
    Ok(matches!(said.trim(), "y" | "Y" | "yes"))
}

/// Says what the server answered.
fn tell(answer: &Value, json: bool, done: &str) {
    if json {
        output::line(&answer.to_string());
    } else {
        output::line(done);
    }
}
