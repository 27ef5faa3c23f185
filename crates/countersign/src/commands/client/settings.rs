//! What the flags and the surroundings mean: the credential, the folder, where people are asked.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, bail};
use countersign_tools::ClientSide;
use secrecy::{ExposeSecret, SecretString};

use super::desk::Asking;
use crate::cli::{Approvals, ClientArgs};
use crate::commands::serve;
use crate::hint::{Hint, Hinted};
use crate::{environment, record};

/// Returns the credential.
pub(super) fn token(args: &ClientArgs) -> anyhow::Result<SecretString> {
    let token = match (&args.token_file, &args.token) {
        (Some(file), _) => {
            let read = std::fs::read_to_string(file);
            let text = read
                .with_context(|| format!("could not read the token file `{}`", file.display()))
                .hint("it holds the token and nothing else")?;
            SecretString::from(text.trim().to_owned())
        }
        (None, Some(token)) => SecretString::from(token.expose_secret().trim().to_owned()),
        (None, None) => SecretString::default(),
    };
    if token.expose_secret().is_empty() {
        bail!(Hinted {
            error: anyhow::anyhow!("there is no token for the server"),
            hint: "set COUNTERSIGN_TOKEN, or give --token-file; `countersign serve --token …` \
                   sets one"
                .to_owned(),
        });
    }
    Ok(token)
}

/// Returns this machine's side of the tools; our own state and the token are out of their reach.
pub(super) fn side(args: &ClientArgs) -> anyhow::Result<ClientSide> {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or(path.clone());
    let token = args.token_file.as_ref().map(absolute);
    let own = [record::data_path(None), environment::config_folder(), token];
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
