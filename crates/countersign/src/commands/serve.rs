//! `countersign serve`: wires the parts and serves until told to stop.

mod tool_setup;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use countersign_agent::{
    AnthropicConnection, AnthropicModel, ClaudeSetup, RunnerConfig, Scenario, ScriptedModel,
};
use countersign_core::rule::RuleSource;
use countersign_gate::{
    DatabaseUrl, DecisionTimeouts, Gate, GateSettings, Project, RuleFileState, Rulebook,
    SystemClock, WORKSPACE_FILE,
};
use countersign_server::{
    ApprovalSwitch, Credential, HookSpool, HostNames, ModelSource, RunDefaults, ServeError, Server,
    ServerConfig,
};
use countersign_tools::{Environment, McpConfinement, PlannerCatalogue, Workspace};
use secrecy::ExposeSecret;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::mcp::load_mcp_servers;
use crate::cli::{SandboxSwitch, ServeArgs, ServerLocationArgs};
use crate::hint::{HintExt, HintedError};
use crate::log_setup::init_log;
use crate::runtime::runtime;
use crate::terminal::announcement;
use crate::{commands, data_paths, environment, metrics_setup, output};

/// How long what was read at the end may take to come back.
const CLOSING: Duration = Duration::from_secs(1);

pub(crate) fn run(args: ServeArgs) -> anyhow::Result<()> {
    init_log(args.common.log_format);
    let runtime = runtime()?;
    let served = runtime.block_on(serve(args));
    // Whoever still waits for a database that fell silent is not waited for.
    runtime.shutdown_timeout(CLOSING);
    served
}

async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    let model = model(&args)?;
    let database = data_paths::database(args.common.data.as_deref(), args.database.as_deref())?;
    let own = own_folders(&args.common, &database);
    let workspaces = workspaces(&args.root, &own)?;
    let rulebook = rulebook(&args.common, &workspaces);
    let sandbox = commands::sandbox::probe(args.sandbox, args.common.data.as_deref()).await?;
    let listener = listen(args.common.listen).await?;
    let address = listener.local_addr()?;
    // Before anything is counted.
    let metrics = metrics_setup::install_recorder()?;
    let gate = gate(&args, database, rulebook).await?;
    let (credential, sign_in) = credential(&args.common)?;
    let names = HostNames { public_url: args.public_url.clone(), allowed: args.allow_host.clone() };
    let page = announcement::page(address, &names, sign_in.as_deref());
    let (local, running) = announcement::announce(&args.common, address, &gate).await?;
    let keep = tool_setup::open_backup_store(&args.common);
    let tools = Environment::from(environment::for_tools());
    let confinement = McpConfinement {
        sandbox: sandbox.clone(),
        required: args.sandbox == SandboxSwitch::Required,
        own,
    };
    let servers = load_mcp_servers(args.common.data.as_deref(), confinement)?;
    for (_, workspace) in &workspaces {
        tool_setup::tell_of_servers(&servers, workspace);
    }
    let server = Server::new(ServerConfig {
        gate,
        workspaces,
        catalogue: Arc::new({
            let tools = tools.clone();
            move |workspace| PlannerCatalogue::new(workspace.clone(), tools.clone())
        }),
        toolbox: tool_setup::toolboxes(tools, sandbox.clone(), Arc::clone(&servers)),
        sandbox,
        claude: claude(&args),
        keep,
        approval_switch: approval_switch(args.tool_approval_enabled),
        model,
        credential,
        metrics: Arc::new(move || metrics.render()),
    })
    .with_run_defaults(RunDefaults {
        system_prompt: args.system_prompt.clone(),
        max_tokens: args.max_tokens,
    });
    let spool = HookSpool::in_folder(&data_paths::data_folder(args.common.data.as_deref())?);
    let server = server.with_host_names(names.clone()).with_local_credential(local);
    let server = server.with_hook_spool(spool);
    output::line(&format!("listening on http://{address}/"));
    announcement::print_sign_in(&page, sign_in.is_some(), &args.common);
    announcement::warn_of_plain_http(address, &names);
    if args.open && open::that_detached(&page).is_err() {
        output::note("No browser could be opened; use the link above.");
    }
    let done = server.run(listener, stop_signal()).await;
    servers.close().await;
    // Nobody finds the server from now on.
    drop(running);
    match done {
        Err(ServeError::Store(error)) => data_paths::explain_store_failure(Err(error))?,
        done => done?,
    }
    output::note("Stopped.");
    Ok(())
}

/// Returns the folders that hold our own state and the user's rules: no command may touch them.
fn own_folders(common: &ServerLocationArgs, database: &DatabaseUrl) -> Vec<PathBuf> {
    let database = match database {
        DatabaseUrl::Sqlite(file) => file.parent().map(Path::to_owned),
        DatabaseUrl::Postgres(_) => None,
    };
    let folders =
        [database, data_paths::data_path(common.data.as_deref()), environment::config_folder()];
    let mut own: Vec<_> = folders.into_iter().flatten().map(resolve_folder).collect();
    own.dedup();
    own
}

/// Resolves links as far as the folder is there: one that is made later is meant too.
pub(crate) fn resolve_folder(folder: PathBuf) -> PathBuf {
    let parent = || Some(folder.parent()?.canonicalize().ok()?.join(folder.file_name()?));
    folder.canonicalize().ok().or_else(parent).unwrap_or(folder)
}

