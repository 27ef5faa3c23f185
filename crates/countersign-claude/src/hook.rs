//! Hooks: code of yours that runs inside the CLI's loop, before and after what it does.
//!
//! Unlike the permission callback, a `PreToolUse` hook sees every call, allowed by a rule or not.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

pub mod details;
mod event;
mod input;
mod output;
mod presets;
#[cfg(test)]
mod tests;

pub use details::HookDetails;
pub use event::HookEvent;
pub use input::HookInput;
pub use output::{HookDecision, HookOutput, HookReply};

/// A hook: when it runs, and what it does.
///
/// ```
/// use countersign_claude::{HookEvent, HookInput, HookMatcher, HookOutput, Options};
///
/// let audit = HookMatcher::new(HookEvent::PreToolUse, async |input: HookInput| {
///     println!("{}: {:?}", input.event, input.details);
///     HookOutput::proceed()
/// });
/// let options = Options::new().hook(audit.matching("Bash|Edit"));
/// ```
#[derive(Clone)]
#[must_use = "a hook runs only once it is part of the options"]
pub struct HookMatcher {
    pub(crate) event: HookEvent,
    pub(crate) matcher: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_failure: HookFailurePolicy,
    pub(crate) handler: Arc<dyn HookHandler>,
}

/// What happens to the action when its hook fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HookFailurePolicy {
    /// It goes ahead.
    #[default]
    Continue,
    /// It is blocked. A CLI that cannot do that is refused when the session starts. The CLI
    /// ignores this on `Stop`, `SubagentStop`, `TaskCompleted` and `TeammateIdle`.
    Block,
}

/// Whoever runs when a hook fires; an async closure that returns a [`HookOutput`], or a `Result`
/// of one, will do.
pub trait HookHandler: Send + Sync + 'static {
    /// Runs the hook once.
    fn run(&self, input: HookInput) -> BoxFuture<'static, HookReply>;
}

impl<F, R, O> HookHandler for F
where
    F: Fn(HookInput) -> R + Send + Sync + 'static,
    R: Future<Output = O> + Send + 'static,
    O: Into<HookReply>,
{
    fn run(&self, input: HookInput) -> BoxFuture<'static, HookReply> {
        let running = self(input);
        Box::pin(async move { running.await.into() })
    }
}

impl HookMatcher {
    /// Runs `handler` on every such event.
    pub fn new(event: HookEvent, handler: impl HookHandler) -> Self {
        Self {
            event,
            matcher: None,
            timeout: None,
            on_failure: HookFailurePolicy::Continue,
            handler: Arc::new(handler),
        }
    }

    /// Runs it only where this matches: for tool events a name, names joined by `|`, or a regular
    /// expression. `*` is everything.
    pub fn matching(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// Sets how long it may take, in whole seconds; without this it is 60.
    ///
    /// Too slow a `PreToolUse` or `UserPromptSubmit` hook blocks (CLI 2.1.208 and later).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets what happens when it fails. A hook that guards something wants [`HookFailurePolicy::Block`].
    pub fn on_failure(mut self, on_failure: HookFailurePolicy) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// Returns the hooks as the `initialize` request has them; a hook's place is its id.
    pub(crate) fn registrations(hooks: &[Self]) -> Option<Value> {
        let mut events = Map::new();
        for (place, hook) in hooks.iter().enumerate() {
            let mut entry = json!({
                "matcher": hook.matcher,
                "hookCallbackIds": [Self::callback_id(place)],
            });
            if let Some(entry) = entry.as_object_mut() {
                if let Some(timeout) = hook.timeout {
                    entry.insert("timeout".into(), json!(timeout.as_secs().max(1)));
                }
                if hook.on_failure == HookFailurePolicy::Block {
                    entry.insert("onFailure".into(), json!("block"));
                }
            }
            let listed = events.entry(hook.event.as_str()).or_insert_with(|| json!([]));
            if let Some(listed) = listed.as_array_mut() {
                listed.push(entry);
            }
        }
        (!events.is_empty()).then_some(Value::Object(events))
    }

    /// Returns the hook with that id.
    pub(crate) fn find_by_id<'a>(hooks: &'a [Self], id: &str) -> Option<&'a Self> {
        let place: usize = id.strip_prefix("hook_")?.parse().ok()?;
        hooks.get(place)
    }

    fn callback_id(place: usize) -> String {
        format!("hook_{place}")
    }

    /// Returns what to answer when the hook itself failed, if that is to block.
    pub(crate) fn blocking_output(&self, why: &str) -> Option<HookOutput> {
        match (self.on_failure, &self.event) {
            (HookFailurePolicy::Block, HookEvent::PreToolUse) => Some(HookOutput::deny(why)),
            (
                HookFailurePolicy::Block,
                HookEvent::UserPromptSubmit | HookEvent::UserPromptExpansion,
            ) => Some(HookOutput::block(why)),
            // The error reply is enough: the CLI goes on, or blocks, as it was told.
            (HookFailurePolicy::Block | HookFailurePolicy::Continue, _) => None,
        }
    }
}
