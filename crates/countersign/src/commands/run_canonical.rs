//! `countersign run-canonical`: runs a command as the Bash tool does when nobody has to be asked.
//!
//! For tests: the oracle holds what this does against what the verdict promised.

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, bail};
use countersign_core::{PermissionMode, VerdictAction};
use countersign_tools::{Environment, run_canonical};
use serde::Deserialize;
use serde_json::json;

use super::policy::evaluator;
use crate::cli::PolicySourceArgs;
use crate::environment;

/// What stands on standard input.
#[derive(Deserialize)]
struct CanonicalRunInput {
    root: PathBuf,
    mode: Option<PermissionMode>,
    command: String,
}

/// Runs the command on standard input and returns its exit code.
pub(crate) fn run() -> anyhow::Result<u8> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("the command could not be read")?;
    let wanted: CanonicalRunInput =
        serde_json::from_str(&text).context("the command is not JSON")?;
    let judge = evaluator(&PolicySourceArgs { root: wanted.root, rules: None }, wanted.mode)?;
    let input = json!({ "command": wanted.command });
    let judged = judge.judge("Bash", Ok(input), judge.terms());
    let (VerdictAction::Allow, Some(canonical)) = (judged.verdict.outcome, &judged.plan.canonical)
    else {
        bail!("a person would be asked about this command, so it is not run here");
    };
    let environment = Environment::from(environment::for_tools());
    Ok(run_canonical(canonical, &judged.plan.effects, judge.root(), &environment))
}
