//! Leases: calls that somebody else runs, from being lent to being reported.

use std::time::Duration;

use countersign_core::{
    Approval, ApprovalId, Digest, Executor, Failure, Lease, NotStartable, NotTaken, Outcome,
    Reported, Status,
};
use jiff::Timestamp;

use crate::executors::Role;
use crate::gate::{Gate, new_id};
use crate::live::{Live, News};
use crate::store::{Lent, StoreError, Transition};
use crate::submit::deadline;

/// Why a result, or a sign of life, was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is no such call.
    #[error("no call has the id `{0}`")]
    Unknown(ApprovalId),
    /// It is late, or not theirs: what stands comes along.
    #[error(transparent)]
    NotTaken(#[from] NotTaken),
    /// It could not be written down, so it does not count.
    #[error("the result could not be recorded")]
    Store(#[from] StoreError),
}

impl Gate {
    /// Returns a call once it is in another state than this one; where another took its place, that.
    pub async fn changed(&self, id: ApprovalId, from: Status) -> Result<Approval, StoreError> {
        self.look_until(id, |stands| stands.status() != from).await
    }

    /// Returns a call once nothing can follow; where another took its place, that one.
    pub async fn settled(&self, id: ApprovalId) -> Result<Approval, StoreError> {
        self.look_until(id, |stands| stands.status().is_terminal()).await
    }

    /// Lends an approved call to whoever handed it in, or to the program that drives its run, once.
    pub async fn lend(
        &self,
        id: ApprovalId,
        holder: &str,
        period: Duration,
    ) -> Result<Result<Approval, NotStartable>, StoreError> {
        if let Some(refused) = self.refused_meanwhile(id).await? {
            return Ok(Err(NotStartable(refused)));
        }
        let now = self.inner().clock.now();
        let lease = lease(holder, now, period);
        let step = move |approval: Approval| match approval.call.executor {
            Executor::Caller | Executor::ClaudeCli => approval.lend(lease.clone(), now),
            // Which client runs it is not for the client to say.
            Executor::Local | Executor::Client => Err(NotStartable(Box::new(approval))),
        };
        Ok(match self.transition(id, step).await? {
            Transition::Unknown => return Err(gone(id)),
            Transition::Refused(refused) => Err(refused),
            Transition::Made(made) if made.status() == Status::Executing => Ok(*made),
            Transition::Made(lapsed) => Err(NotStartable(lapsed)),
        })
    }

    /// Lends the approved calls of a project to the client that runs them; none if it no longer does.
    ///
    /// `period` says for how long each is lent at first.
    pub async fn lend_all(
        &self,
        role: &Role,
        period: impl Fn(&Approval) -> Duration,
    ) -> Result<Option<usize>, StoreError> {
        let mut lent = 0;
        for approval in self.inner().store.unclaimed(role.project()).await? {
            if self.denied_meanwhile(&approval).await?.is_some() {
                continue;
            }
            let now = self.inner().clock.now();
            if !may_run_there(&approval, role) {
                let step = move |stands: Approval| stands.withdraw(another_client(), now);
                self.transition(approval.id, step).await?;
                continue;
            }
            let lease = lease(role.client(), now, period(&approval));
            let step = move |stands: Approval| stands.lend(lease.clone(), now);
            match self.inner().store.lend_to(role.post(), approval.id, now, step).await? {
                Lent::NotOnPost => return Ok(None),
                Lent::Tried(Transition::Made(made)) => {
                    self.moved(&made);
                    lent += 1;
                }
                Lent::Tried(Transition::Refused(_) | Transition::Unknown) => {}
            }
        }
        Ok(Some(lent))
    }

    /// Prolongs a lease from now: whoever has it is still there.
    pub async fn renew(
        &self,
        id: ApprovalId,
        token: &str,
        period: Duration,
    ) -> Result<Approval, ReportError> {
        let now = self.inner().clock.now();
        let (token, until) = (token.to_owned(), deadline(now, period));
        let step = move |approval: Approval| approval.renew(&token, until, now);
        match self.transition(id, step).await? {
            Transition::Unknown => Err(ReportError::Unknown(id)),
            Transition::Refused(refused) => Err(refused.into()),
            Transition::Made(made) if made.status() == Status::Executing => Ok(*made),
            Transition::Made(lapsed) => Err(NotTaken::Settled(lapsed).into()),
        }
    }

    /// Shows what a call that runs elsewhere has written so far. It need not survive.
    pub fn show_output(&self, approval: &Approval, text: String) {
        let call = &approval.call;
        let news = News::ToolOutput { execution: call.id, text };
        let live = Live { session: call.session.clone(), run: call.run, news };
        self.inner().channels.show(&call.project, live);
    }

    /// Records what came of a call that ran elsewhere, if it was in time and theirs to say.
    ///
    /// The same twice is fine. What is not taken is recorded as that.
    pub async fn report(
        &self,
        id: ApprovalId,
        token: Option<String>,
        reported: Reported,
    ) -> Result<Approval, ReportError> {
        let now = self.inner().clock.now();
        let said = reported.clone();
        let step = move |approval: Approval| approval.report(&said, token.as_deref(), now);
        let refused = match self.transition(id, step).await? {
            Transition::Unknown => return Err(ReportError::Unknown(id)),
            Transition::Made(made) if made.was_reported_as(&reported) => return Ok(*made),
            Transition::Made(lapsed) => NotTaken::Settled(lapsed),
            Transition::Refused(NotTaken::Settled(stands)) if stands.was_reported_as(&reported) => {
                return Ok(*stands);
            }
            Transition::Refused(refused) => refused,
        };
        self.note_refused(&refused, &reported, now).await?;
        Err(refused.into())
    }

    async fn note_refused(
        &self,
        refused: &NotTaken,
        reported: &Reported,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let said = match reported {
            Reported::Done(report) => report.written(),
            Reported::Failed(error) | Reported::Drifted(error) => error.clone(),
        };
        let (stands, reason) = (refused.stands().clone(), refused.to_string());
        self.inner().store.refuse_result(stands, reason, Digest::of(said.as_bytes()), now).await
    }

    /// Ends an approved call that the rules have come to deny since it was asked for.
    async fn refused_meanwhile(&self, id: ApprovalId) -> Result<Option<Box<Approval>>, StoreError> {
        match self.inner().store.approval(id).await? {
            Some(approved) if approved.status() == Status::Approved => {
                self.denied_meanwhile(&approved).await
            }
            _ => Ok(None),
        }
    }

    pub(crate) async fn look_until(
        &self,
        id: ApprovalId,
        done: impl Fn(&Approval) -> bool,
    ) -> Result<Approval, StoreError> {
        let mut id = id;
        loop {
            let place = self.inner().waiting.at(id);
            let changed = place.changed.notified();
            tokio::pin!(changed);
            // Registered before the look, so a change between look and wait still wakes us.
            changed.as_mut().enable();
            match self.inner().store.approval(id).await? {
                None => return Err(gone(id)),
                Some(stands) => match stands.replaced_by() {
                    Some(next) => id = next,
                    None if done(&stands) => return Ok(stands),
                    None => changed.await,
                },
            }
        }
    }
}

/// Whether a call may run at the client that has the role: what was shown, or what nobody was asked
/// about, is what is there.
fn may_run_there(approved: &Approval, role: &Role) -> bool {
    let Some(witness) = &approved.basis.witness else { return true };
    let by_person = approved.verdict.outcome == Outcome::Ask;
    // One that checks refuses by itself what is not as a person saw it.
    witness.client == role.client() || (by_person && role.shows_files())
}

fn another_client() -> Failure {
    Failure {
        error_type: "another_client".to_owned(),
        error:
            "The client whose files were shown is gone, and another one would have run this; it \
                was not run. Make the call again."
                .to_owned(),
    }
}

fn lease(holder: &str, now: Timestamp, period: Duration) -> Lease {
    let token = new_id::<uuid::Uuid>().to_string();
    Lease { token, holder: holder.to_owned(), until: deadline(now, period) }
}

fn gone(id: ApprovalId) -> StoreError {
    StoreError::corrupt("approval", format!("`{id}` is gone"))
}
