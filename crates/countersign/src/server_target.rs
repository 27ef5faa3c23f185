//! Which server a command talks to, and with what: flags, the server that runs here, kept tokens.

use anyhow::Context;
use countersign_client::{
    ApiClient, ApiClientError, CredentialError, ServerAddress, ServerCredential, USUAL_SERVER,
};
use countersign_gate::TokenRole;
use secrecy::{ExposeSecret, SecretString};

use crate::cli::{DatabaseArgs, ServerTargetArgs};
use crate::data_paths;
use crate::hint::HintedError;
use crate::running_server::RunningServer;
use crate::token_store::{NewToken, agent_token_file};

/// Returns the way that a person's command takes: to the server and with the token that were named, or
/// else to the one that runs on the data folder, with what opens its door for its user.
pub(crate) fn client_for_person(at: &ServerTargetArgs) -> anyhow::Result<ApiClient> {
    connect(&server_url(at), project_of(at), person_credential(at)?)
}

/// Returns the way that somebody who runs calls takes: with a token of the role `agent`.
pub(crate) async fn client_for_agent(at: &ServerTargetArgs) -> anyhow::Result<ApiClient> {
    connect(&server_url(at), project_of(at), agent_credential(at).await?)
}

/// Returns the way to a project of a server. Nothing is sent yet.
pub(crate) fn connect(
    url: &str,
    project: &str,
    credential: ServerCredential,
) -> anyhow::Result<ApiClient> {
    let address = parse_address(url)?;
    ApiClient::new(address, project, Some(credential)).context("the HTTP client cannot be made")
}

/// Reads a server's address.
pub(crate) fn parse_address(url: &str) -> anyhow::Result<ServerAddress> {
    ServerAddress::parse(url).map_err(|_| {
        let error = anyhow::anyhow!("the server address is invalid");
        let hint = format!("give --server something like {USUAL_SERVER}");
        HintedError { error, hint }.into()
    })
}

/// Reads a credential file.
pub(crate) fn read_credential(file: &std::path::Path) -> anyhow::Result<ServerCredential> {
    ServerCredential::read(file).map_err(|error| match error {
        unreadable @ CredentialError::Read(..) => {
            let hint = "it holds the token, and below it the server's key if that is known";
            HintedError { error: unreadable.into(), hint: hint.to_owned() }.into()
        }
        error => error.into(),
    })
}

/// Returns whether two addresses are one server of this machine.
fn is_same_server(one: &str, other: &str) -> bool {
    match (ServerAddress::parse(one), ServerAddress::parse(other)) {
        (Ok(one), Ok(other)) => one.is_same_server(&other),
        _ => false,
    }
}

/// Returns whether an address is one of this machine.
pub(crate) fn is_on_this_machine(url: &str) -> bool {
    ServerAddress::parse(url).is_ok_and(|address| address.is_loopback())
}

/// Returns the project that was named, or the first one.
fn project_of(at: &ServerTargetArgs) -> &str {
    at.project.as_deref().unwrap_or("default")
}

/// Returns where the server is that was named, or that runs here.
fn server_url(at: &ServerTargetArgs) -> String {
    if !at.server.is_empty() {
        return at.server.clone();
    }
    let running = RunningServer::find(at.data.as_deref());
    running.map_or_else(|| USUAL_SERVER.to_owned(), |running| running.url)
}

/// Returns what a person's command comes in with: the token that was named, or what the server that runs
/// here leaves for its own user.
fn person_credential(at: &ServerTargetArgs) -> anyhow::Result<ServerCredential> {
    if let Some(named) = named_credential(at)? {
        return Ok(named);
    }
    let url = server_url(at);
    let running = RunningServer::find(at.data.as_deref());
    if let Some(running) = running.filter(|it| is_same_server(&it.url, &url)) {
        return Ok(running.credential());
    }
    match kept_agent_credential(at, &url)? {
        Some(kept) => Ok(kept),
        None => Err(no_token(&url).into()),
    }
}

/// Returns what somebody who runs calls comes in with: the token that was named, or the agent's token of
/// this machine, which is made where a server runs here that has none yet.
async fn agent_credential(at: &ServerTargetArgs) -> anyhow::Result<ServerCredential> {
    if let Some(named) = named_credential(at)? {
        return Ok(named);
    }
    let url = server_url(at);
    if let Some(kept) = kept_agent_credential(at, &url)? {
        return Ok(kept);
    }
    let running = RunningServer::find(at.data.as_deref());
    let file = agent_token_file(at.data.as_deref());
    let (Some(_), Some(file)) = (running.filter(|it| is_same_server(&it.url, &url)), file) else {
        return Err(no_token(&url).into());
    };
    let records = DatabaseArgs { data: at.data.clone(), database: None };
    let made = NewToken::make(&records, TokenRole::Agent, Some("client")).await?.credential();
    made.write(&file)?;
    Ok(made)
}

/// Returns the token that was named, with the key of the server that may be told it where that is known.
fn named_credential(at: &ServerTargetArgs) -> anyhow::Result<Option<ServerCredential>> {
    let credential = match (&at.token_file, &at.token) {
        (Some(file), _) => read_credential(file)?,
        (None, Some(token)) => {
            let token = SecretString::from(token.expose_secret().trim().to_owned());
            ServerCredential { token, server_key: None }
        }
        (None, None) => return Ok(None),
    };
    if credential.token.expose_secret().is_empty() {
        return Err(no_token(&server_url(at)).into());
    }
    with_local_key(at, credential).map(Some)
}

/// Returns the agent's token of this machine, if there is one and the server is here.
fn kept_agent_credential(
    at: &ServerTargetArgs,
    url: &str,
) -> anyhow::Result<Option<ServerCredential>> {
    let is_here = is_on_this_machine(url);
    let file = agent_token_file(at.data.as_deref()).filter(|file| is_here && file.exists());
    let kept = file.map(|file| read_credential(&file)).transpose()?;
    kept.map(|kept| with_local_key(at, kept)).transpose()
}

/// Adds the key of this machine's server to a token that comes without one.
fn with_local_key(
    at: &ServerTargetArgs,
    credential: ServerCredential,
) -> anyhow::Result<ServerCredential> {
    let server_key = match credential.server_key {
        None if is_on_this_machine(&server_url(at)) => data_paths::data_path(at.data.as_deref())
            .map(|folder| folder.join("countersign.db"))
            .filter(|file| file.exists())
            .map_or(Ok(None), |file| data_paths::server_key(&file))
            .map_err(anyhow::Error::msg)?,
        key => key,
    };
    Ok(ServerCredential { server_key, ..credential })
}

fn no_token(url: &str) -> HintedError {
    HintedError {
        error: anyhow::anyhow!("there is no token for the server at {url}"),
        hint: "start the server here (`countersign serve`), name its data folder with --data, or give \
               --token-file or COUNTERSIGN_TOKEN; `countersign token create` makes a token"
            .to_owned(),
    }
}

/// Says why the server did not do what it was asked for.
pub(crate) fn explain_client_error(error: ApiClientError) -> anyhow::Error {
    match error {
        ApiClientError::Refused(refusal) => match refusal.hint {
            Some(hint) => HintedError { error: anyhow::anyhow!(refusal.message), hint }.into(),
            None => anyhow::anyhow!(refusal.message),
        },
        away => anyhow::Error::from(away).context("the server did not answer"),
    }
}
