//! A command tried out: in the sandbox, over a copy-on-write view of the workspace, without the net.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use countersign_core::{
    Effect, EffectTarget, RehearsalEnd, SensitiveKind, ToolCall, WorkspaceSide,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::result::BashResult;
use super::{BashInput, BashTool, OUTPUT_LIMIT, find_bash};
use crate::files::text::format_duration;
use crate::machine::process::{self, FinishedProcess, ProcessEnd};
use crate::sandbox::rehearsal::{RehearsalError, RehearsalOverlay, RehearsalRun, StagedRehearsal};
use crate::sandbox::{ChildView, NOT_SET_UP, SandboxedCommand};
use crate::tool::TypedTool;
use crate::tool::blocking::blocking;
use crate::tool_error::ToolError;

/// How long a rehearsal may take: somebody waits for it.
const LONGEST: Duration = Duration::from_secs(30);

impl BashTool {
    pub(super) async fn try_out(
        &self,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Result<StagedRehearsal, RehearsalError> {
        let input = self.read(call).map_err(ToolError::from)?;
        let shell = find_bash().ok_or_else(|| RehearsalError::because("there is no bash here"))?;
        if !self.sandbox.level().holds() {
            return Err(RehearsalError::because("there is no sandbox here that would hold it"));
        }
        let time_limit = LONGEST.min(Duration::from_millis(input.time_limit()));
        let (stage, confined) = self.set_up_stage(call, &input, shell, cancel).await?;
        let began = Instant::now();
        let running = confined.run(&call.cwd, time_limit, OUTPUT_LIMIT / 2, None, cancel);
        let ended = running.await?;
        let took = began.elapsed();
        let performance = judge_rehearsal(ended, time_limit, took, &confined)?;
        blocking(cancel, move |_| Ok(StagedRehearsal::from_run(stage, performance))).await?
    }

    /// Sets a stage up and returns how the command is started on it.
    async fn set_up_stage(
        &self,
        call: &ToolCall,
        input: &BashInput,
        shell: &'static Path,
        cancel: &CancellationToken,
    ) -> Result<(RehearsalOverlay, SandboxedCommand), RehearsalError> {
        let child = self.original_child(input, &call.cwd, shell);
        let (bash, call) = (self.clone(), call.clone());
        let made = blocking(cancel, move |_| {
            let plan = bash.plan(bash.read(&call)?, &call)?;
            if let Some(why) = plan.effects.iter().find_map(leaves) {
                return Err(ToolError::invalid(why));
            }
            let (workspace, room) = (&bash.workspace, bash.sandbox.room());
            let named = plan.effects.iter().flat_map(Effect::changed_targets);
            let named = named.map(|target| target.path.clone()).collect();
            let stage =
                RehearsalOverlay::set_up(&room, workspace.roots(), workspace.off_limits(), named);
            let stage = stage.map_err(|cause| super::not_run_error(shell, cause))?;
            let home = bash.environment.get("HOME").map(Path::new);
            let view = stage.under(
                ChildView::for_workspace(workspace, home).with_granted_effects(&plan.effects),
            );
            Ok((stage, view))
        });
        let (stage, view) = made.await?;
        let confined = child.confine(&self.sandbox, view, cancel).await?;
        Ok((stage, confined))
    }
}

/// Returns why a command with this effect is not tried out.
fn leaves(effect: &Effect) -> Option<&'static str> {
    let outside = |target: &EffectTarget| target.place.side == WorkspaceSide::Outside;
    let is_secret = |target: &EffectTarget| target.place.special == Some(SensitiveKind::Secret);
    match effect {
        Effect::Net { .. } | Effect::RemoteRead { .. } => Some("it reaches the network"),
        Effect::LeavesSandbox => Some("it asks to run outside the sandbox"),
        Effect::SpawnAgent { .. } => Some("it starts another agent"),
        Effect::Forbidden { .. } => Some("it does what is never allowed"),
        Effect::Write(target) | Effect::Delete(target) | Effect::DeleteAll(target)
            if outside(target) =>
        {
            Some("it changes files outside the workspace")
        }
        Effect::Rename { from, to } if outside(from) || outside(to) => {
            Some("it moves files across the border of the workspace")
        }
        Effect::Read(target) | Effect::ReadAll(target) if is_secret(target) => {
            Some("it reads keys or passwords")
        }
        Effect::Read(_)
        | Effect::ReadAll(_)
        | Effect::Write(_)
        | Effect::Delete(_)
        | Effect::DeleteAll(_)
        | Effect::Rename { .. }
        | Effect::Env { .. }
        | Effect::Exec { .. }
        | Effect::ReadsByName { .. }
        | Effect::RunsLater { .. }
        | Effect::Opaque { .. } => None,
    }
}

fn judge_rehearsal(
    ended: FinishedProcess,
    time_limit: Duration,
    took: Duration,
    confined: &SandboxedCommand,
) -> Result<RehearsalRun, RehearsalError> {
    let (end, exceeded) = (end(&ended, time_limit), ended.exceeded);
    let BashResult { output, notes } = BashResult::from_process(ended, time_limit, confined)?;
    if let Some(why) = find_start_failure(&output.content) {
        return Err(RehearsalError(format!("the workspace cannot be laid over here: {why}")));
    }
    let flaw = match (&end, exceeded) {
        (RehearsalEnd::TimedOut { .. }, _) => {
            Some(format!("it had not ended after {}", format_duration(time_limit)))
        }
        (_, Some(what)) => Some(what.to_string()),
        _ if !notes.is_empty() => {
            Some("the sandbox was in its way: the end of its output says how".to_owned())
        }
        _ => None,
    };
    Ok(RehearsalRun { end, output, took_ms: millis(took), flaw })
}

/// Returns why the command was never started, in the words of who was to start it. A command that says
/// the same is only not kept.
fn find_start_failure(output: &str) -> Option<&str> {
    let line = output.lines().next()?;
    let by_launcher = line.split_once(NOT_SET_UP).map(|(_, why)| why);
    by_launcher.or_else(|| line.strip_prefix("bwrap: "))
}

fn end(ended: &FinishedProcess, time_limit: Duration) -> RehearsalEnd {
    match ended.end {
        ProcessEnd::Exited(status) => match (status.code(), status.signal()) {
            (Some(code), _) => RehearsalEnd::Exited { code },
            (None, signal) => {
                let by = signal.map_or("a signal".to_owned(), process::signal_name);
                RehearsalEnd::Killed { by }
            }
        },
        ProcessEnd::TimedOut | ProcessEnd::Cancelled => {
            RehearsalEnd::TimedOut { after_ms: millis(time_limit) }
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
