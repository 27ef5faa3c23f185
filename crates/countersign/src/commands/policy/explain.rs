//! `policy explain`: a verdict in words.

use countersign_client::evaluation::{CallEvaluation, CallRow};
use countersign_core::{Explanation, ExplanationStyle, explain};
use serde_json::json;

use super::evaluator;
use crate::cli::PolicyExplainArgs;
use crate::output;
use crate::terminal::verdict_view;

pub(super) fn run(args: &PolicyExplainArgs) -> anyhow::Result<()> {
    let judge = evaluator(&args.rulings, args.mode)?;
    let row = match (&args.command, &args.tool, &args.input) {
        (Some(command), ..) => {
            CallRow::for_call("Bash", &json!({ "command": command }).to_string())
        }
        (None, tool, input) => CallRow::for_call(
            tool.as_deref().unwrap_or_default(),
            input.as_deref().unwrap_or_default(),
        ),
    };
    let row = row.in_folder(args.cwd.as_deref());
    let judged = row.evaluate(&judge);
    let proposals = judge.proposals(&judged);
    if args.json {
        output::line(&verdict_view::detailed_object(&row.id, &judged, &proposals).to_string());
        return Ok(());
    }
    let CallEvaluation { call, plan, risk, verdict } = &judged;
    let explained = Explanation { call, plan, risk: *risk, verdict, proposals: &proposals };
    let look =
        if output::is_coloured() { ExplanationStyle::Coloured } else { ExplanationStyle::Plain };
    output::line(&explain(&explained, look));
    Ok(())
}
