//! `countersign policy`: what the rules say, without a server and without running anything.

mod check;
mod examples;
mod explain;
mod simulate;
mod trust;

use countersign_client::evaluation::{EvaluationPlace, EvaluatorError, PolicyEvaluator};
use countersign_core::PermissionMode;
use countersign_tools::Environment;

use crate::cli::{PolicyCommand, PolicySourceArgs};
use crate::hint::HintExt;
use crate::terminal::preset_view;
use crate::{data_paths, environment};

/// What can be done about a file of rules that cannot be read.
const RULES_HINT: &str =
    "give --rules a file like countersign.toml, or Claude Code's settings.json";

pub(crate) fn run(command: PolicyCommand) -> anyhow::Result<()> {
    match command {
        PolicyCommand::Check(args) => check::run(&args),
        PolicyCommand::Explain(args) => explain::run(&args),
        PolicyCommand::Test(args) => examples::run(&args),
        PolicyCommand::Simulate(args) => simulate::run(&args),
        PolicyCommand::Trust(args) => trust::run(&args),
        PolicyCommand::Preset(args) => preset_view::print(args.name.as_deref(), args.json),
    }
}

/// Returns who judges calls in the workspace that was named.
pub(crate) fn evaluator(
    source: &PolicySourceArgs,
    mode: Option<PermissionMode>,
) -> anyhow::Result<PolicyEvaluator> {
    let own = [environment::data_folder(), environment::config_folder()];
    let place = EvaluationPlace {
        root: source.root.clone(),
        rules: source.rules.clone(),
        rulebook: data_paths::rulebook(None),
        own_folders: own.into_iter().flatten().collect(),
        home: environment::home(),
        environment: Environment::from(environment::for_tools()),
    };
    PolicyEvaluator::new(place, mode).or_else(|error| {
        let hint = match error {
            EvaluatorError::Root(_) => "give --root a folder that exists",
            EvaluatorError::Rules(_) => RULES_HINT,
        };
        Err(error).hint(hint)
    })
}
