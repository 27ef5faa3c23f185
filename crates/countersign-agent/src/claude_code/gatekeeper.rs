//! The gatekeeper: every call Claude Code wants to make, taken through the gate.
//!
//! Its hook sees all of them before anything else does, and answers what the rules can answer. What a
//! person has to decide comes back as a question, with what Claude Code suggests.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_claude::{HookInput, HookOutput, PermissionResult, ToolRequest};
use countersign_core::{
    Execution, ExecutionFailure, ExecutionStatus, Executor, FailureKind, Planner, ProjectId, RunId,
    SessionId, ToolCall, ToolOutput, VerdictAction,
};
use countersign_gate::{
    AskOptions, CallCheck, CallDriver, CallEntry, CallTerms, Gate, GateError, LeaseTerms,
    RecordingPatience, SubmitOptions, new_id,
};
use countersign_tools::{BackupStore, Tool};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::in_flight::InFlightCalls;
use super::plan_files::writes_plan;
use super::suggestion::{proposals, updates};
use crate::rehearsal::RehearsalTask;

/// The CLI says itself when it is done with a call.
const CLI_LEASE: LeaseTerms<'static> =
    LeaseTerms { holder: "claude-cli", period: Duration::from_hours(24) };

/// Tools that are a question to the person: asked as such, never allowed in their place.
const QUESTIONS: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

/// Finds who says what a call would do, by the name of its tool.
pub type PlannerLookup = Arc<dyn Fn(&str) -> Arc<dyn Planner> + Send + Sync>;

/// On whose behalf calls are made.
#[derive(Clone, Debug)]
pub struct ClaudeCallOrigin {
    /// The project whose policy applies.
    pub project: ProjectId,
    /// The conversation.
    pub session: SessionId,
    /// The run that waits for the calls; none outside of one.
    pub run: Option<RunId>,
    /// The folder relative paths start from.
    pub cwd: PathBuf,
}

/// What a run on this machine has beside the gate; a mere callback has nothing of it.
#[derive(Default)]
pub(super) struct GatekeeperOptions {
    /// Where Claude Code keeps its plans.
    pub(super) plans: Option<PathBuf>,
    /// Where what calls change is kept.
    pub(super) keep: Option<BackupStore>,
    /// Who tries out commands while they wait.
    pub(super) bash: Option<Arc<dyn Tool>>,
}

/// Takes calls of one conversation through the gate. Cheap to clone.
#[derive(Clone)]
pub(super) struct Gatekeeper(Arc<GatekeeperInner>);

struct GatekeeperInner {
    gate: Gate,
    planners: PlannerLookup,
    asker: ClaudeCallOrigin,
    terms: SubmitOptions,
    /// How long a person has; by risk where it is not given.
    timeout: Option<Duration>,
    /// Where Claude Code keeps its plans.
    plans: Option<PathBuf>,
    bash: Option<Arc<dyn Tool>>,
    running: InFlightCalls,
    calls: Mutex<ObservedCalls>,
}

/// What is known of calls, by the model's ids of them, and of who makes them.
#[derive(Default)]
struct ObservedCalls {
    /// The hook has sent them on, to be asked for.
    sent_on: HashSet<String>,
    /// Where the CLI's shell was when it wanted them: only the hook is told, and commands go elsewhere.
    folders: HashMap<String, PathBuf>,
    /// What subagents are called, by the CLI's ids of them: only the hook is told.
    agents: HashMap<String, String>,
}

/// What the CLI is told of a call.
enum GatekeeperAnswer {
    Allow { input: Option<Map<String, Value>>, rules: Vec<String> },
    Deny(String),
}

impl Gatekeeper {
    pub(super) fn new(
        gate: Gate,
        planners: PlannerLookup,
        asker: ClaudeCallOrigin,
        terms: SubmitOptions,
        timeout: Option<Duration>,
        equipment: GatekeeperOptions,
    ) -> Self {
        let GatekeeperOptions { plans, keep, bash } = equipment;
        let (running, calls) = (InFlightCalls::new(gate.clone(), keep), Mutex::default());
        Self(Arc::new(GatekeeperInner {
            gate,
            planners,
            asker,
            terms,
            timeout,
            plans,
            bash,
            running,
            calls,
        }))
    }

