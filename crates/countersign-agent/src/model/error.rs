//! Why a model gave no answer, in words for people and codes for programs.

use std::time::Duration;

/// Why a model gave no answer.
///
/// The text is one sentence for a person, [`hint`](Self::hint) what to do, and
/// [`code`](Self::code) stays the same for programs. No variant ever holds the API key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// There is no key to ask with.
    #[error("no API key is set")]
    NoApiKey,
    /// The server does not know the key. What it said is left out: it may quote the key.
    #[error("the model's server refused the API key")]
    BadApiKey,
    /// The key is good, but not for this.
    #[error("the API key does not permit this: {message}")]
    Forbidden {
        /// What the server said.
        message: String,
    },
    /// The account is empty.
    #[error("the account behind the API key has no credit left")]
    NoCredit,
    /// Too many requests or tokens in a while.
    #[error("the model's server limits the rate of requests")]
    RateLimited {
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// The server has too much to do.
    #[error("the model's server is overloaded")]
    Overloaded {
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// The conversation does not fit.
    #[error("the conversation is too long for the model: {message}")]
    TooLong {
        /// What the server said.
        message: String,
    },
    /// The model or the address is not there.
    #[error("the model's server has no such resource: {message}")]
    NotFound {
        /// What the server said, such as `model: claude-x`.
        message: String,
    },
    /// The server did not accept the request.
    #[error("the model's server refused the request: {message}")]
    BadRequest {
        /// What the server said.
        message: String,
    },
    /// The address of the server is no address.
    #[error("`{url}` is not the address of a model's server")]
    BadBaseUrl {
        /// The address as given, without user and password.
        url: String,
    },
    /// The server could not be reached.
    #[error("could not reach the model's server at `{host}`: {reason}")]
    Network {
        /// The server.
        host: String,
        /// What went wrong.
        reason: String,
    },
    /// The server was silent for too long.
    #[error("the model's server at `{host}` was silent for too long")]
    TimedOut {
        /// The server.
        host: String,
    },
    /// The answer ended before its end.
    #[error("the answer was cut off")]
    CutOff,
    /// The server said something that is not the Messages API.
    #[error("the model's server gave an answer that could not be understood: {message}")]
    Protocol {
        /// What was not understood.
        message: String,
    },
    /// The server failed.
    #[error("the model's server failed: {message}")]
    ServerError {
        /// What the server said.
        message: String,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
}

impl ModelError {
    /// Returns the name of the kind of error. It does not change between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoApiKey => "no_api_key",
            Self::BadApiKey => "bad_api_key",
            Self::Forbidden { .. } => "forbidden",
            Self::NoCredit => "no_credit",
            Self::RateLimited { .. } => "rate_limited",
            Self::Overloaded { .. } => "overloaded",
            Self::TooLong { .. } => "too_long",
            Self::NotFound { .. } => "not_found",
            Self::BadRequest { .. } => "bad_request",
            Self::BadBaseUrl { .. } => "bad_base_url",
            Self::Network { .. } => "network",
            Self::TimedOut { .. } => "timed_out",
            Self::CutOff => "cut_off",
            Self::Protocol { .. } => "protocol",
            Self::ServerError { .. } => "server_error",
        }
    }

    /// Returns what a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoApiKey => {
                Some("set ANTHROPIC_API_KEY, or try it without one: `countersign demo`")
            }
            Self::BadApiKey => Some("check ANTHROPIC_API_KEY: is it whole, and not revoked?"),
            Self::Forbidden { .. } => Some("use a key whose workspace has access to this model"),
            Self::NoCredit => Some("add credit at https://console.anthropic.com/settings/billing"),
            Self::RateLimited { .. } => Some("wait a minute, or ask for a higher limit"),
            Self::Overloaded { .. } | Self::ServerError { .. } => Some("try again in a minute"),
            Self::TooLong { .. } => Some("start a new conversation, or read less at once"),
            Self::NotFound { .. } => Some("check the name of the model, and ANTHROPIC_BASE_URL"),
            Self::BadBaseUrl { .. } => {
                Some("set ANTHROPIC_BASE_URL to something like `https://api.anthropic.com`")
            }
            Self::Network { .. } | Self::TimedOut { .. } => {
                Some("check the connection, the proxy, and ANTHROPIC_BASE_URL")
            }
            Self::Protocol { .. } => {
                Some("check that ANTHROPIC_BASE_URL is a server of the Messages API")
            }
            Self::BadRequest { .. } | Self::CutOff => None,
        }
    }

    /// Returns whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::Network { .. }
            | Self::TimedOut { .. }
            | Self::CutOff
            | Self::ServerError { .. } => true,
            Self::NoApiKey
            | Self::BadApiKey
            | Self::Forbidden { .. }
            | Self::NoCredit
            | Self::TooLong { .. }
            | Self::NotFound { .. }
            | Self::BadRequest { .. }
            | Self::BadBaseUrl { .. }
            | Self::Protocol { .. } => false,
        }
    }

    /// Returns how long the server asked to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after }
            | Self::Overloaded { retry_after }
            | Self::ServerError { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Returns the error for an answer that is not the Messages API.
    pub(crate) fn protocol(message: impl std::fmt::Display) -> Self {
        Self::Protocol { message: one_line(&message.to_string()) }
    }
}

