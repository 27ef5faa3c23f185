//! `policy explain`: a verdict in words.

use countersign_core::{Explained, Look, explain};
use serde_json::json;

use super::judge::Judged;
use super::{Judge, Row, view};
use crate::cli::PolicyExplainArgs;
use crate::output;

pub(super) fn run(args: &PolicyExplainArgs) -> anyhow::Result<()> {
    let judge = Judge::new(&args.rulings, args.mode)?;
    let row = match (&args.command, &args.tool, &args.input) {
        (Some(command), ..) => Row::of("Bash", &json!({ "command": command }).to_string()),
        (None, tool, input) => {
            Row::of(tool.as_deref().unwrap_or_default(), input.as_deref().unwrap_or_default())
        }
    };
    let judged = row.judged(&judge);
    let proposals = judge.proposals(&judged);
    if args.json {
        output::line(&view::in_full(&row.id, &judged, &proposals).to_string());
        return Ok(());
    }
    let Judged { call, plan, risk, verdict } = &judged;
    let explained = Explained { call, plan, risk: *risk, verdict, proposals: &proposals };
    let look = if output::is_coloured() { Look::Coloured } else { Look::Plain };
    output::line(&explain(&explained, look));
    Ok(())
}
