//! `approve_all`: exactly the requests that a person saw, each with its digest, each with its answer.

use countersign_api::socket::command::SeenRequest;
use countersign_api::socket::message::{ApproveAnswer, ApproveOutcome};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::StatusCode;
use countersign_core::{
    ApprovalId, ApprovedBy, Decision, Digest, ExecutionStatus, ProjectId, Risk,
};
use futures_util::{StreamExt, stream};

use super::command::CommandRefusal;
use super::inbox::{InboxReach, project_of_request};
use crate::app::App;
use crate::caller::AuthenticatedCaller;
use crate::decide::DecisionService;
use crate::error::ApiError;
use crate::with_deadline::with_deadline;

/// How many requests one command may list.
const MOST: usize = 1000;

/// How many are decided at a time.
const AT_A_TIME: usize = 8;

/// A list of requests to approve, and who says so.
pub(super) struct ApprovalBatch {
    pub(super) app: App,
    pub(super) caller: AuthenticatedCaller,
    pub(super) project: ProjectId,
    pub(super) reach: InboxReach,
    pub(super) requests: Vec<SeenRequest>,
}

/// Checks that a command lists what it wants approved.
pub(super) fn check_requests(
    requests: Option<Vec<SeenRequest>>,
) -> Result<Vec<SeenRequest>, CommandRefusal> {
    let Some(requests) = requests else {
        let why = "`approve_all` approves what was seen, not what happens to wait: send \
                   `\"requests\": [{\"request_id\": …, \"digest\": …}]` with each request that was shown";
        return Err(("requests_missing", why.to_owned()));
    };
    if requests.len() > MOST {
        let why = format!("`requests` lists {MOST} at the most; send the rest in another command");
        return Err(("too_many_requests", why));
    }
    // Said twice is said once.
    let mut said = HashSet::new();
    Ok(requests.into_iter().filter(|request| said.insert(request.clone())).collect())
}

impl ApprovalBatch {
    /// Approves the requests and returns what came of each, in their order.
    ///
    /// Runs on a task of its own: it comes to its end whether or not its sender is still there.
    pub(super) async fn approve(self) -> Vec<ApproveAnswer> {
        let database_failed = AtomicBool::new(false);
        let answers: Vec<_> = self
            .requests
            .iter()
            .map(|request| self.answer_one(request, &database_failed))
            .collect();
        stream::iter(answers).buffered(AT_A_TIME).collect().await
    }

    async fn answer_one(
        &self,
        request: &SeenRequest,
        database_failed: &AtomicBool,
    ) -> ApproveAnswer {
        let approved = self.approve_one(request, database_failed).await;
        answer(request.request_id.clone(), approved)
    }

    async fn approve_one(
        &self,
        request: &SeenRequest,
        database_failed: &AtomicBool,
    ) -> Result<(), CommandRefusal> {
        // A database that failed for one is not waited for again for each of the others.
        if database_failed.load(Ordering::Relaxed) {
            return Err(("store", "the database failed before this one; send it again".to_owned()));
        }
        let approved = self.try_one(request).await;
        if matches!(&approved, Err((_, status)) if status.is_server_error()) {
            database_failed.store(true, Ordering::Relaxed);
        }
        approved.map_err(|(refused, _)| refused)
    }

    async fn try_one(&self, request: &SeenRequest) -> Result<(), (CommandRefusal, StatusCode)> {
        let unknown = || {
            let why = format!("no request has the id `{}`", request.request_id);
            (("not_found", why), StatusCode::NOT_FOUND)
        };
        let id: ApprovalId = request.request_id.parse().map_err(|_| unknown())?;
        self.app.sign_ins.check_not_revoked(&self.caller).await.map_err(refusal_with_status)?;
        let project = project_of_request(&self.app, &self.project, self.reach, id).await;
        let project = project.map_err(refusal_with_status)?;
        let speaker =
            DecisionService { app: &self.app, project: &project, person: &self.caller.name };
        let asked = match speaker.find_request(id).await {
            Ok(asked) => asked,
            Err(error) if error.status == StatusCode::NOT_FOUND => return Err(unknown()),
            Err(error) => return Err(refusal_with_status(error)),
        };
        let refused = |code, why: &str| Err(((code, why.to_owned()), StatusCode::CONFLICT));
        if asked.status() != ExecutionStatus::AwaitingApproval {
            return refused("already_settled", "it no longer waits: it is decided, or has expired");
        }
        if asked.risk() >= Risk::High {
            return refused("high_risk", "its risk is HIGH: look at it, and decide it by itself");
        }
        let seen = Digest::from(request.digest.clone());
        let decision = Decision::Approve { by: ApprovedBy::Person(self.caller.name.clone()) };
        let gate = self.app.gate.clone();
        let decided =
            with_deadline(async move { gate.decide(id, decision, Some(seen)).await }).await;
        decided.map(drop).map_err(refusal_with_status)
    }
}

fn refusal_with_status(error: ApiError) -> (CommandRefusal, StatusCode) {
    let code = match error.code {
        "drift" => "digest_mismatch",
        "expired" => "already_settled",
        "unknown_request" => "not_found",
        other => other,
    };
    ((code, error.message), error.status)
}

fn answer(request_id: String, approved: Result<(), CommandRefusal>) -> ApproveAnswer {
    match approved {
        Ok(()) => ApproveAnswer {
            request_id,
            outcome: ApproveOutcome::Approved,
            code: None,
            message: None,
        },
        Err((code, message)) => ApproveAnswer {
            request_id,
            outcome: ApproveOutcome::Refused,
            code: Some(code.to_owned()),
            message: Some(message),
        },
    }
}