/// An error as the API words it: in the body of a refused request, or as an event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ApiErrorDetails {
    /// The status; none within a stream.
    pub(crate) status: Option<u16>,
    /// The API's `error.type`, or empty.
    pub(crate) kind: String,
    /// The API's `error.message`.
    pub(crate) message: String,
    /// What `Retry-After` said.
    pub(crate) retry_after: Option<Duration>,
}

impl From<ApiErrorDetails> for ModelError {
    fn from(refusal: ApiErrorDetails) -> Self {
        let ApiErrorDetails { status, kind, message, retry_after } = refusal;
        let message = one_line(&message);
        // The kind is the more exact of the two; servers that only speak HTTP leave it out.
        match (kind.as_str(), status.unwrap_or(0)) {
            ("authentication_error", _) | ("", 401) => Self::BadApiKey,
            ("billing_error", _) | (_, 402) => Self::NoCredit,
            (_, 400) if message.contains("credit balance is too low") => Self::NoCredit,
            ("permission_error", _) | ("", 403) => Self::Forbidden { message },
            ("rate_limit_error", _) | (_, 429) => Self::RateLimited { retry_after },
            ("overloaded_error", _) | (_, 529) => Self::Overloaded { retry_after },
            ("request_too_large", _) | (_, 413) => Self::TooLong { message },
            (_, 400) if is_too_long(&message) => Self::TooLong { message },
            ("not_found_error", _) | ("", 404) => Self::NotFound { message },
            ("api_error" | "timeout_error", _) | (_, 408 | 500..) => {
                Self::ServerError { message, retry_after }
            }
            _ => Self::BadRequest { message },
        }
    }
}

fn is_too_long(message: &str) -> bool {
    message.contains("prompt is too long") || message.contains("exceed context limit")
}

/// Returns a server's words as one line of bearable length.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 400;
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_its_code() {
        check(401, "authentication_error", "invalid x-api-key", "bad_api_key");
        check(403, "permission_error", "no", "forbidden");
        check(402, "", "", "no_credit");
        check(400, "invalid_request_error", "Your credit balance is too low to …", "no_credit");
        check(400, "invalid_request_error", "prompt is too long: 210000 tokens", "too_long");
        check(413, "request_too_large", "Request exceeds the maximum size", "too_long");
        check(400, "invalid_request_error", "max_tokens: Field required", "bad_request");
        check(404, "not_found_error", "model: claude-x", "not_found");
        check(422, "", "odd", "bad_request");
        check(429, "rate_limit_error", "", "rate_limited");
        check(500, "api_error", "", "server_error");
        check(503, "", "", "server_error");
        check(529, "overloaded_error", "", "overloaded");
    }

    #[test]
    fn within_a_stream_the_kind_decides() {
        let refusal =
            ApiErrorDetails { kind: "overloaded_error".into(), ..ApiErrorDetails::default() };
        assert_eq!(ModelError::from(refusal), ModelError::Overloaded { retry_after: None });
    }

    #[test]
    fn what_a_server_says_becomes_one_bearable_line() {
        assert_eq!(one_line("a\n  b\tc"), "a b c");
        assert_eq!(one_line(&"é".repeat(1000)).chars().count(), 401);
    }

    fn check(status: u16, kind: &str, message: &str, code: &str) {
        let refusal = ApiErrorDetails {
            status: Some(status),
            kind: kind.into(),
            message: message.into(),
            retry_after: None,
        };
        assert_eq!(ModelError::from(refusal).code(), code, "{status} {kind} {message}");
    }
}
