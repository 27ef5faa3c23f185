//! `Task` at work: a child agent within the run of its parent.
//!
//! Its calls are the run's: the same project, rules, mode and queue, and whoever stops the run stops
//! it. Its conversation is its own, and kept nowhere: what the parent gets is its last words. So a
//! child does not outlive its driver; its call is then interrupted, like any that had started.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use countersign_core::{
    CallPlan, ExecutionState, InvalidCall, Planner, Preview, RunId, TokenUsage, ToolCall,
    ToolOutput,
};
use countersign_gate::{DecideError, Gate, RunJournal, StoreError, interrupted_failure};
use countersign_tools::{AgentKind, DelegatedTask, Task, Tool, ToolError, Toolbox, VerifiedPermit};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::message::{MessageRole, ModelMessage};
use crate::runner::{AgentRun, RunSignals, Runner};
use crate::runner_config::RunnerConfig;
use crate::stop::{RunHalt, RunStopCause};

/// The tool that is put in another's place.
const TASK: &str = "Task";

/// How deep children go: a child may have children, those may not.
const DEEPEST: usize = 2;

/// How many children a run has at the same time, and in all.
const AT_ONCE: usize = 8;
const IN_ALL: usize = 64;

/// How many answers a child takes at the most.
const TURNS: u32 = 50;

const CHILD_PROMPT: &str = "\
You were started by another agent to do one piece of work. Nobody reads along and nobody can be asked: \
find out for yourself what you are not told. Your last message is your report, and all that the other \
agent gets: say in it what you found or did, with paths and lines, and what is left open.";

/// Who works in a run: where it stands among its kin.
#[derive(Clone, Default)]
pub(crate) struct Lineage {
    /// The names from the main agent down; none for the main agent itself.
    below: Vec<String>,
    family: Arc<Mutex<ChildAgents>>,
}

/// All children of a run.
#[derive(Default)]
struct ChildAgents {
    working: usize,
    started: usize,
    /// How many there were of one name.
    names: HashMap<String, usize>,
    usage: TokenUsage,
}

impl Lineage {
    /// Returns the path that calls are shown with; none for the main agent.
    pub(crate) fn path(&self) -> Option<String> {
        (!self.below.is_empty()).then(|| format!("main/{}", self.below.join("/")))
    }

    /// Returns what a run took, together with what its children took.
    pub(crate) fn total_usage(&self, own: TokenUsage) -> TokenUsage {
        let theirs = self.family().usage;
        TokenUsage {
            input_tokens: own.input_tokens + theirs.input_tokens,
            output_tokens: own.output_tokens + theirs.output_tokens,
        }
    }

    fn family(&self) -> MutexGuard<'_, ChildAgents> {
        self.family.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a child in, if there may be one more.
    fn child(&self, kind: AgentKind) -> Result<ChildAgentGuard, InvalidCall> {
        let mut family = self.family();
        if family.working >= AT_ONCE {
            return Err(InvalidCall(format!(
                "{AT_ONCE} agents are at work already; wait for their reports first"
            )));
        }
        if family.started >= IN_ALL {
            return Err(InvalidCall(format!(
                "{IN_ALL} agents were started for this prompt, which is the limit; go on yourself"
            )));
        }
        family.working += 1;
        family.started += 1;
        let mut below = self.below.clone();
        below.push(kind.name().to_owned());
        let count = family.names.entry(below.join("/")).or_default();
        *count += 1;
        if *count > 1 {
            below.pop();
            below.push(format!("{}-{count}", kind.name()));
        }
        Ok(ChildAgentGuard(Self { below, family: Arc::clone(&self.family) }))
    }
}

/// A child that is at work as long as this is there.
struct ChildAgentGuard(Lineage);

impl Drop for ChildAgentGuard {
    fn drop(&mut self) {
        self.0.family().working -= 1;
    }
}

/// Returns the tools of a run: where there is a `Task`, one that starts children of this run.
pub(crate) fn toolbox_with_task(run: &AgentRun, signals: &RunSignals) -> Toolbox {
    let toolbox = &run.runner.toolbox;
    let Some(tool) = toolbox.get(TASK) else { return toolbox.clone() };
    let delegate = DelegatingTask {
        tool: Arc::clone(tool),
        runner: run.runner.clone(),
        journal: run.journal.clone(),
        suspend: signals.suspend.clone(),
        kin: run.kin.clone(),
    };
    toolbox.clone().with(delegate)
}

/// `Task`, with somebody to hand the work to.
struct DelegatingTask {
    /// What says how calls look.
    tool: Arc<dyn Tool>,
    /// The parent's.
    runner: Runner,
    journal: RunJournal,
    suspend: CancellationToken,
    kin: Lineage,
}

