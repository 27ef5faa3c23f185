//! The query of an address, and the page of a list that it asks for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use countersign_core::{ApprovalId, Execution};
use jiff::Timestamp;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use utoipa::IntoParams;

use crate::error::ApiError;

/// How many rows a page of a list has unless said, and at the most.
const USUAL: usize = 50;
const MOST: usize = 1000;

/// The query of an address.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // No text of ours holds one, and not every database could look for it.
        if parts.uri.query().is_some_and(|query| query.contains("%00")) {
            return Err(ApiError::bad_request("bad_query", "the query holds a NUL character"));
        }
        let read = axum::extract::Query::try_from_uri(&parts.uri);
        let refused = |it: axum::extract::rejection::QueryRejection| it.body_text();
        read.map(|axum::extract::Query(query)| Self(query))
            .map_err(|why| ApiError::bad_request("bad_query", refused(why)))
    }
}

/// Which page of a list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// Where the page before it ended: its `next_cursor`.
    #[param(pattern = r"^[0-9]{1,13}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    cursor: Option<String>,
    /// How many, 50 unless said; a page has 1,000 at the most.
    #[serde(default, deserialize_with = "limit")]
    #[param(minimum = 1)]
    limit: Option<usize>,
}

impl PageQuery {
    pub(crate) fn limit(&self) -> usize {
        self.limit.unwrap_or(USUAL).min(MOST)
    }

    /// Returns the place in a list of calls that the page begins behind.
    pub(crate) fn before(&self) -> Result<Option<(Timestamp, ApprovalId)>, ApiError> {
        let place = |cursor: &str| {
            let (at, id) = cursor.split_once('_')?;
            Some((Timestamp::from_millisecond(at.parse().ok()?).ok()?, id.parse().ok()?))
        };
        let place = |cursor: &str| place(cursor).ok_or_else(ApiError::bad_cursor);
        self.cursor.as_deref().map(place).transpose()
    }

    /// Returns where the next page of a list of calls begins; none after the last.
    pub(crate) fn next(&self, calls: &[Execution]) -> Option<String> {
        let last = calls.last().filter(|_| calls.len() == self.limit())?;
        Some(format!("{}_{}", last.created_at().as_millisecond(), last.id()))
    }
}

/// Reads how many rows are wanted. More than there can be is as many as there can be.
pub(crate) fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    match number(from)? {
        0 => Err(D::Error::custom("`limit` is at least 1")),
        limit => Ok(Some(limit)),
    }
}

/// Reads a number from 0. One that is larger than any is as good as the largest.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    let text = String::deserialize(from)?;
    let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) if is_number => Ok(usize::MAX),
        Err(_) => Err(D::Error::custom("this is a whole number, and not a negative one")),
    }
}
