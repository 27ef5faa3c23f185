//! The server that asks people, over REST: hand a call in, wait, tell what came of it.

use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::pin::pin;
use std::time::{Duration, Instant};

use countersign_core::{holds_mask, mask_input};
use countersign_gate::ServerPublicKey;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ConsentRequest, ServerCallRef, USUAL_SERVER};
use crate::cli::{ConsentServerArgs, DatabaseArgs};
use crate::commands::token::agent_token_file;
use crate::credential_file::ServerCredential;
use crate::running_server::RunningServer;
use crate::server_proof::{ServerProofError, with_server_proof};
use crate::{data_paths, output};

/// How long the server may take to pick up, on this machine and elsewhere.
const PICKS_UP_HERE: Duration = Duration::from_secs(2);
const PICKS_UP: Duration = Duration::from_secs(3);

/// How long the server waits with one request, at the most.
const LONGEST_WAIT: u64 = 300;

/// What an answer may take beyond the time it waits for.
const ANSWERS: Duration = Duration::from_secs(10);

/// After this long the person at the terminal is told what is waited for.
const SILENT: Duration = Duration::from_secs(3);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum ConsentClientError {
    /// The address or the token cannot be used.
    Settings(String),
    /// Nobody picks up.
    NotThere(String),
    /// The server was there and no longer is.
    Gone(String),
    /// The time is up.
    StillWaiting,
    /// The server says something that is not understood, or will not talk to us.
    Surprise(String),
}

impl fmt::Display for ConsentClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere(server) => write!(f, "the server at {server} is not there"),
            Self::Gone(server) => write!(f, "the server at {server} has gone away"),
            Self::StillWaiting => f.write_str("nobody has decided in Countersign yet"),
            Self::Settings(why) | Self::Surprise(why) => f.write_str(why),
        }
    }
}

/// A call as the server tells of it.
#[derive(Debug, Deserialize)]
pub(crate) struct RemoteExecution {
    pub(crate) tool_id: String,
    pub(crate) status: String,
    tool_input: Option<Value>,
    pub(crate) error: Option<String>,
    error_type: Option<String>,
    pub(crate) feedback: Option<String>,
    pub(crate) decided_by: Option<String>,
}

impl RemoteExecution {
    /// Returns the input that was approved, where it is another than was asked for.
    pub(crate) fn edited_input(&self, sent: &Value) -> Result<Option<Value>, ConsentClientError> {
        let Some(told) = self.tool_input.as_ref().filter(|told| *told != sent) else {
            return Ok(None);
        };
        // Shown without its secrets it is still the same; changed, it must be whole.
        if *told == mask_input(sent) {
            return Ok(None);
        }
        if !told.is_object() || holds_mask(sent, told) {
            let why = "the server changed the input and left secrets out of it".to_owned();
            return Err(ConsentClientError::Surprise(why));
        }
        Ok(Some(told.clone()))
    }

    /// Returns whether it failed because it must not run, not on the way.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self.error_type.as_deref(), Some("denied" | "validation"))
    }

    fn waits(&self) -> bool {
        matches!(self.status.as_str(), "awaiting_approval" | "pending")
    }
}

/// The server, as a client sees it.
pub(crate) struct ConsentClient {
    client: Client,
    url: Url,
    token: Option<SecretString>,
}

impl ConsentClient {
    /// Returns the server that was named.
    pub(crate) fn from_args(asking: &ConsentServerArgs) -> Result<Self, ConsentClientError> {
        let url = parse(&server_url(asking))?;
        let here = is_loopback(&url);
        // A proxy would see the token, and one that leads to this machine is not meant.
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(if here { PICKS_UP_HERE } else { PICKS_UP })
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")));
        let client = if here { client.no_proxy() } else { client };
        // Reading the system's certificates takes longer than all the rest.
        let client = if url.scheme() == "http" { client.tls_certs_only([]) } else { client };
        let credential = credential(asking, here)?;
        let key = credential.as_ref().and_then(|it| it.server_key.clone());
        let client = with_server_proof(client, &url, key).build();
        let client = client.map_err(|error| ConsentClientError::Settings(error.to_string()))?;
        Ok(Self { client, url, token: credential.map(|it| it.token) })
    }

