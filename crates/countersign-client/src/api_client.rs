//! The way to a server: its address, the credential, and what its answers mean.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use countersign_api::error::ErrorBody;
use countersign_api::project::{ProjectList, ProjectView};
use countersign_gate::ServerPublicKey;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::address::ServerAddress;
use crate::credential::ServerCredential;
use crate::server_proof::{ServerProofError, with_server_proof};

/// How long it may take to connect, on this machine and elsewhere.
const CONNECT_HERE: Duration = Duration::from_secs(2);
const CONNECT: Duration = Duration::from_secs(10);

/// How long an answer may take, unless it is known better.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the stream may be silent: three of its heartbeats.
const SILENCE: Duration = Duration::from_secs(45);

/// A project at a server. Cheap to clone.
#[derive(Clone)]
pub struct ApiClient {
    http: Client,
    /// For the stream, which has no end but must not fall silent. Made when it is needed: whoever asks
    /// one question does not wait for it.
    streaming: Arc<OnceLock<Client>>,
    address: Arc<ServerAddress>,
    project: Url,
    token: Option<SecretString>,
    server_key: Option<ServerPublicKey>,
}

/// Why the server did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ApiClientError {
    /// Nobody picks up.
    #[error("{0}")]
    NotThere(String),
    /// It was there; the connection broke, or no answer came in time.
    #[error("{0}")]
    Gone(String),
    /// It is there and cannot now, or what it says is not understood: asking again may help.
    #[error("{0}")]
    Away(String),
    /// It said no.
    #[error("{}", .0.message)]
    Refused(Box<ServerRefusal>),
}

/// How the server said no.
#[derive(Clone, Debug)]
pub struct ServerRefusal {
    /// The HTTP status; 0 where what answers is not the server.
    pub status: u16,
    /// Its word for programs; empty where what answered is not Countersign.
    pub code: String,
    /// Its sentence for people.
    pub message: String,
    /// What can be done about it.
    pub hint: Option<String>,
}

impl ServerRefusal {
    /// Returns whether what answered could not prove to be the server, so that it was told nothing.
    pub fn is_not_proven(&self) -> bool {
        self.code == NOT_PROVEN
    }
}

impl ApiClientError {
    /// Returns how the server said no; the error says why it could not be asked.
    pub fn into_refusal(self) -> Result<Box<ServerRefusal>, String> {
        match self {
            Self::Refused(refusal) => Ok(refusal),
            Self::NotThere(why) | Self::Gone(why) | Self::Away(why) => Err(why),
        }
    }
}

const NOT_PROVEN: &str = "not_proven";

impl ApiClient {
    /// Returns the way to a project. Nothing is sent yet.
    pub fn new(
        address: ServerAddress,
        project: &str,
        credential: Option<ServerCredential>,
    ) -> Result<Self, reqwest::Error> {
        let (token, server_key) = credential.map(|it| (it.token, it.server_key)).unzip();
        let server_key = server_key.flatten();
        let http = builder(&address, server_key.clone()).build()?;
        let project = address.below(&["my", "projects", project]);
        let address = Arc::new(address);
        Ok(Self { http, streaming: Arc::default(), address, project, token, server_key })
    }

    /// Returns the way to another project of the same server.
    #[must_use]
    pub fn to_project(&self, project: &str) -> Self {
        Self { project: self.address.below(&["my", "projects", project]), ..self.clone() }
    }

    /// Returns the server's address.
    pub fn address(&self) -> &ServerAddress {
        &self.address
    }

