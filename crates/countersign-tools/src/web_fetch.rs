//! `WebFetch`: asks a server of the web for a page.

use countersign_core::{Effect, Host, Invalid, Plan, Planner, Preview, ToolCall, UrlError};
use serde::Deserialize;

use crate::input;
use crate::shown::shown;

/// Above this many bytes no browser takes a URL either.
const URL_LIMIT: usize = 8 * 1024;

/// The tool that fetches a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebFetch;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    url: String,
    /// What a model is to find in the page: words, no authority.
    #[serde(default, rename = "prompt")]
    _prompt: Option<String>,
}

fn read(call: &ToolCall) -> Result<Input, Invalid> {
    let input: Input = input::parse(call)?;
    if input.url.len() > URL_LIMIT {
        return Err(Invalid(format!("`url` is longer than {URL_LIMIT} bytes: shorten it")));
    }
    match Host::of_url(&input.url) {
        // What is no web address is denied by the plan, in the words of a refusal.
        Ok(_) | Err(UrlError::Scheme(_)) => Ok(input),
        Err(error) => Err(Invalid(format!("`url`: {error}"))),
    }
}

/// Returns what asking a URL does.
fn effects(url: &str) -> Vec<Effect> {
    let host = match Host::of_url(url) {
        Ok(host) => host,
        Err(error) => return vec![Effect::Forbidden { why: error.to_string() }],
    };
    let net = Effect::Net { host: Some(host.to_string()) };
    match host {
        Host::Named(_) | Host::Public(_) => vec![net],
        Host::Private(name) => {
            let why = format!(
                "`{name}` is this machine or one on its network: what answers there, and what a \
                 request does, is not known"
            );
            vec![net, Effect::Opaque { why }]
        }
        Host::Metadata(_) => {
            let why = "it asks the cloud's metadata endpoint, which hands out credentials";
            vec![net, Effect::Forbidden { why: why.to_owned() }]
        }
    }
}

impl Planner for WebFetch {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let input = read(call)?;
        let summary = format!("Fetch `{}`", shown(&input.url));
        Ok(Plan::new(effects(&input.url), summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        read(call)?;
        Ok(input::as_preview(call))
    }
}
