//! `WebSearch`: asks a search engine, which hears every word of the query.

use countersign_core::{Effect, Invalid, Plan, Planner, Preview, ToolCall};
use serde::Deserialize;

use crate::input;
use crate::shown::shown;

/// Above this many bytes a query is no question but a way out for data.
const QUERY_LIMIT: usize = 4 * 1024;

/// The tool that searches the web.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebSearch;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    query: String,
    #[serde(default, rename = "allowed_domains")]
    _allowed_domains: Option<Vec<String>>,
    #[serde(default, rename = "blocked_domains")]
    _blocked_domains: Option<Vec<String>>,
    #[serde(default, rename = "max_results")]
    _max_results: Option<u64>,
}

fn read(call: &ToolCall) -> Result<Input, Invalid> {
    let input: Input = input::parse(call)?;
    if input.query.trim().is_empty() {
        return Err(Invalid("`query` is empty: say what to search for".to_owned()));
    }
    if input.query.len() > QUERY_LIMIT {
        return Err(Invalid(format!("`query` is longer than {QUERY_LIMIT} bytes: ask shorter")));
    }
    Ok(input)
}

impl Planner for WebSearch {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let input = read(call)?;
        let summary = format!("Search the web for `{}`", shown(&input.query));
        // Which engine answers is the business of whoever runs it.
        Ok(Plan::new(vec![Effect::Net { host: None }], summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        read(call)?;
        Ok(input::as_preview(call))
    }
}