    /// The hook where somebody can be asked: answers what needs no person, sends the rest on.
    pub(super) async fn on_pre_tool_use(&self, input: HookInput) -> HookOutput {
        let Some((call, id)) = self.call_of(&input) else { return unreadable() };
        if QUESTIONS.contains(&call.tool_name.as_str()) {
            return HookOutput::proceed();
        }
        let planner = (self.0.planners)(&call.tool_name);
        let checked = self.0.gate.check(call.clone(), planner.clone(), self.0.terms, None).await;
        match checked {
            // Its own to write; what it wants to do by it comes as a question.
            Ok(checked) if asks(&checked) && writes_plan(&input, self.0.plans.as_deref()).await => {
                HookOutput::proceed()
            }
            Ok(checked) if asks(&checked) => {
                self.calls().sent_on.insert(id);
                let why = checked.verdict.reasons.first().map(|reason| reason.text.clone());
                HookOutput::ask(why.unwrap_or_else(|| "a person is to decide".to_owned()))
            }
            Ok(_) => self.hook_answer(call, id, input.cancelled).await,
            Err(error) => HookOutput::deny(not_recorded(&error)),
        }
    }

    /// The hook where the CLI asks nobody: what must be asked is asked for here.
    pub(super) async fn on_pre_tool_use_unattended(&self, input: HookInput) -> HookOutput {
        let Some((call, id)) = self.call_of(&input) else { return unreadable() };
        if QUESTIONS.contains(&call.tool_name.as_str()) {
            return HookOutput::deny("nobody is there to answer: decide by yourself and go on");
        }
        self.hook_answer(call, id, input.cancelled).await
    }

    async fn hook_answer(
        &self,
        call: ToolCall,
        id: String,
        cancelled: CancellationToken,
    ) -> HookOutput {
        match self.pass(call, id, &AskOptions::default(), cancelled).await {
            GatekeeperAnswer::Allow { input: Some(input), .. } => HookOutput::modify(input),
            GatekeeperAnswer::Allow { input: None, .. } => HookOutput::allow(),
            GatekeeperAnswer::Deny(why) => HookOutput::deny(why),
        }
    }

    /// The callback: somebody has to decide.
    pub(super) async fn decide(&self, request: ToolRequest) -> PermissionResult {
        let id = request.tool_use_id.clone().unwrap_or_else(|| request.request_id.clone());
        let agent = request.agent_id.as_ref().map(|agent| self.agent(agent, None));
        let folder = self.calls().folders.get(&id).cloned();
        let call = self.call(&request.tool_name, &request.input, &id, agent, folder);
        let was_sent_on = self.calls().sent_on.remove(&id);
        let question = AskOptions {
            // What the hook let pass and the CLI asks for all the same, its own settings ask for.
            must_ask: (!was_sent_on).then(|| own_reason(&request)),
            suggestions: proposals(&request.suggestions),
            timeout: self.0.timeout,
            ..AskOptions::default()
        };
        match self.pass(call, id, &question, request.cancelled).await {
            GatekeeperAnswer::Allow { input, rules } => PermissionResult::Allow {
                updated_input: input,
                updated_permissions: updates(&rules),
                class: None,
            },
            GatekeeperAnswer::Deny(why) => PermissionResult::deny(why),
        }
    }

    /// The callback where there is no hook: the gate answers by itself what it can.
    pub(super) async fn decide_without_hook(&self, request: ToolRequest) -> PermissionResult {
        if !QUESTIONS.contains(&request.tool_name.as_str()) {
            let id = request.tool_use_id.clone().unwrap_or_else(|| request.request_id.clone());
            self.calls().sent_on.insert(id);
        }
        self.decide(request).await
    }

    /// Takes one call through the gate, to a yes or a no.
    async fn pass(
        &self,
        call: ToolCall,
        id: String,
        question: &AskOptions,
        cancelled: CancellationToken,
    ) -> GatekeeperAnswer {
        match self.admit(call, &id, question, &cancelled).await {
            Ok(decided) if decided.status() == ExecutionStatus::Executing => {
                self.0.running.track_allowed(id, &decided).await;
                let rules = self.0.gate.rules_granted_by(&decided).await.unwrap_or_default();
                let input = decided.input_to_run();
                let changed =
                    decided.basis().edited_from.is_some() || *input != decided.call().input;
                let input = input.as_object().filter(|_| changed).cloned();
                GatekeeperAnswer::Allow { input, rules }
            }
            Ok(refused) => {
                self.0.running.track_answered(id);
                let told = refused.to_tool_output().map(|answer| answer.content);
                GatekeeperAnswer::Deny(told.unwrap_or_else(|| "It was not allowed".to_owned()))
            }
            Err(error) => GatekeeperAnswer::Deny(not_recorded(&error)),
        }
    }

