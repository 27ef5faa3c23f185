//! Decisions: what a person says on the wire, made into one call to the gate. For every surface.

use countersign_api::approval::DecisionScope;
use std::sync::Arc;

use countersign_core::{
    ApprovalId, ApprovedBy, Decision, Digest, Execution, ExecutionStatus, Executor, Planner,
    ProjectId, ToolCall,
};
use countersign_gate::{
    ApprovalEditOutcome, ApprovalWithEdit, ApprovalWithGrant, GrantScope, StoredRuleOrigin,
    SubmitOptions,
};
use countersign_tools::Workspace;
use serde_json::Value;

use crate::app::App;
use crate::error::ApiError;
use crate::path_params::unknown_approval;
use crate::with_deadline::{judge_with_deadline, with_deadline};

/// What a person says to a request.
#[derive(Debug, Default)]
pub(crate) struct DecisionInput {
    /// Yes or no.
    pub(crate) approved: bool,
    /// With a no: what to do instead. With a yes: words that are kept beside it.
    pub(crate) feedback: Option<String>,
    /// The digest of what the person saw.
    pub(crate) digest: Option<String>,
    /// The whole input as the person changed it.
    pub(crate) edited_input: Option<Value>,
    /// How far the decision reaches.
    pub(crate) scope: DecisionScope,
    /// The rules of the proposal that was picked, a line each.
    pub(crate) rule: Option<String>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum DecisionOutcome {
    /// It stands as decided.
    Decided(Box<Execution>),
    /// The changed input is riskier than what was asked: this request waits in its place.
    AskedAgain(Box<Execution>),
}

/// Who says something, about the requests of which project.
pub(crate) struct DecisionService<'a> {
    pub(crate) app: &'a App,
    pub(crate) project: &'a ProjectId,
    pub(crate) person: &'a str,
}

impl DecisionService<'_> {
    /// Records what the person says of a request.
    pub(crate) async fn decide(
        &self,
        id: ApprovalId,
        said: DecisionInput,
    ) -> Result<DecisionOutcome, ApiError> {
        let asked = self.find_request(id).await?;
        let seen = said.digest.map(Digest::from);
        let feedback = said.feedback.filter(|feedback| !feedback.trim().is_empty());
        let by = ApprovedBy::person(self.person, feedback.clone().filter(|_| said.approved));
        let scope = match said.scope {
            DecisionScope::Once => None,
            DecisionScope::Session => Some(GrantScope::Session),
            DecisionScope::Project => Some(GrantScope::Project),
        };
        match (said.approved, said.edited_input, scope) {
            (false, Some(_), _) | (false, _, Some(_)) => {
                let why = "a no has neither an edited input nor a scope: say what you mean";
                Err(ApiError::bad_request("contradiction", why))
            }
            (true, Some(_), Some(_)) => {
                let why = "an edited input is approved once; it cannot be allowed for good";
                Err(ApiError::bad_request("contradiction", why))
            }
            (false, None, None) => self.settle(id, Decision::Reject { by, feedback }, seen).await,
            (true, None, None) if said.rule.is_some() => {
                let why = "a rule needs a scope: say `session` or `project`";
                Err(ApiError::bad_request("contradiction", why))
            }
            (true, None, None) => self.settle(id, Decision::Approve { by }, seen).await,
            (true, Some(input), None) => {
                Box::pin(self.edit(asked, ApprovalWithEdit { input, by, seen })).await
            }
            (true, None, Some(scope)) => {
                let lines = |text: String| text.lines().map(str::to_owned).collect();
                let rules = said.rule.map(lines);
                self.grant(asked, ApprovalWithGrant { scope, rules, by, seen }).await
            }
        }
    }

    /// Returns a request of this project. One of another is as good as none: it is not this person's
    /// to know.
    pub(crate) async fn find_request(&self, id: ApprovalId) -> Result<Execution, ApiError> {
        let found = self.app.gate.store().approval(id).await?;
        let own = found.filter(|it| it.call().project == *self.project);
        own.ok_or_else(|| unknown_approval(&id.to_string()))
    }

    async fn settle(
        &self,
        id: ApprovalId,
        decision: Decision,
        seen: Option<Digest>,
    ) -> Result<DecisionOutcome, ApiError> {
        let gate = self.app.gate.clone();
        let settled = with_deadline(async move { gate.decide(id, decision, seen).await }).await?;
        Ok(DecisionOutcome::Decided(Box::new(settled)))
    }

    /// Approves a request and keeps a rule that spares people the next ones like it.
    async fn grant(
        &self,
        asked: Execution,
        always: ApprovalWithGrant,
    ) -> Result<DecisionOutcome, ApiError> {
        if asked.was_approved() && self.was_granted(&asked, always.scope).await? {
            return Ok(DecisionOutcome::Decided(Box::new(asked)));
        }
        if asked.status() != ExecutionStatus::AwaitingApproval {
            let why = countersign_core::StateConflict(Box::new(asked));
            return Err(countersign_gate::DecideError::from(why).into());
        }
        let (gate, id) = (self.app.gate.clone(), asked.id());
        let settled = with_deadline(async move { gate.approve_with_grant(id, always).await });
        let settled = settled.await.map_err(|error| error.or_approval(asked))?;
        Ok(DecisionOutcome::Decided(Box::new(settled)))
    }

    /// Whether this very request has granted rules as far as this.
    async fn was_granted(&self, asked: &Execution, scope: GrantScope) -> Result<bool, ApiError> {
        let rules = self.app.gate.store().rules(self.project).await?;
        let is_session = scope == GrantScope::Session;
        Ok(rules.iter().any(|rule| {
            rule.origin == StoredRuleOrigin::Approval(asked.id())
                && rule.session.is_some() == is_session
        }))
    }

    /// Approves a request with the input as the person changed it.
    async fn edit(
        &self,
        asked: Execution,
        edit: ApprovalWithEdit,
    ) -> Result<DecisionOutcome, ApiError> {
        let input = &asked.call().input;
        let is_same =
            asked.basis().edited_from.is_some() && asked.matches_stored_input(input, &edit.input);
        if asked.was_approved() && is_same {
            return Ok(DecisionOutcome::Decided(Box::new(asked)));
        }
        let place = self.app.projects.get(self.project.as_str()).await?;
        let planner = planner_for(self.app, &place.1, asked.call());
        let terms = SubmitOptions::attended();
        let (gate, id) = (self.app.gate.clone(), asked.id());
        let amended = judge_with_deadline(planner, |planner| async move {
            gate.approve_edited(id, edit, planner, &terms).await
        });
        match amended.await.map_err(|error| error.or_approval(asked))? {
            ApprovalEditOutcome::Approved(settled) => Ok(DecisionOutcome::Decided(settled)),
            ApprovalEditOutcome::AskedAgain(next) => Ok(DecisionOutcome::AskedAgain(next)),
        }
    }
}

/// Returns who says what a call would do: its tool where it runs here, else what is known of such tools.
pub(crate) fn planner_for(app: &App, workspace: &Workspace, call: &ToolCall) -> Arc<dyn Planner> {
    let name = &call.tool_name;
    match (app.toolbox)(workspace).get(name) {
        Some(tool) if call.executor == Executor::Local => tool.clone(),
        _ => (app.catalogue)(workspace).planner_of_any(name),
    }
}
