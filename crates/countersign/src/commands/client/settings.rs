//! What the flags and the surroundings mean: the folder, where people are asked.

use std::io::IsTerminal;
use std::path::PathBuf;

use countersign_tools::ClientSide;

use crate::cli::{ApprovalsOption, ClientArgs};
use crate::commands::serve;
use crate::hint::HintExt;
use crate::terminal::approval_queue::DecisionLocation;
use crate::{data_paths, environment};

/// Returns this machine's side of the tools; our own state and the token are out of their reach.
pub(super) fn side(args: &ClientArgs) -> anyhow::Result<ClientSide> {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or(path.clone());
    let token = args.at.token_file.as_ref().map(absolute);
    let own = [data_paths::data_path(args.at.data.as_deref()), environment::config_folder(), token];
    let own = own.into_iter().flatten().map(serve::resolve_folder);
    ClientSide::for_local_machine(&args.root, own).hint("give --root a folder that exists")
}

/// Returns where people are asked.
pub(super) fn asking(args: &ClientArgs) -> DecisionLocation {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    match args.approvals {
        ApprovalsOption::Elsewhere => DecisionLocation::Elsewhere("elsewhere"),
        ApprovalsOption::Here if args.json => {
            DecisionLocation::Elsewhere("elsewhere: with --json nobody is asked")
        }
        ApprovalsOption::Here if is_terminal => DecisionLocation::Here,
        ApprovalsOption::Here => DecisionLocation::Elsewhere("elsewhere: this is not a terminal"),
    }
}
