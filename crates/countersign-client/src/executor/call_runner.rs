//! The calls this client executes: each once, a few at a time, reported until the server has heard.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use countersign_api::lease::LeaseShown;
use countersign_api::received::ReceivedSignal;
use countersign_api::tool_result::{FILE_CHANGED, ResultBody};
use countersign_core::{ExecutionId, ToolOutput};
use countersign_gate::{Clock, SystemClock};
use countersign_tools::ToolError;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::executor_event::{CallCompletion, CallLabel, ExecutorEvent};
use super::lease::{LeaseLoss, OutputBuffers, RenewableLease};
use super::local_executor::LocalExecutor;
use crate::api_client::ApiClient;
use crate::retry::retry_delays;

/// How many calls run at the same time.
const SLOTS: usize = 4;

/// For how long a result is offered to a server that is away.
const OFFERED: Duration = Duration::from_mins(10);

/// The same once the client is told to stop.
const OFFERED_AT_END: Duration = Duration::from_secs(5);

/// How long one offer may take: a result can be large, and the way narrow.
const HANDING: Duration = Duration::from_mins(3);

/// How often is said that something still runs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why everything is stopped in the end.
const CLIENT_STOPPED: &str = "the client was stopped";

/// Hears what the executor does.
pub type ExecutorListener = Arc<dyn Fn(ExecutorEvent) + Send + Sync>;

/// All calls that were given to this process.
pub struct CallRunner {
    context: Arc<ExecContext>,
    // INVARIANT: never forgets an id, so that none is executed twice.
    known: HashMap<ExecutionId, Arc<StopHandle>>,
    tasks: TaskTracker,
}

/// What every call needs.
struct ExecContext {
    server: ApiClient,
    listener: ExecutorListener,
    local: Arc<LocalExecutor>,
    outputs: Arc<OutputBuffers>,
    slots: Semaphore,
    /// The client is to end.
    ending: CancellationToken,
}

/// Tells a call to stop, and why.
#[derive(Default)]
struct StopHandle {
    token: CancellationToken,
    why: OnceLock<String>,
}

/// What came of a call.
enum ClientCallOutcome {
    Done(ToolOutput),
    /// It could not be done.
    Failed(String),
    /// It was not done: what is here is not what was shown.
    Drifted(String),
    /// It was not done, or broken off: whether there is a point in saying so depends on why.
    Broken,
}

impl CallRunner {
    /// Returns a runner of calls that a server lends to this machine.
    pub fn new(server: ApiClient, local: Arc<LocalExecutor>, listener: ExecutorListener) -> Self {
        let (slots, ending) = (Semaphore::new(SLOTS), CancellationToken::new());
        let outputs = local.outputs();
        let context = ExecContext { server, listener, local, outputs, slots, ending };
        Self { context: Arc::new(context), known: HashMap::new(), tasks: TaskTracker::new() }
    }

    /// Takes a call, unless it was taken before.
    pub fn take(&mut self, signal: ReceivedSignal) {
        if self.known.contains_key(&signal.tool_id) || self.context.ending.is_cancelled() {
            return;
        }
        let halt = Arc::new(StopHandle {
            token: self.context.ending.child_token(),
            ..StopHandle::default()
        });
        self.known.insert(signal.tool_id, Arc::clone(&halt));
        let context = Arc::clone(&self.context);
        self.tasks.spawn(async move { context.carry_out(&signal, &halt).await });
    }

    /// Stops a call that is over for the server.
    pub fn stop_call(&self, call: ExecutionId, why: &str) {
        if let Some(stop) = self.known.get(&call) {
            let _ = stop.why.set(why.to_owned());
            stop.token.cancel();
        }
    }

    /// Returns how many calls are not done yet.
    pub fn running(&self) -> usize {
        self.tasks.len()
    }

