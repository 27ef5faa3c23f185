//! Handing a call in: planned, judged, and recorded as what came of that. Top to bottom.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    Approval, Basis, Digest, Failure, Invalid, Outcome, Permit, Plan, Planner, Policy, Risk, State,
    ToolCall, Verdict, risk,
};
use jiff::{Timestamp, TimestampRound, Unit};

use crate::clock::after;
use crate::gate::{Gate, new_id};
use crate::store::StoreError;

/// What came of handing a call in.
#[derive(Debug)]
pub enum Submitted {
    /// It may run, once, now.
    Permitted(Box<Permit>),
    /// A person is to decide.
    Waiting(Box<Approval>),
    /// It is invalid or denied.
    Refused(Box<Approval>),
}

impl Gate {
    /// Hands a call in: plans it, judges it, and records what comes of that.
    pub async fn submit(
        &self,
        call: ToolCall,
        planner: Arc<dyn Planner>,
        policy: &Policy,
    ) -> Result<Submitted, StoreError> {
        let now = self.inner().clock.now();
        let (call, plan) = off_runtime(call, &planner, <dyn Planner>::plan).await;
        let plan = match plan {
            Ok(plan) => plan,
            Err(why) => return self.refuse(draft(call, now), "validation", why).await,
        };
        let risk = risk::assess(&plan.effects);
        let verdict = policy.verdict(&call, &plan, risk, now);
        let outcome = verdict.outcome;
        let judged = judged(draft(call, now), plan, risk, verdict);
        match outcome {
            Outcome::Deny => {
                let why = judged.verdict.reasons.first().map(|reason| reason.text.clone());
                self.refuse(judged, "denied", format!("Denied: {}", why.unwrap_or_default())).await
            }
            Outcome::Allow => self.admit(judged, now).await,
            Outcome::Ask => self.ask(judged, planner, now).await,
        }
    }

    /// Records a call that is allowed and starts it in the same step.
    async fn admit(&self, judged: Approval, now: Timestamp) -> Result<Submitted, StoreError> {
        let allowed = judged.allow(now).map_err(unexpected)?;
        let (started, permit) = allowed.start(now).map_err(unexpected)?;
        // The permit leaves this function only after the start is on disk.
        self.inner().store.keep_approval(started, now).await?;
        Ok(Submitted::Permitted(Box::new(permit)))
    }

    /// Records a call that a person is to decide, with what they need to see.
    async fn ask(
        &self,
        judged: Approval,
        planner: Arc<dyn Planner>,
        now: Timestamp,
    ) -> Result<Submitted, StoreError> {
        let (_, shown) = off_runtime(judged.call.clone(), &planner, <dyn Planner>::preview).await;
        let preview = match shown {
            Ok(preview) => preview,
            Err(why) => return self.refuse(judged, "validation", why).await,
        };
        let shown = Approval { preview: Some(preview), ..judged }.bound();
        let deadline = deadline(now, self.inner().timeouts.of(shown.risk));
        let asked = shown.ask(deadline).map_err(unexpected)?;
        self.inner().store.keep_approval(asked.clone(), now).await?;
        self.inner().asked.notify_waiters();
        Ok(Submitted::Waiting(Box::new(asked)))
    }

    async fn refuse(
        &self,
        judged: Approval,
        error_type: &str,
        error: String,
    ) -> Result<Submitted, StoreError> {
        let now = self.inner().clock.now();
        let failure = Failure { error_type: error_type.to_owned(), error };
        let refused = judged.refuse(failure, now).map_err(unexpected)?;
        self.inner().store.keep_approval(refused.clone(), now).await?;
        Ok(Submitted::Refused(Box::new(refused)))
    }
}

/// Asks a planner off the runtime. A planner that panics has said nothing, so the call is refused.
async fn off_runtime<T: Send + 'static>(
    call: ToolCall,
    planner: &Arc<dyn Planner>,
    ask: impl FnOnce(&dyn Planner, &ToolCall) -> Result<T, Invalid> + Send + 'static,
) -> (ToolCall, Result<T, String>) {
    let (planner, asked) = (planner.clone(), call.clone());
    let answer = tokio::task::spawn_blocking(move || ask(planner.as_ref(), &asked)).await;
    let answer = match answer {
        Ok(answer) => answer.map_err(|invalid| invalid.to_string()),
        Err(_) => {
            Err("The tool could not say what this call would do, so it was not run".to_owned())
        }
    };
    (call, answer)
}

/// A call nobody has judged yet: what it would do is unknown, so it counts as high.
fn draft(call: ToolCall, now: Timestamp) -> Approval {
    Approval {
        id: new_id(),
        digest: Digest::of(&[]),
        summary: format!("Use `{}`", call.tool_name),
        call,
        effects: Vec::new(),
        commands: Vec::new(),
        basis: Basis::default(),
        risk: Risk::High,
        verdict: Verdict::from_reasons(Vec::new()),
        preview: None,
        created_at: now,
        state: State::Pending,
    }
    .bound()
}

fn judged(draft: Approval, plan: Plan, risk: Risk, verdict: Verdict) -> Approval {
    let Plan { effects, summary, commands } = plan;
    Approval { effects, summary, commands, risk, verdict, ..draft }.bound()
}

/// A deadline in whole milliseconds, as the table holds it: both must agree on when it is over.
fn deadline(now: Timestamp, timeout: Duration) -> Timestamp {
    let deadline = after(now, timeout);
    deadline.round(TimestampRound::new().smallest(Unit::Millisecond)).unwrap_or(deadline)
}

/// A transition of a value nobody else has seen cannot be refused; if it is, nothing runs.
fn unexpected(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::corrupt("state", error)
}
