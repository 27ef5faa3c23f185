//! `policy trust`: lets what a workspace's file allows count, as long as it stays as it is.

use std::io::{IsTerminal, Write};

use anyhow::{Context, bail};
use countersign_core::VerdictAction;
use countersign_core::rule::RuleSource;
use countersign_gate::WORKSPACE_FILE;

use crate::cli::PolicyTrustArgs;
use crate::hint::{HintExt, HintedError};
use crate::{data_paths, output};

pub(super) fn run(args: &PolicyTrustArgs) -> anyhow::Result<()> {
    let root = args.root.canonicalize().hint("give --root a folder that exists")?;
    let book = data_paths::rulebook(args.data.as_deref());
    let file = book.files_at(&root).into_iter().find(|file| file.source == RuleSource::Workspace);
    let file = file.context("the workspace could not be looked at")?;
    if let Some(why) = &file.broken {
        bail!("`{}` cannot be read: {why}", file.path.display());
    }
    let Some(digest) = &file.digest else {
        bail!("there is no `{WORKSPACE_FILE}` in `{}`", root.display());
    };
    let layers = book.layers_at(&root);
    let rules = layers.iter().filter(|layer| layer.source == RuleSource::Workspace);
    let allows: Vec<_> = rules
        .flat_map(|layer| &layer.rules)
        .filter(|rule| rule.outcome == VerdictAction::Allow)
        .collect();
    if file.trusted || allows.is_empty() {
        let why = if file.trusted { "is trusted already" } else { "allows nothing" };
        output::line(&format!("`{}` {why}; there is nothing to do.", file.path.display()));
        return Ok(());
    }
    output::note(&format!("`{}` allows, without asking you:", file.path.display()));
    for rule in allows {
        output::note(&format!("  {}", rule.text));
    }
    if !args.yes && !confirmed()? {
        bail!("nothing was trusted");
    }
    book.trust_at(&root, digest)?;
    output::line("Trusted. When the file changes, what it allows waits again.");
    Ok(())
}

fn confirmed() -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        let error = anyhow::anyhow!("there is nobody to confirm it");
        let hint = "say --yes if you have read the rules above".to_owned();
        return Err(HintedError { error, hint }.into());
    }
    let mut out = std::io::stderr();
    write!(out, "Trust exactly this content? [y/N] ").and_then(|()| out.flush())?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