    /// Returns whether an address is one of this machine.
    pub(crate) fn is_on_this_machine(server: &str) -> bool {
        parse(server).is_ok_and(|url| is_loopback(&url))
    }

    /// Returns the address, for people.
    pub(crate) fn address(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// Hands a call in and waits until it is decided, or the time is up.
    pub(crate) async fn wait_for_decision(
        &self,
        call: &ConsentRequest,
        project: &str,
        wait: Duration,
    ) -> Result<RemoteExecution, ConsentClientError> {
        let until = Instant::now() + wait;
        let mut deciding = pin!(self.decide(call, project, until));
        if let Ok(decided) = tokio::time::timeout(SILENT, &mut deciding).await {
            return decided;
        }
        let (tool, seconds) = (&call.tool_name, wait.as_secs());
        output::note(&format!(
            "Countersign: waiting up to {seconds} s for a decision on {tool} at {}/agent",
            self.address()
        ));
        deciding.await
    }

    async fn decide(
        &self,
        call: &ConsentRequest,
        project: &str,
        until: Instant,
    ) -> Result<RemoteExecution, ConsentClientError> {
        let mut body = json!({
            "tool_name": call.tool_name,
            "tool_input": call.input,
            "session_id": call.session,
            "cwd": call.cwd,
            "wait_seconds": left(until),
        });
        let more = [("tool_use_id", &call.tool_use_id), ("agent", &call.agent)];
        for (name, value) in more {
            if let (Some(value), Value::Object(fields)) = (value, &mut body) {
                fields.insert(name.to_owned(), value.as_str().into());
            }
        }
        let url = self.at(project, "calls")?;
        let mut execution = self.execution(self.client.post(url).json(&body), left(until)).await?;
        while execution.waits() {
            let wait = left(until);
            if wait == 0 {
                return Err(ConsentClientError::StillWaiting);
            }
            let mut url = self.at(project, &execution.tool_id)?;
            url.query_pairs_mut().append_pair("wait_seconds", &wait.to_string());
            let asked = Instant::now();
            execution = match self.execution(self.client.get(url), wait).await {
                // It was there a moment ago.
                Err(ConsentClientError::NotThere(server)) => {
                    return Err(ConsentClientError::Gone(server));
                }
                answer => answer?,
            };
            // A server that does not wait must not be asked without end.
            if execution.waits() && asked.elapsed() < Duration::from_millis(100) && wait > 1 {
                let why = "the server does not wait for the decision".to_owned();
                return Err(ConsentClientError::Surprise(why));
            }
        }
        Ok(execution)
    }

    /// Tells what came of a call.
    pub(crate) async fn report(
        &self,
        ServerCallRef { project, tool_id }: &ServerCallRef,
        result: &Value,
    ) -> Result<(), ConsentClientError> {
        let url = self.at(project, &format!("{tool_id}/result"))?;
        let sent = self.send(self.client.post(url).json(result), Duration::ZERO).await?;
        self.checked(sent).await.map(drop)
    }

    async fn execution(
        &self,
        ask: RequestBuilder,
        wait: u64,
    ) -> Result<RemoteExecution, ConsentClientError> {
        let answer = self.send(ask, Duration::from_secs(wait)).await?;
        let body = self.checked(answer).await?;
        let surprise = |why: String| {
            ConsentClientError::Surprise(format!("the server's answer is not understood ({why})"))
        };
        let body: Value = serde_json::from_slice(&body).map_err(|it| surprise(it.to_string()))?;
        let execution = body.get("execution").unwrap_or(&body);
        let execution =
            RemoteExecution::deserialize(execution).map_err(|it| surprise(it.to_string()))?;
        // It becomes part of an address.
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if execution.tool_id.is_empty() || !execution.tool_id.chars().all(plain) {
            return Err(surprise("the id of the call".to_owned()));
        }
        Ok(execution)
    }

    async fn send(
        &self,
        ask: RequestBuilder,
        wait: Duration,
    ) -> Result<Response, ConsentClientError> {
        let ask = match &self.token {
            Some(token) => ask.bearer_auth(token.expose_secret()),
            None => ask,
        };
        let server = || self.address().to_owned();
        ask.timeout(wait + ANSWERS).send().await.map_err(|error| {
            if let Some(not_proven) = ServerProofError::find_in(&error) {
                ConsentClientError::Surprise(not_proven.to_string())
            } else if error.is_connect() {
                ConsentClientError::NotThere(server())
            } else {
                ConsentClientError::Gone(server())
            }
        })
    }

    /// Returns the body of a good answer.
    async fn checked(&self, answer: Response) -> Result<Vec<u8>, ConsentClientError> {
        let (status, server) = (answer.status(), self.address());
        let why = match status {
            status if status.is_success() => {
                let body = answer.bytes().await;
                return body
                    .map(Into::into)
                    .map_err(|_| ConsentClientError::Gone(server.to_owned()));
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => format!(
                "the server at {server} does not accept the token (--token-file or \
                 COUNTERSIGN_TOKEN); `countersign hook install` makes one"
            ),
            StatusCode::NOT_FOUND => {
                format!("the server at {server} does not know this project (serve --root)")
            }
            status => format!("the server at {server} answered {}", status.as_u16()),
        };
        Err(ConsentClientError::Surprise(why))
    }

    fn at(&self, project: &str, rest: &str) -> Result<Url, ConsentClientError> {
        let address = format!("{}/my/projects/{project}/tools/{rest}", self.address());
        Url::parse(&address).map_err(|error| ConsentClientError::Settings(error.to_string()))
    }
}

/// Returns where the server is: as it was named, or as the one says that runs on the data folder.
fn server_url(asking: &ConsentServerArgs) -> String {
    if let Some(named) = &asking.server {
        return named.clone();
    }
    let running = RunningServer::find(asking.records.data.as_deref());
    running.map_or_else(|| USUAL_SERVER.to_owned(), |running| running.url)
}

fn parse(server: &str) -> Result<Url, ConsentClientError> {
    let bad = |why: &str| ConsentClientError::Settings(format!("the server's address {why}"));
    let url = Url::parse(server).map_err(|_| bad("is not an address"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(bad("does not start with http:// or https://"));
    }
    if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
        return Err(bad("holds more than host and port"));
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Returns the token and the key of the server that may be told it: what was named, or else the agent's
/// token of this machine.
fn credential(
    asking: &ConsentServerArgs,
    here: bool,
) -> Result<Option<ServerCredential>, ConsentClientError> {
    let data = asking.records.data.as_deref();
    let own = || agent_token_file(data).filter(|file| here && file.exists());
    let read = |file: &Path| {
        ServerCredential::read(file)
            .map_err(|error| ConsentClientError::Settings(format!("{error:#}")))
    };
    let credential = match (&asking.token_file, &asking.token) {
        (Some(file), _) => Some(read(file)?),
        (None, Some(token)) => Some(ServerCredential { token: token.clone(), server_key: None }),
        (None, None) => own().as_deref().map(read).transpose()?,
    };
    let Some(credential) = credential else { return Ok(None) };
    let server_key = match credential.server_key {
        None if here => local_server_key(&asking.records)?,
        key => key,
    };
    Ok(Some(ServerCredential { server_key, ..credential }))
}

/// Returns the key of this machine's server, where its database is a file that can be looked into.
fn local_server_key(records: &DatabaseArgs) -> Result<Option<ServerPublicKey>, ConsentClientError> {
    match data_paths::database_file(records).filter(|file| file.exists()) {
        Some(file) => data_paths::server_key(&file).map_err(ConsentClientError::Settings),
        None => Ok(None),
    }
}

/// Returns how long the server may wait, in whole seconds.
fn left(until: Instant) -> u64 {
    until.saturating_duration_since(Instant::now()).as_secs().min(LONGEST_WAIT)
}
