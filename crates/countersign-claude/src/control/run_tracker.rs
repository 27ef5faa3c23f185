//! When a run is over, so that the CLI's input can be closed.
//!
//! Closing it at the first result is the most repeated fault of such programs: hooks, permissions
//! and tools of what still runs in the background fail from then on, silently.

use std::collections::HashSet;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::routing_header::RoutingHeader;

/// What is known about the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunTracker {
    /// What the CLI last said about itself; older ones never do.
    state: Option<CliActivity>,
    /// Whether the last prompt has its result.
    result: PromptResultState,
    /// Whether the model has been heard since that result.
    turns_again: bool,
    /// Subagents and workflows at work. Shells are not among them: some never end.
    tasks: HashSet<String>,
    ended: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum PromptResultState {
    #[default]
    Unasked,
    Owed,
    Given,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum CliActivity {
    Idle,
    Running,
    RequiresAction,
}

/// Kinds of tasks that end.
const TRACKED: [&str; 2] = ["local_agent", "local_workflow"];

impl RunTracker {
    /// A prompt was sent: the run is open again.
    pub(super) fn record_prompt(&mut self) {
        self.result = PromptResultState::Owed;
        self.turns_again = false;
        if self.state.is_some() {
            self.state = Some(CliActivity::Running);
        }
    }

    /// The session is over, and the run with it.
    pub(super) fn mark_ended(&mut self) {
        self.ended = true;
    }

    /// Takes note of a message; returns whether anything changed.
    pub(super) fn observe(&mut self, head: &RoutingHeader<'_>) -> bool {
        let (kind, subtype) = (head.kind(), head.subtype());
        // Most messages say nothing new about the run.
        if kind == "stream_event" || (kind == "assistant" && self.turns_again) {
            return false;
        }
        let before = self.clone();
        match (kind.as_ref(), subtype.as_ref()) {
            ("result", _) => {
                self.result = PromptResultState::Given;
                self.turns_again = false;
            }
            ("assistant", _) if !head.is_nested() => self.turns_again = true,
            ("system", "session_state_changed") => {
                self.state = Some(match head.state().as_ref() {
                    "idle" => CliActivity::Idle,
                    "requires_action" => CliActivity::RequiresAction,
                    _ => CliActivity::Running,
                });
            }
            ("system", "task_started") if TRACKED.contains(&head.task_type().as_ref()) => {
                self.tasks.extend(head.task().map(String::from));
            }
            ("system", "task_notification") => self.remove_task(head),
            ("system", "task_updated")
                if head.patched_status().is_some_and(|status| is_final(&status)) =>
            {
                self.remove_task(head);
            }
            _ => return false,
        }
        *self != before
    }

    fn remove_task(&mut self, head: &RoutingHeader<'_>) {
        if let Some(task) = head.task() {
            self.tasks.remove(task.as_ref());
        }
    }

    /// Whether every prompt has its result.
    pub(super) fn has_all_results(&self) -> bool {
        self.result != PromptResultState::Owed
    }

    /// Whether the model is at work, as far as is known.
    pub(super) fn is_busy(&self) -> bool {
        !self.has_all_results() || self.turns_again
    }

    fn is_over(&self) -> bool {
        let quiet = match self.state {
            Some(state) => state == CliActivity::Idle,
            None => self.tasks.is_empty() && !self.turns_again,
        };
        self.ended || (self.result == PromptResultState::Given && quiet)
    }

    /// Whether only things that may never end keep the run open.
    fn is_waiting(&self) -> bool {
        self.result == PromptResultState::Given
            && !self.turns_again
            && self.tasks.is_empty()
            && self.state != Some(CliActivity::RequiresAction)
    }
}

fn is_final(status: &str) -> bool {
    ["completed", "failed", "killed", "stopped"].contains(&status)
}

/// Waits until the run is over. The ceiling runs only while nothing that ends is at work.
pub(super) async fn wait_until_over(
    mut run: watch::Receiver<RunTracker>,
    ceiling: Option<Duration>,
) {
    loop {
        let now = run.borrow_and_update().clone();
        if now.is_over() {
            return;
        }
        let changed = run.changed();
        let gone = match ceiling.filter(|_| now.is_waiting()) {
            Some(ceiling) => timeout(ceiling, changed).await.map_or(true, |it| it.is_err()),
            None => changed.await.is_err(),
        };
        if gone {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = r#"{"type":"result","subtype":"success"}"#;
    const SAYS: &str = r#"{"type":"assistant","message":{}}"#;
    const IDLE: &str = r#"{"type":"system","subtype":"session_state_changed","state":"idle"}"#;
    const RUNS: &str = r#"{"type":"system","subtype":"session_state_changed","state":"running"}"#;
    const ASKS: &str =
        r#"{"type":"system","subtype":"session_state_changed","state":"requires_action"}"#;
    const AGENT: &str =
        r#"{"type":"system","subtype":"task_started","task_id":"a","task_type":"local_agent"}"#;
    const SHELL: &str =
        r#"{"type":"system","subtype":"task_started","task_id":"s","task_type":"local_bash"}"#;
    const DONE: &str =
        r#"{"type":"system","subtype":"task_notification","task_id":"a","status":"completed"}"#;
    const KILLED: &str =
        r#"{"type":"system","subtype":"task_updated","task_id":"a","patch":{"status":"killed"}}"#;

    #[test]
    fn with_states_a_run_is_over_when_idle_after_a_result() {
        check(&[RUNS, SAYS, RESULT, IDLE], true);
        check(&[RUNS, SAYS, RESULT], false);
        check(&[RUNS, IDLE, RUNS], false);
        check(&[IDLE], false);
        check(&[RUNS, RESULT, SAYS, RESULT, IDLE], true);
    }

    #[test]
    fn without_states_a_run_is_over_at_a_result_with_no_agent_at_work() {
        check(&[SAYS, RESULT], true);
        check(&[SAYS, AGENT, RESULT], false);
        check(&[SAYS, AGENT, RESULT, DONE], true);
        check(&[SAYS, AGENT, RESULT, KILLED], true);
        check(&[SAYS, AGENT, RESULT, DONE, SAYS], false);
        check(&[SAYS, SHELL, RESULT], true);
    }

    #[test]
    fn a_new_prompt_opens_the_run_again() {
        let mut run = after(&[RUNS, RESULT, IDLE]);
        run.record_prompt();
        assert!(!run.is_over());
    }

    #[test]
    fn the_ceiling_runs_only_while_nothing_that_ends_is_at_work() {
        assert!(after(&[RUNS, RESULT]).is_waiting());
        assert!(!after(&[RUNS, SAYS]).is_waiting());
        assert!(!after(&[RUNS, RESULT, SAYS]).is_waiting());
        assert!(!after(&[RUNS, AGENT, RESULT]).is_waiting());
        assert!(!after(&[RUNS, RESULT, ASKS]).is_waiting());
    }

    fn after(lines: &[&str]) -> RunTracker {
        let mut run = RunTracker::default();
        for line in lines {
            run.observe(&RoutingHeader::parse(line).unwrap());
        }
        run
    }

    fn check(lines: &[&str], over: bool) {
        assert_eq!(after(lines).is_over(), over, "{lines:?}");
    }
}
