//! The way to the server: addresses, the credential, and what its answers mean.

use std::time::Duration;

use anyhow::{Context, bail};
use countersign_gate::TokenRole;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::Value;

use super::consent::USUAL_SERVER;
use super::token::{NewToken, agent_token_file};
use crate::cli::{DatabaseArgs, ServerTargetArgs};
use crate::credential_file::ServerCredential;
use crate::data_paths;
use crate::hint::HintedError;
use crate::running_server::RunningServer;
use crate::server_proof::{ServerProofError, with_server_proof};

/// How long it may take to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// How long an answer may take, unless it is known better.
pub(crate) const ANSWER: Duration = Duration::from_secs(30);

/// How long the stream may be silent: three of its heartbeats.
const SILENCE: Duration = Duration::from_secs(45);

/// A project at a server.
#[derive(Clone)]
pub(crate) struct ServerLink {
    http: Client,
    /// For the stream, which has no end but must not fall silent.
    streaming: Client,
    base: Url,
    project: Url,
    token: SecretString,
}

/// A project as the server lists it.
#[derive(Debug, Deserialize)]
pub(crate) struct ListedProject {
    #[serde(rename = "project_id")]
    pub(crate) id: String,
}

/// Why the server did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    /// It cannot be reached, or not now: asking again may help.
    #[error("{0}")]
    Away(String),
    /// It said no.
    #[error("{}", .0.message)]
    Refused(Box<ServerRefusal>),
}

