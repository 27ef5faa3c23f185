//! What the flags and the surroundings mean: the folder, where people are asked.

use std::io::IsTerminal;
use std::path::PathBuf;

use countersign_tools::ClientSide;

use super::desk::Asking;
use crate::cli::{Approvals, ClientArgs};
use crate::commands::serve;
use crate::hint::Hint;
use crate::{environment, record};

/// Returns this machine's side of the tools; our own state and the token are out of their reach.
pub(super) fn side(args: &ClientArgs) -> anyhow::Result<ClientSide> {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or(path.clone());
    let token = args.at.token_file.as_ref().map(absolute);
    let own = [record::data_path(args.at.data.as_deref()), environment::config_folder(), token];
    let own = own.into_iter().flatten().map(serve::resolved);
    ClientSide::here(&args.root, own).hint("give --root a folder that exists")
}

/// Returns where people are asked.
pub(super) fn asking(args: &ClientArgs) -> Asking {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    match args.approvals {
        Approvals::Elsewhere => Asking::Elsewhere("elsewhere"),
        Approvals::Here if args.json => Asking::Elsewhere("elsewhere: with --json nobody is asked"),
        Approvals::Here if is_terminal => Asking::Here,
        Approvals::Here => Asking::Elsewhere("elsewhere: this is no terminal"),
    }
}
