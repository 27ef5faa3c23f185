//! `countersign approvals`: requests of all projects, listed, shown and decided from the terminal.

use std::io::{BufRead, IsTerminal};

use anyhow::{Context, bail};
use countersign_api::approval::{
    ApprovalView, ApproveBody, ApprovedLiteral, DecisionScope, RejectBody, RejectedLiteral,
};
use countersign_api::call_status::CallStatus;
use countersign_client::{ANSWER_TIMEOUT, ApiClient, ApiClientError};
use countersign_tools::escape_to_line;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::{
    ApprovalsApproveArgs, ApprovalsCommand, ApprovalsListArgs, ApprovalsRejectArgs,
    ApprovalsShowArgs, ServerTargetArgs,
};
use crate::hint::HintedError;
use crate::output;
use crate::runtime::runtime;
use crate::server_target::{client_for_person, explain_client_error};
use crate::terminal::TerminalColors;
use crate::terminal::request_card::{RequestCard, belonging, heading};

/// How many requests are asked for at a time.
const PAGE: &str = "200";

pub(crate) fn run(command: &ApprovalsCommand) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        match command {
            ApprovalsCommand::List(args) => list(args).await,
            ApprovalsCommand::Show(args) => show(args).await,
            ApprovalsCommand::Approve(args) => approve(args).await,
            ApprovalsCommand::Reject(args) => reject(args).await,
        }
    })
}

async fn list(args: &ApprovalsListArgs) -> anyhow::Result<()> {
    let server = client_for_person(&args.at)?;
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
        let page =
            server.get_at_server::<Value>(&path, &query).await.map_err(explain_client_error)?;
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
        let request = read(request)?;
        let id = escape_to_line(&request.approval_id);
        output::line(&format!("{id}  {}", heading(&request, paint)));
        output::line(&format!("  {}", belonging(&request)));
        output::line(&paint.dim(&format!("  digest {}", escape_to_line(&request.digest))));
    }
    Ok(())
}

async fn show(args: &ApprovalsShowArgs) -> anyhow::Result<()> {
    let (_, request) = find(&args.at, &args.id).await?;
    if args.json {
        output::line(&request.to_string());
    } else {
        print_card(&read(&request)?, output::line);
    }
    Ok(())
}

async fn approve(args: &ApprovalsApproveArgs) -> anyhow::Result<()> {
    let (server, request) = find(&args.at, &args.id).await?;
    let request = read(&request)?;
    // What is asked about is shown, also where the answer goes to a program.
    print_card(&request, if args.json { output::note } else { output::line });
    if request.status != CallStatus::AwaitingApproval {
        bail!("the request no longer waits: it is {}", request.status);
    }
    let seen = args.digest.as_ref().unwrap_or(&request.digest);
    if *seen != request.digest {
        bail!(HintedError {
            error: anyhow::anyhow!("the request is not the one with that digest"),
            hint: "look at it again with `countersign approvals show`".to_owned(),
        });
    }
    if !args.yes && !says_yes()? {
        output::note("Nothing was approved.");
        return Ok(());
    }
    let body = ApproveBody {
        decision: Some(ApprovedLiteral::Approved),
        edited_input: None,
        scope: DecisionScope::Once,
        rule: None,
        message: None,
        digest: Some(seen.clone()),
    };
    let path = ["approvals", &request.approval_id, "approve"];
    let answer = server.post(&path, &body, ANSWER_TIMEOUT).await;
    tell(&answer.map_err(explain_client_error)?, args.json, "Approved.");
    Ok(())
}

async fn reject(args: &ApprovalsRejectArgs) -> anyhow::Result<()> {
    let (server, request) = find(&args.at, &args.id).await?;
    let request = read(&request)?;
    let body = RejectBody {
        decision: Some(RejectedLiteral::Rejected),
        reason: args.feedback.clone(),
        digest: None,
        interrupt: false,
    };
    let path = ["approvals", &request.approval_id, "reject"];
    let answer = server.post(&path, &body, ANSWER_TIMEOUT).await;
    tell(&answer.map_err(explain_client_error)?, args.json, "Rejected.");
    Ok(())
}

/// Returns a request, and the way to its project: the named one, else whichever has it.
async fn find(at: &ServerTargetArgs, id: &str) -> anyhow::Result<(ApiClient, Value)> {
    let server = client_for_person(at)?;
    let projects = if let Some(project) = &at.project {
        vec![project.clone()]
    } else {
        let listed = server.projects().await.map_err(explain_client_error)?;
        listed.into_iter().map(|it| it.project_id).collect()
    };
    for project in projects {
        let of_project = server.to_project(&project);
        match of_project.get(&["approvals", id], &[]).await {
            Ok(request) => return Ok((of_project, request)),
            Err(ApiClientError::Refused(refusal)) if refusal.status == 404 => {}
            Err(error) => return Err(explain_client_error(error)),
        }
    }
    bail!(HintedError {
        error: anyhow::anyhow!("no request has the id `{}`", escape_to_line(id)),
        hint: "`countersign approvals list` shows those that wait".to_owned(),
    })
}

fn read(request: &Value) -> anyhow::Result<ApprovalView> {
    ApprovalView::deserialize(request).context("the server's answer cannot be read")
}

fn print_card(request: &ApprovalView, say: fn(&str)) {
    let paint = TerminalColors(output::is_coloured());
    for line in RequestCard::new(request).lines(paint) {
        say(&line);
    }
    say(&paint.dim(&format!("digest {}", escape_to_line(&request.digest))));
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
