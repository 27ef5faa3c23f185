//! `countersign policy`: what the rules say, without a server and without running anything.

mod check;
mod examples;
mod explain;
mod given;
mod judge;
mod layers;
mod row;
mod simulate;
mod trust;
mod view;

use crate::cli::PolicyCommand;

pub(crate) use judge::{Judge, Terms};
pub(crate) use row::Row;

pub(crate) fn run(command: PolicyCommand) -> anyhow::Result<()> {
    match command {
        PolicyCommand::Check(args) => check::run(&args),
        PolicyCommand::Explain(args) => explain::run(&args),
        PolicyCommand::Test(args) => examples::run(&args),
        PolicyCommand::Simulate(args) => simulate::run(&args),
        PolicyCommand::Trust(args) => trust::run(&args),
    }
}
