//! What every operation may answer instead of what was asked for, as the API's description says it.

use countersign_api::error::ErrorBody;
use std::collections::BTreeMap;

use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

type ErrorResponseMap = BTreeMap<String, RefOr<Response>>;

const BAD: (&str, &str) = ("400", "Something in the request is wrong; the message says what.");
const UNKNOWN: (&str, &str) = ("404", "The project has no such resource.");
const CONFLICT: (&str, &str) =
    ("409", "Something else stands; where it is a call, it comes along.");
const DOOR: [(&str, &str); 2] = [
    ("401", "No credential, or one that is not good."),
    (
        "403",
        "The credential's role does not cover this, or the request was meant for another host or came from another page.",
    ),
];
const HOUSE: [(&str, &str); 2] = [
    ("500", "A fault of ours; the server's log has more."),
    ("503", "The database does not answer."),
];
const BODY: [(&str, &str); 2] =
    [("408", "The body did not come in time."), ("413", "The body is too large.")];

/// What looking may end in.
pub(crate) struct ReadErrorResponses;

/// What a change may end in.
pub(crate) struct WriteErrorResponses;

/// What a change may end in that something else can stand against.
pub(crate) struct ConflictErrorResponses;

impl IntoResponses for ReadErrorResponses {
    fn responses() -> ErrorResponseMap {
        build_responses([&[BAD, UNKNOWN], &DOOR[..], &HOUSE])
    }
}

impl IntoResponses for WriteErrorResponses {
    fn responses() -> ErrorResponseMap {
        build_responses([&[BAD, UNKNOWN], &DOOR[..], &HOUSE, &BODY])
    }
}

impl IntoResponses for ConflictErrorResponses {
    fn responses() -> ErrorResponseMap {
        build_responses([&[BAD, UNKNOWN, CONFLICT], &DOOR[..], &HOUSE, &BODY])
    }
}

fn build_responses<const N: usize>(kinds: [&[(&str, &str)]; N]) -> ErrorResponseMap {
    kinds.concat().into_iter().map(|(code, why)| (code.to_owned(), error_response(why))).collect()
}

fn error_response(why: &str) -> RefOr<Response> {
    let schema = Ref::from_schema_name(ErrorBody::name());
    let content = ContentBuilder::new().schema(Some(schema)).build();
    RefOr::T(ResponseBuilder::new().description(why).content("application/json", content).build())
}
