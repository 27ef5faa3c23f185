//! `mcp list`, `mcp trust`, `mcp forget`: which MCP servers our own agent may use.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use countersign_tools::{
    Environment, McpConfinement, McpServerPin, McpServers, McpToolPin, TrustStatus,
    escape_invisible, escape_to_line,
};
use serde_json::json;

use crate::cli::{
    McpCommand, McpForgetArgs, McpListArgs, McpTrustArgs, McpWorkspaceArgs, SandboxSwitch,
};
use crate::commands::sandbox;
use crate::commands::serve::resolve_folder;
use crate::hint::{HintExt, HintedError};
use crate::runtime::runtime;
use crate::{data_paths, environment, output};

/// Above this many characters a description is cut when it is shown once more.
const WORDS: usize = 200;

/// Returns the servers that workspaces may have, pinned in the data folder.
pub(crate) fn load_mcp_servers(
    data: Option<&Path>,
    confinement: McpConfinement,
) -> anyhow::Result<Arc<McpServers>> {
    let pins = data_paths::data_path(data).context("there is no folder to keep data in")?;
    let user = environment::config_folder().map(|folder| folder.join("config.toml"));
    let tools = Environment::from(environment::for_tools());
    let servers = McpServers::new(pins.join("mcp.json"), user, tools);
    Ok(Arc::new(servers.confined_by(confinement)))
}

pub(super) fn run(what: &McpCommand) -> anyhow::Result<()> {
    match what {
        McpCommand::List(args) => list(args),
        McpCommand::Trust(args) => trust(args),
        McpCommand::Forget(args) => forget(args),
    }
}

fn list(args: &McpListArgs) -> anyhow::Result<()> {
    let (servers, root) = place(&args.place, McpConfinement::none())?;
    let found = servers.trust_statuses(&root)?;
    if found.is_empty() && !args.json {
        output::note("No MCP server is declared here: see `[mcp.NAME]` in countersign.toml.");
    }
    for (name, declared, standing) in found {
        let stands = match standing {
            TrustStatus::Pinned => "trusted",
            TrustStatus::Changed => "changed",
            TrustStatus::New => "new",
        };
        let tools = servers.pinned(&root, &name).map_or(0, |pin| pin.tools.len());
        let declared = declared.to_string();
        output::line(&if args.json {
            json!({"name": name, "standing": stands, "reached_by": declared, "tools": tools})
                .to_string()
        } else {
            format!("{name}  {stands}  {}", escape_invisible(&declared))
        });
    }
    Ok(())
}

fn trust(args: &McpTrustArgs) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let confinement = runtime.block_on(confinement(args))?;
    let (servers, root) = place(&args.place, confinement)?;
    let declared = servers.declared(&root)?;
    let Some(declared) = declared.get(&args.name) else {
        return Err(HintedError {
            error: anyhow::anyhow!("no MCP server `{}` is declared here", args.name),
            hint: format!("add `[mcp.{}]` to countersign.toml first", args.name),
        }
        .into());
    };
    output::note(&format!(
        "`{}` is reached by: {}",
        args.name,
        escape_invisible(&declared.to_string())
    ));
    output::note(&servers.confinement().describe_confinement(declared));
    // Looking at it starts it: that, too, is for the person to say.
    if !args.yes && !confirmed("Start it and look at its tools?")? {
        bail!("nothing was started");
    }
    let pin = runtime.block_on(servers.inspect_server(&root, declared));
    let pin = pin.with_context(|| format!("the MCP server `{}` cannot be used", args.name))?;
    let before = servers.pinned(&root, &args.name);
    if before.as_ref() == Some(&pin) {
        output::line("It is trusted already, exactly as it is.");
        return Ok(());
    }
    show(&pin, before.as_ref());
    if !args.yes && !confirmed("Trust exactly this?")? {
        bail!("nothing was trusted");
    }
    servers.pin(&root, &args.name, Some(pin)).context("the consent could not be kept")?;
    output::line("Trusted. Its calls ask like any other; when it changes, it waits for you again.");
    Ok(())
}

fn forget(args: &McpForgetArgs) -> anyhow::Result<()> {
    let (servers, root) = place(&args.place, McpConfinement::none())?;
    if servers.pinned(&root, &args.name).is_none() {
        bail!("`{}` is not trusted here", args.name);
    }
    servers.pin(&root, &args.name, None).context("the consent could not be taken back")?;
    output::line("Forgotten. Runs that go on cannot call it any more.");
    Ok(())
}

fn place(
    place: &McpWorkspaceArgs,
    confinement: McpConfinement,
) -> anyhow::Result<(Arc<McpServers>, PathBuf)> {
    let root = place.root.canonicalize().hint("give --root a folder that exists")?;
    Ok((load_mcp_servers(place.data.as_deref(), confinement)?, root))
}

/// Returns what a server is confined by while it is looked at.
async fn confinement(args: &McpTrustArgs) -> anyhow::Result<McpConfinement> {
    let data = args.place.data.as_deref();
    let own = [data_paths::data_path(data), environment::config_folder()];
    Ok(McpConfinement {
        sandbox: sandbox::probe_beside_server(args.sandbox, data).await?,
        required: args.sandbox == SandboxSwitch::Required,
        own: own.into_iter().flatten().map(resolve_folder).collect(),
    })
}

/// Shows what is consented to; where there was a consent before, what is new about it.
fn show(pin: &McpServerPin, before: Option<&McpServerPin>) {
    output::note(&format!("It calls itself: {}", escape_to_line(&pin.server)));
    for (path, digest) in &pin.files {
        output::note(&format!(
            "It runs {} (sha256 {digest})",
            escape_invisible(&path.display().to_string())
        ));
    }
    let known = |tool: &McpToolPin| before.is_some_and(|it| it.tools.contains(tool));
    for tool in &pin.tools {
        let had = before.is_some_and(|it| it.tools.iter().any(|other| other.name == tool.name));
        let mark = match (before, known(tool), had) {
            (None, ..) => "",
            (_, true, _) => "  (as before)",
            (_, false, true) => "  (CHANGED)",
            (_, false, false) => "  (NEW)",
        };
        output::note(&format!("\n{}{mark}", escape_to_line(&tool.name)));
        let told: String = if known(tool) {
            tool.description.chars().take(WORDS).collect()
        } else {
            tool.description.clone()
        };
        for line in told.lines() {
            output::note(&format!("  {}", escape_invisible(line)));
        }
        if !known(tool) {
            output::note(&format!("  takes: {}", escape_invisible(&tool.input_schema.to_string())));
        }
    }
    let gone = before.into_iter().flat_map(|it| &it.tools);
    for tool in gone.filter(|tool| !pin.tools.iter().any(|other| other.name == tool.name)) {
        output::note(&format!("\n{}  (GONE)", escape_to_line(&tool.name)));
    }
}

fn confirmed(question: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        let error = anyhow::anyhow!("there is nobody to confirm it");
        let hint = "say --yes if you trust the server, whatever it says of itself".to_owned();
        return Err(HintedError { error, hint }.into());
    }
    let mut out = std::io::stderr();
    write!(out, "\n{question} [y/N] ").and_then(|()| out.flush())?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