/// Returns a project per root, in none of which a command may touch what is our own.
fn workspaces(roots: &[PathBuf], own: &[PathBuf]) -> anyhow::Result<Vec<(Project, Workspace)>> {
    let workspace_of = |root: &PathBuf| {
        let workspace = Workspace::new([root.clone()])
            .hint("give --root a folder that exists")?
            .keeping_out_of(own.iter().cloned());
        let root = workspace.roots().first().context("a workspace without a root")?;
        let root = root.to_str().context("the workspace's path is not UTF-8")?;
        Ok((Project::from_root(root), workspace))
    };
    roots.iter().map(workspace_of).collect()
}

/// Returns the rules that stand in files, and tells of what a person has to do about them.
fn rulebook(common: &ServerLocationArgs, workspaces: &[(Project, Workspace)]) -> Arc<Rulebook> {
    let rulebook = data_paths::rulebook(common.data.as_deref());
    for (project, _) in workspaces {
        rulebook.add_project(project.id.clone(), PathBuf::from(&project.root));
        for file in rulebook.files(&project.id) {
            tell_of(&file);
        }
    }
    Arc::new(rulebook)
}

fn tell_of(file: &RuleFileState) {
    let path = file.path.display();
    if let Some(why) = &file.broken {
        output::note(&format!("The rules in {path} cannot be read, so everything asks: {why}"));
    }
    for problem in &file.problems {
        output::note(&format!("{path}: `{}` is not followed: {}", problem.rule, problem.why));
    }
    if file.source == RuleSource::Workspace && file.allows && !file.trusted {
        output::note(&format!(
            "`{WORKSPACE_FILE}` of this workspace allows things; its allow rules wait until you \
             trust it: countersign policy trust"
        ));
    }
}

fn model(args: &ServeArgs) -> anyhow::Result<ModelSource> {
    if args.demo {
        let model = Arc::new(ScriptedModel::new(Scenario::demo()?, Arc::new(SystemClock)));
        return Ok(ModelSource { model, name: "demo".to_owned(), demo: true });
    }
    if args.api_key.is_none() {
        output::note("No API key is set: prompts will fail until ANTHROPIC_API_KEY is there.");
        output::note("hint: `countersign demo` shows everything without one");
    }
    let mut connection =
        AnthropicConnection { key: args.api_key.clone(), ..AnthropicConnection::default() };
    if let Some(url) = &args.base_url {
        connection.base_url.clone_from(url);
    }
    let model =
        AnthropicModel::new(connection).hint("check ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY")?;
    let name = args.model.clone().unwrap_or_else(|| RunnerConfig::DEFAULT_MODEL.to_owned());
    Ok(ModelSource { model: Arc::new(model), name, demo: false })
}

/// Returns where Claude Code is, and what it may know: what tools may, and how it reaches its API.
fn claude(args: &ServeArgs) -> ClaudeSetup {
    let mut env = environment::for_claude();
    if let Some(key) = &args.api_key {
        env.push(("ANTHROPIC_API_KEY".to_owned(), key.expose_secret().to_owned()));
    }
    if let Some(url) = &args.base_url {
        env.push(("ANTHROPIC_BASE_URL".to_owned(), url.clone()));
    }
    ClaudeSetup { cli: args.claude.clone(), env }
}

fn approval_switch(enabled: Option<bool>) -> ApprovalSwitch {
    match enabled {
        None => ApprovalSwitch::Unset,
        Some(true) => ApprovalSwitch::On,
        Some(false) => {
            output::note(
                "TOOL_APPROVAL_ENABLED=false: runs that name no mode ask nobody. What is denied \
                 stays denied, and every call is recorded.",
            );
            ApprovalSwitch::Off
        }
    }
}

async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("could not listen on {address}"))
        .hint("another server may be running there; `--listen 127.0.0.1:0` picks a free port")
}

async fn gate(
    args: &ServeArgs,
    database: DatabaseUrl,
    rulebook: Arc<Rulebook>,
) -> anyhow::Result<Gate> {
    if args.bus.is_some() && matches!(database, DatabaseUrl::Sqlite(_)) {
        bail!(HintedError {
            error: anyhow::anyhow!("a bus is for several servers, and a file has one"),
            hint: "leave out --bus, or give a PostgreSQL with --database".to_owned(),
        });
    }
    let timeouts = match args.common.approval_timeout {
        Some(seconds) => DecisionTimeouts::uniform(Duration::from_secs(seconds)),
        None => DecisionTimeouts::default(),
    };
    let days = |days: u32| Duration::from_hours(24 * u64::from(days));
    let settings = GateSettings {
        database: database.clone(),
        timeouts,
        pending_limit: args.pending_limit,
        place: Some(data_paths::data_folder(args.common.data.as_deref())?),
        bus: args.bus.clone(),
        keep_events: args.keep_events.map(days),
    };
    data_paths::explain_open_failure(
        Gate::open(settings, Arc::new(SystemClock), rulebook).await,
        &database,
    )
}

/// Returns what opens the door and, for a one-time link, its secret.
fn credential(common: &ServerLocationArgs) -> anyhow::Result<(Credential, Option<String>)> {
    match &common.token {
        Some(token) if token.expose_secret().trim().is_empty() => {
            bail!("the token is empty; leave it out to get a sign-in link")
        }
        Some(token) => Ok((Credential::Token(token.expose_secret().to_owned()), None)),
        None => {
            let (credential, link) = Credential::new_link().context("no randomness")?;
            Ok((credential, Some(link.secret().to_owned())))
        }
    }
}

/// Returns when the process is asked to stop.
pub(crate) async fn stop_signal() {
    let term = async {
        match signal(SignalKind::terminate()) {
            Ok(mut term) => drop(term.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! { _ = tokio::signal::ctrl_c() => {}, () = term => {} }
}
