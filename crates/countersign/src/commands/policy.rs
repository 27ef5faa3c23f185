//! `countersign policy`: what the rules say, without a server and without running anything.

mod call_row;
mod check;
mod evaluator;
mod examples;
mod explain;
mod layers;
mod row_overrides;
mod simulate;
mod trust;
mod view;

use crate::cli::PolicyCommand;

pub(crate) use call_row::CallRow;
pub(crate) use evaluator::{EvaluationTerms, PolicyEvaluator};

pub(crate) fn run(command: PolicyCommand) -> anyhow::Result<()> {
    match command {
        PolicyCommand::Check(args) => check::run(&args),
        PolicyCommand::Explain(args) => explain::run(&args),
        PolicyCommand::Test(args) => examples::run(&args),
        PolicyCommand::Simulate(args) => simulate::run(&args),
        PolicyCommand::Trust(args) => trust::run(&args),
    }
}
