//! How often a proposal would have matched, to be shown with it.

use countersign_core::{GrantProposal, ProjectId};

use crate::gate::Gate;
use crate::gate_error::GateError;
use crate::history::WINDOW;

/// How many calls are tried on the spot; for more the runtime is left alone.
const FEW: usize = 64;

impl Gate {
    /// Returns how many of a project's latest calls a proposal would have allowed where they asked.
    pub async fn matched_before(
        &self,
        project: &ProjectId,
        proposal: &GrantProposal,
    ) -> Result<u64, GateError> {
        let counted = self.count_proposal_matches(project, vec![proposal.clone()]).await?;
        Ok(counted.first().map_or(0, |proposal| proposal.matched_before))
    }

    /// Returns proposals with how often each would have matched.
    pub(crate) async fn count_proposal_matches(
        &self,
        project: &ProjectId,
        mut proposals: Vec<GrantProposal>,
    ) -> Result<Vec<GrantProposal>, GateError> {
        if proposals.is_empty() {
            return Ok(proposals);
        }
        let history = self.inner().history.clone();
        if !history.knows(project) {
            history.load(project, &self.inner().store.recent_executions(project, WINDOW).await?);
        }
        let (project, now) = (project.clone(), self.inner().clock.now());
        let anchors = self.rulebook().anchors(&project);
        let left: usize =
            proposals.iter().map(|it| history.count_untried(&project, &it.rules)).sum();
        let count = move || {
            for proposal in &mut proposals {
                proposal.matched_before = history.count(&project, &proposal.rules, &anchors, now);
            }
            proposals
        };
        if left <= FEW {
            return Ok(count());
        }
        let counting = tokio::task::spawn_blocking(count);
        counting.await.map_err(|source| GateError::TaskFailed { doing: "counted calls", source })
    }
}
