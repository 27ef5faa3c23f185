//! The server that asks people: hand a call in, wait, tell what came of it.

use std::fmt;
use std::pin::pin;
use std::time::{Duration, Instant};

use countersign_api::execution::NewCall;
use countersign_api::received::ReceivedExecution;
use countersign_api::run_mode::RunMode;
use countersign_core::{holds_mask, mask_input};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{ConsentRequest, ServerCallRef};
use crate::api_client::{ApiClient, ApiClientError, ServerRefusal};

/// How long the server waits with one request, at the most.
const LONGEST_WAIT: u64 = 300;

/// What an answer may take beyond the time it waits for.
const ANSWERS: Duration = Duration::from_secs(10);

/// After this long whoever waits is told what is waited for.
const SILENT: Duration = Duration::from_secs(3);

/// Why there is no answer.
#[derive(Debug)]
pub enum ConsentClientError {
    /// The address or the token cannot be used.
    Settings(String),
    /// Nobody picks up.
    NotThere(String),
    /// The server was there and no longer is.
    Gone(String),
    /// The server cannot answer now, for this reason.
    NoAnswer(String, String),
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
            Self::NoAnswer(server, why) => {
                write!(f, "the server at {server} gave no answer ({why})")
            }
            Self::StillWaiting => f.write_str("nobody has decided in Countersign yet"),
            Self::Settings(why) | Self::Surprise(why) => f.write_str(why),
        }
    }
}

/// Returns the input that was approved, where it is another than was asked for.
pub(super) fn edited_input(
    execution: &ReceivedExecution,
    sent: &Value,
) -> Result<Option<Value>, ConsentClientError> {
    let Some(told) = execution.tool_input.as_ref().filter(|told| *told != sent) else {
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

/// Returns whether a call failed because it must not run, not on the way.
pub(super) fn is_refusal(execution: &ReceivedExecution) -> bool {
    matches!(execution.error_type.as_deref(), Some("denied" | "validation"))
}

/// The server, as whoever asks for consent sees it.
pub struct ConsentClient(ApiClient);

impl ConsentClient {
    /// Returns the server of a client; of which project it is does not matter.
    pub fn new(server: ApiClient) -> Self {
        Self(server)
    }

    /// Returns the address, for people.
    pub fn address(&self) -> &str {
        self.0.address().as_str()
    }

    /// Hands a call in and waits until it is decided, or the time is up.
    pub(super) async fn wait_for_decision(
        &self,
        call: &ConsentRequest,
        project: &str,
        wait: Duration,
        still_waiting: impl FnOnce(),
    ) -> Result<ReceivedExecution, ConsentClientError> {
        let until = Instant::now() + wait;
        let mut deciding = pin!(self.decide(call, project, until));
        if let Ok(decided) = tokio::time::timeout(SILENT, &mut deciding).await {
            return decided;
        }
        still_waiting();
        deciding.await
    }

    async fn decide(
        &self,
        call: &ConsentRequest,
        project: &str,
        until: Instant,
    ) -> Result<ReceivedExecution, ConsentClientError> {
        let Value::Object(tool_input) = call.input.clone() else {
            return Err(ConsentClientError::Surprise("the input is not an object".to_owned()));
        };
        let body = NewCall {
            tool_name: call.tool_name.clone(),
            tool_input,
            cwd: Some(call.cwd.display().to_string()),
            tool_use_id: call.tool_use_id.clone(),
            session_id: Some(call.session.clone()),
            agent: call.agent.clone(),
            wait_seconds: Some(left(until)),
            mode: RunMode::from_mode(call.mode),
        };
        let server = self.0.to_project(project);
        let handing_in = server.post(&["tools", "calls"], &body, answer_time(left(until)));
        let mut execution = self.check_id(handing_in.await)?;
        while execution.status.is_waiting() {
            let wait = left(until);
            if wait == 0 {
                return Err(ConsentClientError::StillWaiting);
            }
            let asked = Instant::now();
            let (path, seconds) = (["tools", execution.tool_id.as_str()], wait.to_string());
            let known = execution.status;
            let query = [("wait_seconds", seconds.as_str()), ("known_status", known.as_str())];
            let answer = server.get_within(&path, &query, answer_time(wait)).await;
            execution = match self.check_id(answer) {
                // It was there a moment ago.
                Err(ConsentClientError::NotThere(server)) => {
                    return Err(ConsentClientError::Gone(server));
                }
                answer => answer?,
            };
            // A server that does not wait must not be asked without end.
            let at_once = asked.elapsed() < Duration::from_millis(100);
            if execution.status == known && at_once && wait > 1 {
                let why = "the server does not wait for the decision".to_owned();
                return Err(ConsentClientError::Surprise(why));
            }
        }
        Ok(execution)
    }

    /// Tells what came of a call.
    pub async fn report(
        &self,
        ServerCallRef { project, tool_id }: &ServerCallRef,
        result: &impl Serialize,
    ) -> Result<(), ConsentClientError> {
        let server = self.0.to_project(project);
        let told = server.post::<IgnoredAny>(&["tools", tool_id, "result"], result, ANSWERS).await;
        told.map(drop).map_err(|error| self.explain(error))
    }

    /// Returns the call of an answer, if its id can be one.
    fn check_id(
        &self,
        answer: Result<ReceivedExecution, ApiClientError>,
    ) -> Result<ReceivedExecution, ConsentClientError> {
        let execution = answer.map_err(|error| self.explain(error))?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if execution.tool_id.is_empty() || !execution.tool_id.chars().all(is_plain) {
            let why = "the server's answer is not understood (the id of the call)".to_owned();
            return Err(ConsentClientError::Surprise(why));
        }
        Ok(execution)
    }

    fn explain(&self, error: ApiClientError) -> ConsentClientError {
        let server = self.address().to_owned();
        match error {
            ApiClientError::NotThere(_) => ConsentClientError::NotThere(server),
            ApiClientError::Gone(_) => ConsentClientError::Gone(server),
            ApiClientError::Away(why) => ConsentClientError::NoAnswer(server, why),
            ApiClientError::Refused(refusal) => {
                ConsentClientError::Surprise(describe_refusal(&refusal, &server))
            }
        }
    }
}

fn describe_refusal(refusal: &ServerRefusal, server: &str) -> String {
    match refusal.status {
        _ if refusal.is_not_proven() => refusal.message.clone(),
        401 | 403 => format!(
            "the server at {server} does not accept the token (--token-file or COUNTERSIGN_TOKEN); \
             `countersign hook install` makes one"
        ),
        404 => format!("the server at {server} does not know this project (serve --root)"),
        status => format!("the server at {server} answered {status}"),
    }
}

/// Returns how long an answer may take to a request that waits so many seconds.
fn answer_time(wait: u64) -> Duration {
    Duration::from_secs(wait) + ANSWERS
}

/// Returns how long the server may wait, in whole seconds.
fn left(until: Instant) -> u64 {
    until.saturating_duration_since(Instant::now()).as_secs().min(LONGEST_WAIT)
}