impl DelegatingTask {
    /// Returns the run of a child: no tool, rule or mode in it that its parent does not have.
    fn run_of(&self, work: &DelegatedTask, kin: Lineage) -> AgentRun {
        let parent = &self.runner;
        let may_have_children = kin.below.len() < DEEPEST;
        let toolbox =
            parent.toolbox.only(|name| work.kind.has(name) && (name != TASK || may_have_children));
        let added = parent.config.system_prompt.iter().map(String::as_str).chain([CHILD_PROMPT]);
        let config = RunnerConfig {
            system_prompt: Some(added.collect::<Vec<_>>().join("\n\n")),
            max_turns: parent.config.max_turns.min(TURNS),
            ..parent.config.clone()
        };
        let runner = Runner { toolbox, config, ..parent.clone() };
        let mut request = runner.request();
        request.messages.push(ModelMessage::user(&work.prompt));
        let mut run = AgentRun::new(runner, self.journal.for_child_agent(), request);
        // Dropping it ends nothing: it is its parent's run that is over then.
        run.is_over = true;
        run.kin = kin;
        run
    }

    async fn report(
        &self,
        work: &DelegatedTask,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let child = self.kin.child(work.kind)?;
        let mut run = self.run_of(work, child.0.clone());
        let signals = RunSignals { cancel, suspend: self.suspend.clone() };
        let ended = run.run_turns(&signals).await;
        {
            let mut family = child.0.family();
            family.usage.input_tokens += run.usage.input_tokens;
            family.usage.output_tokens += run.usage.output_tokens;
        }
        let name = work.kind.name();
        match ended {
            Ok(()) => Ok(ToolOutput::ok(match last_words(&run) {
                Some(words) => words,
                None => format!("The agent `{name}` is done and has reported nothing."),
            })),
            Err(RunHalt::Over(RunStopCause::Cancelled, _)) => Err(ToolError::Interrupted),
            Err(RunHalt::Over(stop, _)) => {
                let said = last_words(&run).map(|words| format!("\nIts last words:\n{words}"));
                let said = said.unwrap_or_default();
                Ok(ToolOutput::error(format!("The agent `{name}` did not finish: {stop}{said}")))
            }
            Err(RunHalt::Suspended) => {
                let path = child.0.path();
                let settling = settle_calls(&self.runner.gate, run.id(), path.as_deref()).await;
                if let Err(error) = settling {
                    let error: &dyn std::error::Error = &error;
                    tracing::error!(error, "the calls of a child could not be taken back");
                }
                Err(ToolError::Interrupted)
            }
        }
    }
}

/// Returns what the model said last, if it said anything.
fn last_words(run: &AgentRun) -> Option<String> {
    let mut messages = run.request.messages.iter().rev();
    let last = messages.find(|message| message.role == MessageRole::Assistant)?;
    Some(last.text()).filter(|text| !text.trim().is_empty())
}

/// Settles what stands open of the calls of children, of one and its own or of all of a run.
pub(crate) async fn settle_calls(
    gate: &Gate,
    run: RunId,
    below: Option<&str>,
) -> Result<(), StoreError> {
    let is_kin = |agent: &str| match below {
        None => true,
        Some(path) => {
            agent.strip_prefix(path).is_some_and(|it| it.is_empty() || it.starts_with('/'))
        }
    };
    for made in gate.calls_in_run(run).await? {
        if !made.call().agent.as_deref().is_some_and(is_kin) {
            continue;
        }
        match made.state() {
            ExecutionState::Executing { .. } => {
                // One that was settled meanwhile stays as it is.
                if let Err(DecideError::Store(error)) =
                    gate.finish(made.id(), Err(interrupted_failure())).await
                {
                    return Err(error);
                }
            }
            ExecutionState::Pending
            | ExecutionState::AwaitingApproval { .. }
            | ExecutionState::Approved { .. } => {
                gate.cancel(made.id()).await?;
            }
            ExecutionState::Completed { .. }
            | ExecutionState::Failed { .. }
            | ExecutionState::Rejected { .. }
            | ExecutionState::Timeout { .. }
            | ExecutionState::Cancelled { .. } => {}
        }
    }
    Ok(())
}

impl Planner for DelegatingTask {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        self.tool.plan(call)
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        self.tool.preview(call)
    }
}

#[async_trait]
impl Tool for DelegatingTask {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn description(&self) -> &str {
        self.tool.description()
    }

    fn input_schema(&self) -> Value {
        self.tool.input_schema()
    }

    async fn needs_approval(&self, params: &Value) -> bool {
        self.tool.needs_approval(params).await
    }

    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let work = Task::work(permit.call())?;
        Box::pin(self.report(&work, cancel)).await
    }
}