    /// Takes one call from its submission to a lease for the CLI, or to what says why there is none.
    async fn admit(
        &self,
        call: ToolCall,
        id: &str,
        question: &AskOptions,
        cancelled: &CancellationToken,
    ) -> Result<Execution, GateError> {
        let GatekeeperInner { gate, planners, terms, .. } = &*self.0;
        let terms =
            CallTerms::new(planners(&call.tool_name), *terms).with_question(question.clone());
        let entry = match self.0.running.withdraw_call(id).await {
            // The hook had let it pass; now it is asked for, before it has run.
            Some(stale) => {
                let why = question.must_ask.clone().unwrap_or_default();
                CallEntry::Again { stale, why: ExecutionFailure::new(FailureKind::Asked, why) }
            }
            None => CallEntry::New(call),
        };
        let driver = CliCallDriver { keeper: &self.0, cancelled };
        gate.admit_remote(entry, &terms, CLI_LEASE, &driver).await
    }

    /// Records what a call gave back; returns whether the log tells of it already.
    pub(super) async fn record_result(&self, tool_use: &str, output: ToolOutput) -> bool {
        self.calls().folders.remove(tool_use);
        self.0.running.record_result(tool_use, output).await
    }

    /// Looks at what is left to look at, when the CLI is gone.
    pub(super) async fn close(&self) {
        self.0.running.close().await;
    }

    /// Settles what was let pass and never told of: the session has ended.
    pub(super) async fn settle_unreported(&self) {
        self.0.running.settle_unreported().await;
    }

    fn call_of(&self, input: &HookInput) -> Option<(ToolCall, String)> {
        let (tool, tool_input) = input.tool()?;
        let id = input.tool_use_id.clone()?;
        let named = input.raw.get("agent_type").and_then(Value::as_str);
        let agent = input.agent_id.as_ref().map(|agent| self.agent(agent, named));
        let folder = input.cwd.as_ref().map(PathBuf::from).filter(|folder| folder.is_absolute());
        if let Some(folder) = &folder {
            self.calls().folders.insert(id.clone(), folder.clone());
        }
        Some((self.call(tool, tool_input, &id, agent, folder), id))
    }

    /// Returns what a subagent is called, as far as anybody has said.
    fn agent(&self, id: &str, named: Option<&str>) -> String {
        let mut calls = self.calls();
        if let Some(named) = named {
            calls.agents.insert(id.to_owned(), named.to_owned());
        }
        calls.agents.get(id).cloned().unwrap_or_else(|| id.to_owned())
    }

    fn call(
        &self,
        tool: &str,
        input: &Map<String, Value>,
        tool_use: &str,
        agent: Option<String>,
        folder: Option<PathBuf>,
    ) -> ToolCall {
        let ClaudeCallOrigin { project, session, run, cwd } = self.0.asker.clone();
        let cwd = folder.unwrap_or(cwd);
        ToolCall {
            id: new_id(),
            project,
            session,
            run,
            tool_use_id: tool_use.into(),
            tool_name: tool.to_owned(),
            input: Value::Object(input.clone()),
            cwd,
            executor: Executor::ClaudeCli,
            agent,
        }
    }

    fn calls(&self) -> MutexGuard<'_, ObservedCalls> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call of the CLI on its way through the gate.
struct CliCallDriver<'a> {
    keeper: &'a GatekeeperInner,
    cancelled: &'a CancellationToken,
}

impl CallDriver for CliCallDriver<'_> {
    type Error = GateError;
    type Turn<'t>
        = ()
    where
        Self: 't;

    async fn take_turn(&self) -> Result<(), GateError> {
        Ok(())
    }

    /// Tries a command out, and takes the request back when the CLI no longer wants it.
    async fn while_waiting(&self, asked: &Execution) -> Result<(), GateError> {
        let GatekeeperInner { gate, bash, .. } = self.keeper;
        let bash = bash.as_ref().filter(|_| asked.call().tool_name == "Bash");
        let _rehearsal = RehearsalTask::begin(gate, bash, asked).await;
        self.cancelled.cancelled().await;
        Ok(gate.cancel(asked.id()).await?)
    }

    fn patience(&self) -> RecordingPatience<'_> {
        RecordingPatience::Once
    }
}

fn asks(checked: &CallCheck) -> bool {
    checked.verdict.outcome == VerdictAction::Ask
}

fn own_reason(request: &ToolRequest) -> String {
    if QUESTIONS.contains(&request.tool_name.as_str()) {
        return "it is a question to you".to_owned();
    }
    let own = "Claude Code's own settings ask for this";
    match &request.decision_reason {
        Some(reason) => format!("{own}: {reason}"),
        None => own.to_owned(),
    }
}

fn unreadable() -> HookOutput {
    HookOutput::deny("the call could not be read, so it was not run")
}

fn not_recorded(error: &GateError) -> String {
    let error: &dyn std::error::Error = error;
    tracing::error!(error, "a call of Claude Code could not be recorded");
    "The call could not be recorded, so it was not run".to_owned()
}
