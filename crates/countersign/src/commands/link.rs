//! The way to the server: addresses, the credential, and what its answers mean.

use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::Value;

use super::token::agent_token_file;
use crate::cli::AtServer;
use crate::credential_file::ServerCredential;
use crate::hint::Hinted;
use crate::record;
use crate::server_proof::{NotProven, proven};

/// How long it may take to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// How long an answer may take, unless it is known better.
pub(crate) const ANSWER: Duration = Duration::from_secs(30);

/// How long the stream may be silent: three of its heartbeats.
const SILENCE: Duration = Duration::from_secs(45);

/// A project at a server.
#[derive(Clone)]
pub(crate) struct Link {
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
    Refused(Box<Refusal>),
}

/// How the server said no.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// Its word for programs; empty where what answered is not Countersign.
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Link {
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
            proven(http, &base, server_key.clone())
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

    /// Opens the stream of events, from the one after `last` on.
    pub(crate) async fn stream(
        &self,
        client: &str,
        last: Option<&str>,
    ) -> Result<Response, LinkError> {
        let mut url = below(&self.project, &["chat", "stream"]);
        url.query_pairs_mut().append_pair("client_id", client);
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

    fn signed(&self, request: RequestBuilder) -> RequestBuilder {
        request.bearer_auth(self.token.expose_secret())
    }
}

/// Says an error to the person at the terminal.
pub(crate) fn in_words(error: LinkError) -> anyhow::Error {
    match error {
        LinkError::Refused(refusal) => match refusal.hint.clone() {
            Some(hint) => Hinted { error: anyhow::anyhow!(refusal.message), hint }.into(),
            None => anyhow::anyhow!(refusal.message),
        },
        away @ LinkError::Away(_) => anyhow::Error::from(away).context("the server did not answer"),
    }
}

/// Returns the credential that was given, and the key of the server that may be told it, as far as that
/// is known here.
pub(crate) fn credential(args: &AtServer) -> anyhow::Result<ServerCredential> {
    let is_here = address(&args.server).is_ok_and(|url| is_loopback(&url));
    let own = || agent_token_file(None).filter(|file| is_here && file.exists());
    let credential = match (&args.token_file, &args.token) {
        (Some(file), _) => Some(ServerCredential::read(file)?),
        (None, Some(token)) => {
            let token = SecretString::from(token.expose_secret().trim().to_owned());
            Some(ServerCredential { token, server_key: None })
        }
        (None, None) => own().map(|file| ServerCredential::read(&file)).transpose()?,
    };
    let credential = credential.filter(|it| !it.token.expose_secret().is_empty());
    let Some(credential) = credential else {
        bail!(Hinted {
            error: anyhow::anyhow!("there is no token for the server"),
            hint: "give --token-file, or set COUNTERSIGN_TOKEN; `countersign token create` makes \
                   one"
            .to_owned(),
        });
    };
    let server_key = match credential.server_key {
        None if is_here => record::data_path(None)
            .map(|folder| folder.join("countersign.db"))
            .filter(|file| file.exists())
            .map_or(Ok(None), |file| record::server_key(&file))
            .map_err(anyhow::Error::msg)?,
        key => key,
    };
    Ok(ServerCredential { server_key, ..credential })
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
    LinkError::Refused(Box::new(Refusal { status: status.as_u16(), code, message, hint }))
}

/// Returns the error for a connection that failed, without the address: it may hold a password.
fn away(error: &reqwest::Error) -> LinkError {
    if let Some(not_proven) = NotProven::found_in(error) {
        let refusal = Refusal {
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
    let url = Url::parse(server.trim()).ok();
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    let Some(url) = url.filter(is_web) else {
        bail!(Hinted {
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
        let project =
            |server: &str, id: &str| Link::new(server, id, token()).unwrap().project.to_string();
        assert_eq!(project("http://h:1", "default"), "http://h:1/my/projects/default");
        assert_eq!(project(" http://h:1/ ", "a/../b"), "http://h:1/my/projects/a%2F..%2Fb");
        assert_eq!(project("https://h/gate/?x=1", "p"), "https://h/gate/my/projects/p");
        for wrong in ["", "127.0.0.1:4180", "ftp://h", "h"] {
            assert!(Link::new(wrong, "p", token()).is_err(), "{wrong}");
        }
    }
}