/// How the server said no.
#[derive(Debug)]
pub(crate) struct ServerRefusal {
    pub(crate) status: u16,
    /// Its word for programs; empty where what answered is not Countersign.
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl ServerLink {
    /// Returns the way that a person's command takes: to the server and with the token that were named,
    /// or else to the one that runs on the data folder, with what opens its door for its user.
    pub(crate) fn for_person(at: &ServerTargetArgs) -> anyhow::Result<Self> {
        Self::new(&server_url(at), project_of(at), credential(at)?)
    }

    /// Returns the way that somebody who runs calls takes: with a token of the role `agent`.
    pub(crate) async fn for_agent(at: &ServerTargetArgs) -> anyhow::Result<Self> {
        Self::new(&server_url(at), project_of(at), agent_credential(at).await?)
    }

    /// Returns the way to a project. Nothing is sent yet.
    pub(crate) fn new(
        server: &str,
        project: &str,
        ServerCredential { token, server_key }: ServerCredential,
    ) -> anyhow::Result<Self> {
        let base = address(server)?;
        let builder = || {
            let http = Client::builder()
                .connect_timeout(CONNECT)
                // A redirect would carry the token to another server.
                .redirect(reqwest::redirect::Policy::none())
                .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")));
            let http = if is_loopback(&base) { http.no_proxy() } else { http };
            // Whoever answers must be the server, before it hears the token or is believed.
            with_server_proof(http, &base, server_key.clone())
        };
        let made = || anyhow::Ok((builder().build()?, builder().read_timeout(SILENCE).build()?));
        let (http, streaming) = made().context("the HTTP client cannot be made")?;
        let project = below(&base, &["my", "projects", project]);
        Ok(Self { http, streaming, base, project, token })
    }

    /// Returns the way to another project of the same server.
    pub(crate) fn to_project(&self, project: &str) -> Self {
        Self { project: below(&self.base, &["my", "projects", project]), ..self.clone() }
    }

    /// Returns the projects of the server, the default one first.
    pub(crate) async fn projects(&self) -> Result<Vec<ListedProject>, LinkError> {
        let mut projects = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let query: Vec<_> = cursor.as_deref().map(|it| ("cursor", it)).into_iter().collect();
            let page = self.get_at_server(&["my", "projects"], &query).await?;
            let listed = page.get("projects").and_then(Value::as_array).into_iter().flatten();
            projects.extend(listed.filter_map(|it| ListedProject::deserialize(it).ok()));
            cursor = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                return Ok(projects);
            }
        }
    }

    /// Returns the answer to a question that is not about one project.
    pub(crate) async fn get_at_server(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Value, LinkError> {
        let mut url = below(&self.base, path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        answer(self.signed(self.http.get(url)).timeout(ANSWER)).await
    }

    /// Returns the answer to a question.
    pub(crate) async fn get(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Value, LinkError> {
        let mut url = below(&self.project, path);
        url.query_pairs_mut().extend_pairs(query);
        answer(self.signed(self.http.get(url)).timeout(ANSWER)).await
    }

    /// Returns the answer to something that is told, if it comes in time.
    pub(crate) async fn post(
        &self,
        path: &[&str],
        body: &Value,
        time: Duration,
    ) -> Result<Value, LinkError> {
        let url = below(&self.project, path);
        answer(self.signed(self.http.post(url)).timeout(time).json(body)).await
    }

    /// The same for what is no project's.
    pub(crate) async fn post_to_server(
        &self,
        path: &[&str],
        body: &Value,
        time: Duration,
    ) -> Result<Value, LinkError> {
        let url = below(&self.base, path);
        answer(self.signed(self.http.post(url)).timeout(time).json(body)).await
    }

    /// Opens the stream of events, from the one after `last` on.
    pub(crate) async fn stream(
        &self,
        client: &str,
        last: Option<&str>,
    ) -> Result<Response, LinkError> {
        let mut url = below(&self.project, &["chat", "stream"]);
        url.query_pairs_mut().append_pair("client_id", client).append_pair("preimages", "true");
        let mut request = self.signed(self.streaming.get(url));
        request = request.header(ACCEPT, "text/event-stream").header(ACCEPT_ENCODING, "identity");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.map_err(|error| away(&error))?;
        if response.status() == StatusCode::OK {
            Ok(response)
        } else {
            Err(refused(response).await)
        }
    }

    /// Returns the server's address, for people.
    pub(crate) fn server(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    fn signed(&self, request: RequestBuilder) -> RequestBuilder {
        request.bearer_auth(self.token.expose_secret())
    }
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
fn credential(at: &ServerTargetArgs) -> anyhow::Result<ServerCredential> {
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
        (Some(file), _) => ServerCredential::read(file)?,
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
    let is_here = address(url).is_ok_and(|url| is_loopback(&url));
    let file = agent_token_file(at.data.as_deref()).filter(|file| is_here && file.exists());
    let kept = file.map(|file| ServerCredential::read(&file)).transpose()?;
    kept.map(|kept| with_local_key(at, kept)).transpose()
}

/// Adds the key of this machine's server to a token that comes without one.
fn with_local_key(
    at: &ServerTargetArgs,
    credential: ServerCredential,
) -> anyhow::Result<ServerCredential> {
    let is_here = address(&server_url(at)).is_ok_and(|url| is_loopback(&url));
    let server_key = match credential.server_key {
        None if is_here => data_paths::data_path(at.data.as_deref())
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

/// Whether two addresses are one server of this machine.
fn is_same_server(one: &str, other: &str) -> bool {
    match (address(one), address(other)) {
        (Ok(one), Ok(other)) => {
            let is_same_host =
                one.host_str() == other.host_str() || (is_loopback(&one) && is_loopback(&other));
            is_same_host && one.port_or_known_default() == other.port_or_known_default()
        }
        _ => false,
    }
}

/// Says why the server did not do what it was asked for.
pub(crate) fn explain_link_error(error: LinkError) -> anyhow::Error {
    match error {
        LinkError::Refused(refusal) => match refusal.hint.clone() {
            Some(hint) => HintedError { error: anyhow::anyhow!(refusal.message), hint }.into(),
            None => anyhow::anyhow!(refusal.message),
        },
        away @ LinkError::Away(_) => anyhow::Error::from(away).context("the server did not answer"),
    }
}

async fn answer(request: RequestBuilder) -> Result<Value, LinkError> {
    let response = request.send().await.map_err(|error| away(&error))?;
    if !response.status().is_success() {
        return Err(refused(response).await);
    }
    // An answer that breaks off says nothing: what was asked may be done or not.
    response.json().await.map_err(|error| away(&error))
}

/// Reads why the server said no; what may pass is as if it were away.
async fn refused(response: Response) -> LinkError {
    let status = response.status();
    let body: Value = response.json().await.unwrap_or_default();
    let said = |field: &str| body.pointer(&format!("/error/{field}")).and_then(Value::as_str);
    let code = said("code").unwrap_or_default().to_owned();
    let message = said("message").map_or_else(|| format!("it answered {status}"), str::to_owned);
    let passes = status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
        );
    if passes {
        return LinkError::Away(message);
    }
    let hint = said("hint").map(str::to_owned);
    LinkError::Refused(Box::new(ServerRefusal { status: status.as_u16(), code, message, hint }))
}

/// Returns the error for a connection that failed, without the address: it may hold a password.
fn away(error: &reqwest::Error) -> LinkError {
    if let Some(not_proven) = ServerProofError::find_in(error) {
        let refusal = ServerRefusal {
            status: 0,
            code: "not_proven".to_owned(),
            message: not_proven.to_string(),
            hint: Some("find out who holds that port; the token was not sent".to_owned()),
        };
        return LinkError::Refused(Box::new(refusal));
    }
    if error.is_timeout() {
        return LinkError::Away("no answer in time".to_owned());
    }
    LinkError::Away(innermost(error))
}

/// Returns the cause that says something, such as `connection refused`.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

fn address(server: &str) -> anyhow::Result<Url> {
    // Not named: where a server is if nobody says otherwise.
    let server = if server.is_empty() { USUAL_SERVER } else { server.trim() };
    let url = Url::parse(server).ok();
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    let Some(url) = url.filter(is_web) else {
        bail!(HintedError {
            error: anyhow::anyhow!("the server's address is none"),
            hint: "give --server something like http://127.0.0.1:4180".to_owned(),
        });
    };
    Ok(url)
}

fn below(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    url.set_query(None);
    url.set_fragment(None);
    // A web address always has a path.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_way_to_write_the_server_leads_to_the_project() {
        let token = || ServerCredential { token: "t".into(), server_key: None };
        let project = |server: &str, id: &str| {
            ServerLink::new(server, id, token()).unwrap().project.to_string()
        };
        assert_eq!(project("http://h:1", "default"), "http://h:1/my/projects/default");
        assert_eq!(project(" http://h:1/ ", "a/../b"), "http://h:1/my/projects/a%2F..%2Fb");
        assert_eq!(project("https://h/gate/?x=1", "p"), "https://h/gate/my/projects/p");
        assert_eq!(project("", "p"), "http://127.0.0.1:4180/my/projects/p");
        for wrong in ["127.0.0.1:4180", "ftp://h", "h"] {
            assert!(ServerLink::new(wrong, "p", token()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_opens_one_server_is_sent_to_no_other() {
        let same = is_same_server;
        assert!(same("http://127.0.0.1:4180", "http://localhost:4180/"));
        assert!(!same("http://127.0.0.1:4180", "http://127.0.0.1:4181"));
        assert!(!same("http://127.0.0.1:4180", "http://10.0.0.7:4180"));
    }
}
