//! Whether a tool asks a person before it runs.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

type ConditionFuture = Pin<Box<dyn Future<Output = bool> + Send>>;

/// Whether a tool asks before it runs: a plain flag, or a look at the parameters.
#[derive(Clone)]
pub struct NeedsApproval(ApprovalCondition);

#[derive(Clone)]
enum ApprovalCondition {
    Flag(bool),
    Predicate(Arc<dyn Fn(Value) -> ConditionFuture + Send + Sync>),
}

impl NeedsApproval {
    /// Returns the rule that looks at the parameters.
    pub fn when(predicate: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        let predicate = Arc::new(predicate);
        Self::when_async(move |params| {
            let predicate = Arc::clone(&predicate);
            async move { predicate(&params) }
        })
    }

    /// Returns the rule that looks at the parameters and may wait for something.
    pub fn when_async<F, A>(predicate: F) -> Self
    where
        F: Fn(Value) -> A + Send + Sync + 'static,
        A: Future<Output = bool> + Send + 'static,
    {
        Self(ApprovalCondition::Predicate(Arc::new(move |params| Box::pin(predicate(params)))))
    }

    /// Returns what the rule says of a call with these parameters.
    pub async fn applies_to(&self, params: &Value) -> bool {
        match &self.0 {
            ApprovalCondition::Flag(asks) => *asks,
            ApprovalCondition::Predicate(predicate) => predicate(params.clone()).await,
        }
    }
}

impl From<bool> for NeedsApproval {
    fn from(asks: bool) -> Self {
        Self(ApprovalCondition::Flag(asks))
    }
}

impl fmt::Debug for NeedsApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ApprovalCondition::Flag(asks) => write!(f, "NeedsApproval({asks})"),
            ApprovalCondition::Predicate(_) => f.write_str("NeedsApproval(…)"),
        }
    }
}