    /// Stops everything and returns once it is stopped and reported.
    pub async fn end(&self) {
        self.context.ending.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl ExecContext {
    async fn carry_out(&self, signal: &ReceivedSignal, halt: &StopHandle) {
        let clock = &SystemClock;
        let lease = RenewableLease::new(signal, &self.server, &self.outputs, clock);
        let step = CallLabel::new(signal.tool_id, &signal.tool_name, &signal.tool_params);
        let began = clock.running_for();
        let (outcome, gone) = self.execute(signal, &lease, halt, &step).await;
        let time = clock.running_for().saturating_sub(began);
        let over = gone.or_else(|| halt.why.get().cloned());
        let outcome = match (outcome, over) {
            // The server knows already.
            (ClientCallOutcome::Broken, Some(why)) => {
                self.outputs.end(signal.tool_id);
                return (self.listener)(ExecutorEvent::Stopped { step, why });
            }
            (ClientCallOutcome::Broken, None) => {
                ClientCallOutcome::Failed(CLIENT_STOPPED.to_owned())
            }
            (outcome, _) => outcome,
        };
        let lease_shown = lease.token().map(|token| LeaseShown::Token(token.to_owned()));
        let (ended, body) = report(&outcome, time, lease_shown);
        (self.listener)(ExecutorEvent::Finished { step: step.clone(), ended });
        // The lease is kept until the server has the result; that it may be gone is then no matter.
        let delivered = tokio::select! {
            delivered = self.deliver(signal.tool_id, body) => delivered,
            never = async { lease.renew_until_lost().await; std::future::pending().await } => never,
        };
        self.outputs.end(signal.tool_id);
        if let Err(why) = delivered {
            (self.listener)(ExecutorEvent::ResultRefused { step, why });
        }
    }

    /// Runs a call while its lease holds; returns what came of it, and why it is not ours any more.
    async fn execute(
        &self,
        signal: &ReceivedSignal,
        lease: &RenewableLease<'_>,
        halt: &StopHandle,
        step: &CallLabel,
    ) -> (ClientCallOutcome, Option<String>) {
        let cancel = halt.token.child_token();
        let running = self.run(signal, lease, &cancel, step);
        let keeping = lease.renew_until_lost();
        let patience = self.grow_impatient(step);
        tokio::pin!(running, keeping, patience);
        let mut gone = None;
        loop {
            tokio::select! {
                outcome = &mut running => {
                    return match outcome {
                        Ok(outcome) => (outcome, gone),
                        Err(LeaseLoss(why)) => (ClientCallOutcome::Broken, Some(why)),
                    };
                }
                LeaseLoss(why) = &mut keeping, if gone.is_none() => {
                    gone = Some(why);
                    // What runs is ended, not dropped: it may have to clean up.
                    cancel.cancel();
                }
                () = &mut patience => {}
            }
        }
    }

    async fn run(
        &self,
        signal: &ReceivedSignal,
        lease: &RenewableLease<'_>,
        cancel: &CancellationToken,
        step: &CallLabel,
    ) -> Result<ClientCallOutcome, LeaseLoss> {
        let ready = async {
            let slot = self.slots.acquire().await;
            lease.confirm().await.map(|()| slot)
        };
        let _slot = tokio::select! {
            ready = ready => ready?,
            () = cancel.cancelled() => return Ok(ClientCallOutcome::Broken),
        };
        (self.listener)(ExecutorEvent::Started(step.clone()));
        let planning = tokio::task::spawn_blocking({
            let (local, signal) = (Arc::clone(&self.local), signal.clone());
            move || local.issue_permit(&signal)
        });
        let (tool, permit) = match planning.await {
            Ok(Ok(granted)) => granted,
            Ok(Err(error)) => return Ok(failed(error)),
            Err(_) => return Ok(ClientCallOutcome::Failed(ToolError::Broken.to_string())),
        };
        Ok(match countersign_tools::run(tool, permit, cancel.clone()).await {
            Ok(output) => ClientCallOutcome::Done(output),
            Err(error) => failed(error),
        })
    }

    /// Says now and then that a call still runs. Never ends.
    async fn grow_impatient(&self, step: &CallLabel) {
        let began = SystemClock.running_for();
        loop {
            SystemClock.sleep(PATIENCE).await;
            let time = SystemClock.running_for().saturating_sub(began);
            let bytes = self.outputs.total(step.id);
            (self.listener)(ExecutorEvent::StillRuns { step: step.clone(), time, bytes });
        }
    }

    /// Gives the result to the server, as often as it takes: the same one again does no harm.
    async fn deliver(&self, call: ExecutionId, mut body: ResultBody) -> Result<(), String> {
        let path = ["tools", &call.to_string(), "result"];
        let began = SystemClock.running_for();
        let mut waits = retry_delays();
        loop {
            let Err(error) = self.server.post::<IgnoredAny>(&path, &body, HANDING).await else {
                return Ok(());
            };
            let away = match error.into_refusal() {
                Ok(refusal) if matches!(refusal.status, 400 | 413) => {
                    let Some(instead) = failed_instead(&body, &refusal.message) else {
                        return Err(refusal.message);
                    };
                    body = instead;
                    continue;
                }
                Ok(refusal) => return Err(refusal.message),
                Err(why) => why,
            };
            let ends = self.ending.is_cancelled();
            let patience = if ends { OFFERED_AT_END } else { OFFERED };
            if SystemClock.running_for().saturating_sub(began) > patience {
                return Err(away);
            }
            tokio::select! {
                () = SystemClock.sleep(waits.next().unwrap_or_default()) => {}
                // The last tries come soon.
                () = self.ending.cancelled(), if !ends => waits = retry_delays(),
            }
        }
    }
}

fn failed(error: ToolError) -> ClientCallOutcome {
    match error {
        ToolError::Interrupted => ClientCallOutcome::Broken,
        ToolError::Drift { .. } | ToolError::Moved => ClientCallOutcome::Drifted(error.to_string()),
        error => ClientCallOutcome::Failed(error.to_string()),
    }
}

/// Returns what is told and what is posted of an outcome.
fn report(
    outcome: &ClientCallOutcome,
    time: Duration,
    lease: Option<LeaseShown>,
) -> (CallCompletion, ResultBody) {
    match outcome {
        ClientCallOutcome::Done(output) => {
            let Ok(result) = serde_json::from_str::<Value>(&output.content) else {
                return report_failure(&ToolError::Broken.to_string(), None, time, lease);
            };
            let length = |name| result.get(name).and_then(Value::as_str).map_or(0, str::len);
            let bytes = length("stdout") + length("stderr");
            let exit_code = result.get("exit_code").and_then(Value::as_i64);
            let success = !output.is_error;
            let ended = CallCompletion { success, exit_code, bytes, error: None, time };
            (ended, ResultBody::Completed { result, lease })
        }
        ClientCallOutcome::Failed(error) => report_failure(error, None, time, lease),
        ClientCallOutcome::Drifted(error) => {
            report_failure(error, Some(FILE_CHANGED.to_owned()), time, lease)
        }
        ClientCallOutcome::Broken => report_failure(CLIENT_STOPPED, None, time, lease),
    }
}

fn report_failure(
    error: &str,
    error_type: Option<String>,
    time: Duration,
    lease: Option<LeaseShown>,
) -> (CallCompletion, ResultBody) {
    let ended = CallCompletion {
        success: false,
        exit_code: None,
        bytes: 0,
        error: Some(error.to_owned()),
        time,
    };
    (ended, ResultBody::Failed { error: error.to_owned(), error_type, lease })
}

/// Returns what is said in place of a result that the server cannot take; nothing said is shorter.
fn failed_instead(body: &ResultBody, why: &str) -> Option<ResultBody> {
    let ResultBody::Completed { lease, .. } = body else { return None };
    let error = format!("it ran, but the server did not take its result: {why}");
    Some(ResultBody::Failed { error, error_type: None, lease: lease.clone() })
}