    /// Returns the projects of the server, the default one first.
    pub async fn projects(&self) -> Result<Vec<ProjectView>, ApiClientError> {
        let mut projects = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let query: Vec<_> = cursor.as_deref().map(|it| ("cursor", it)).into_iter().collect();
            let page: ProjectList = self.get_at_server(&["my", "projects"], &query).await?;
            projects.extend(page.projects);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(projects);
            }
        }
    }

    /// Returns the answer to a question that is not about one project.
    pub async fn get_at_server<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, ApiClientError> {
        self.get_url(self.address.below(path), query, ANSWER_TIMEOUT).await
    }

    /// Returns the answer to a question about the project.
    pub async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, ApiClientError> {
        self.get_within(path, query, ANSWER_TIMEOUT).await
    }

    /// The same for an answer that may take as long as this.
    pub async fn get_within<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        time: Duration,
    ) -> Result<T, ApiClientError> {
        self.get_url(extend(&self.project, path), query, time).await
    }

    /// Returns the answer to something that is told, if it comes in time.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &(impl Serialize + ?Sized),
        time: Duration,
    ) -> Result<T, ApiClientError> {
        self.answer(self.http.post(extend(&self.project, path)).timeout(time).json(body)).await
    }

    /// The same for what is no project's.
    pub async fn post_to_server<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &(impl Serialize + ?Sized),
        time: Duration,
    ) -> Result<T, ApiClientError> {
        self.answer(self.http.post(self.address.below(path)).timeout(time).json(body)).await
    }

    /// Opens the stream of events for a client that runs calls, from the event after `last` on.
    pub(crate) async fn open_stream(
        &self,
        client: &str,
        last: Option<&str>,
    ) -> Result<Response, ApiClientError> {
        let mut url = extend(&self.project, &["chat", "stream"]);
        url.query_pairs_mut().append_pair("client_id", client).append_pair("preimages", "true");
        let mut request = self.with_token(self.streaming_client()?.get(url));
        request = request.header(ACCEPT, "text/event-stream").header(ACCEPT_ENCODING, "identity");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.map_err(|error| failed_request(&error))?;
        if response.status() == StatusCode::OK {
            Ok(response)
        } else {
            Err(read_refusal(response).await)
        }
    }

    /// Returns a request that opens a socket, which only HTTP/1.1 knows.
    pub(crate) fn socket_request(&self, path: &str) -> Result<RequestBuilder, ApiClientError> {
        let client = builder(&self.address, self.server_key.clone()).http1_only().build();
        let client = client.map_err(|error| ApiClientError::Away(innermost(&error)))?;
        let path: Vec<_> = path.trim_start_matches('/').split('/').collect();
        Ok(self.with_token(client.get(self.address.below(&path))))
    }

    fn streaming_client(&self) -> Result<&Client, ApiClientError> {
        if let Some(made) = self.streaming.get() {
            return Ok(made);
        }
        let made = builder(&self.address, self.server_key.clone()).read_timeout(SILENCE).build();
        let made = made.map_err(|error| ApiClientError::Away(innermost(&error)))?;
        Ok(self.streaming.get_or_init(|| made))
    }

    async fn get_url<T: DeserializeOwned>(
        &self,
        mut url: Url,
        query: &[(&str, &str)],
        time: Duration,
    ) -> Result<T, ApiClientError> {
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.answer(self.http.get(url).timeout(time)).await
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> Result<T, ApiClientError> {
        let sent = self.with_token(request).send().await;
        let response = sent.map_err(|error| failed_request(&error))?;
        if !response.status().is_success() {
            return Err(read_refusal(response).await);
        }
        let gone = |error: reqwest::Error| ApiClientError::Gone(innermost(&error));
        // An answer that breaks off says nothing: what was asked may be done or not.
        let body = response.bytes().await.map_err(gone)?;
        serde_json::from_slice(&body).map_err(|error| {
            ApiClientError::Away(format!("the server's answer is not understood ({error})"))
        })
    }

    fn with_token(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.token {
            Some(token) => request.bearer_auth(token.expose_secret()),
            None => request,
        }
    }
}

fn builder(address: &ServerAddress, server_key: Option<ServerPublicKey>) -> ClientBuilder {
    let is_here = address.is_loopback();
    let client = Client::builder()
        .connect_timeout(if is_here { CONNECT_HERE } else { CONNECT })
        // A redirect would carry the token to another server.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")));
    // A proxy would see the token, and one that leads to this machine is not meant.
    let client = if is_here { client.no_proxy() } else { client };
    // Reading the system's certificates takes longer than all the rest.
    let is_plain = address.url().scheme() == "http";
    let client = if is_plain { client.tls_certs_only([]) } else { client };
    // Whoever answers must be the server, before it hears the token or is believed.
    with_server_proof(client, address.url(), server_key)
}

fn extend(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    // A web address always has a path.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

/// Reads why the server said no; what may pass is as if it were away.
pub(crate) async fn read_refusal(response: Response) -> ApiClientError {
    let status = response.status();
    let body: Option<ErrorBody> = response.json::<Value>().await.ok().and_then(|mut body| {
        // Only the words are wanted: what stands instead may be of any version.
        let fields = body.as_object_mut()?;
        fields.retain(|name, _| matches!(name.as_str(), "success" | "error"));
        serde_json::from_value(body).ok()
    });
    let (code, message, hint) = match body.map(|body| body.error) {
        Some(error) => (error.code, error.message, error.hint),
        None => (String::new(), format!("it answered {status}"), None),
    };
    let passes = status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
        );
    if passes {
        return ApiClientError::Away(message);
    }
    let status = status.as_u16();
    ApiClientError::Refused(Box::new(ServerRefusal { status, code, message, hint }))
}

/// Returns the error for a connection that failed, without the address: it may hold a password.
pub(crate) fn failed_request(error: &reqwest::Error) -> ApiClientError {
    if let Some(not_proven) = ServerProofError::find_in(error) {
        return ApiClientError::Refused(Box::new(ServerRefusal {
            status: 0,
            code: NOT_PROVEN.to_owned(),
            message: not_proven.to_string(),
            hint: Some("find out which program holds that port; the token was not sent".to_owned()),
        }));
    }
    if error.is_connect() {
        return ApiClientError::NotThere(innermost(error));
    }
    if error.is_timeout() {
        return ApiClientError::Gone("no answer in time".to_owned());
    }
    ApiClientError::Gone(innermost(error))
}

/// Returns the cause that says something, such as `connection refused`.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
