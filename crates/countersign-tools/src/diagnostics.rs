//! Diagnostics: what the compiler and the linter of the project have to say.
//!
//! Checkers run the project's own code (build scripts, macros, plug-ins), so a call is planned as the
//! commands it runs, and rules about those hold for it, too.

mod checker;
mod message;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use countersign_core::{
    CallPlan, Effect, InvalidCall, Permit, Planner, Preview, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::checker::{CheckerRun, CodeChecker};
use self::message::CheckerReport;
use crate::child_command::ChildCommand;
use crate::escape::escape_to_line;
use crate::machine::LocalMachine;
use crate::process::{self, Environment, ProcessEnd, ProcessLaunch};
use crate::sandbox::{Sandbox, SandboxedCommand};
use crate::tool::{NeedsApproval, Tool, ToolError, VerifiedPermit};
use crate::workspace::Workspace;
use crate::{input, path_effects};

const DESCRIPTION: &str = "\
Runs the checker of the project and returns its errors and warnings, each with file, line and column.

- Rust: `cargo check`. TypeScript: `tsc`. Python: `ruff` and `pyright`, whichever are installed. Which one \
runs is told by `Cargo.toml`, `tsconfig.json`, `pyproject.toml` and the like, in the folder or above it.
- `path` is a file or folder: only messages about it are returned. Leave it out for the working directory.
- `checker` picks one of `cargo`, `tsc`, `ruff`, `pyright`.
- Use it after you changed code, before you say that you are done. It runs no tests: use Bash for those.
- Errors come first, 100 messages at most; the answer says how many there are in all.";

/// How long a checker may take.
const TIME_LIMIT: Duration = Duration::from_mins(5);

/// How many characters of either end of what a checker says are read.
const KEPT: usize = 4 * 1024 * 1024;

/// The tool that asks the checker.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    workspace: Workspace,
    environment: Environment,
    needs_approval: NeedsApproval,
    sandbox: Sandbox,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DiagnosticsInput {
    /// The file or folder to check. Leave it out for the working directory.
    path: Option<String>,
    /// The checker to run. Leave it out for those that fit the project.
    checker: Option<CodeChecker>,
}

/// An input, understood.
struct DiagnosticsQuery {
    path: String,
    /// Where it leads.
    about: PathBuf,
    reads: Effect,
    checks: Vec<CheckerRun>,
}

impl Diagnostics {
    /// Returns the tool, not asking before it runs. Checkers see `environment` and nothing else.
    pub fn new(workspace: Workspace, environment: Environment) -> Self {
        Self { workspace, environment, needs_approval: false.into(), sandbox: Sandbox::off() }
    }

    /// Runs checkers inside a sandbox.
    #[must_use]
    pub fn with_sandbox(self, sandbox: Sandbox) -> Self {
        Self { sandbox, ..self }
    }

    /// Sets whether it asks before it runs.
    #[must_use]
    pub fn with_needs_approval(self, needs_approval: impl Into<NeedsApproval>) -> Self {
        Self { needs_approval: needs_approval.into(), ..self }
    }

    fn read(&self, call: &ToolCall) -> Result<DiagnosticsQuery, InvalidCall> {
        let DiagnosticsInput { path, checker } = input::parse(call)?;
        let path = path.unwrap_or_else(|| ".".to_owned());
        let target = self.workspace.find(&call.cwd, &path)?;
        let about = target.path.clone();
        let reads = path_effects::read_effect(&path, target)?;
        let fitting = CheckerRun::fitting(&about, self.workspace.roots(), checker);
        if fitting.is_empty() {
            return Err(InvalidCall(format!(
                "no checker fits `{}`: there is no `Cargo.toml`, `tsconfig.json`, `pyproject.toml` or \
                 the like, in it or above it; run what fits with Bash",
                escape_to_line(&path)
            )));
        }
        let search_path = self.environment.get("PATH").unwrap_or_default();
        let (checks, missing): (Vec<_>, Vec<_>) =
            fitting.into_iter().map(|check| check.found(search_path)).partition(Result::is_ok);
        let checks: Vec<CheckerRun> = checks.into_iter().flatten().collect();
        if checks.is_empty() {
            let names: Vec<_> = missing.into_iter().filter_map(Result::err).collect();
            return Err(InvalidCall(format!("not installed: {}", names.join(", "))));
        }
        Ok(DiagnosticsQuery { path, about, reads, checks })
    }

    async fn check(
        &self,
        permit: &Permit,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let search = self.read(permit.call())?;
        let mut messages = CheckerReport::new(&permit.call().cwd, &search.about);
        for check in &search.checks {
            self.ask(permit, check, &mut messages, cancel).await?;
        }
        Ok(messages.into_output())
    }

    /// Returns how a checker is started: inside, with what was judged.
    async fn confined(
        &self,
        permit: &Permit,
        check: &CheckerRun,
        cancel: &CancellationToken,
    ) -> Result<SandboxedCommand, ToolError> {
        let child = ChildCommand {
            program: check.program.clone(),
            arguments: check.arguments().map(str::to_owned).collect(),
            cwd: check.folder.clone(),
            environment: self.environment.clone(),
        };
        let view = child.view(&self.workspace, permit);
        child.confined(&self.sandbox, view, cancel).await
    }

    async fn ask(
        &self,
        permit: &Permit,
        check: &CheckerRun,
        messages: &mut CheckerReport<'_>,
        cancel: &CancellationToken,
    ) -> Result<(), ToolError> {
        let confined = self.confined(permit, check, cancel).await?;
        let arguments: Vec<&str> = confined.arguments().iter().map(String::as_str).collect();
        let launch = ProcessLaunch {
            program: confined.program(),
            arguments: &arguments,
            cwd: &check.folder,
            environment: confined.environment(),
            time_limit: TIME_LIMIT,
            keep: KEPT,
            listener: None,
        };
        let started = process::run_watched(launch, confined.watch(), cancel).await;
        let ended = started.map_err(|cause| not_run(check, cause))?;
        let exceeded = ended.exceeded;
        let (stdout, stderr) =
            (ended.stdout.into_text_within(2 * KEPT), ended.stderr.into_text_within(4_000));
        match ended.end {
            ProcessEnd::Cancelled => return Err(ToolError::Interrupted),
            ProcessEnd::TimedOut => messages.note(format!(
                "`{}` was ended after {} seconds: there may be more",
                check.line(),
                TIME_LIMIT.as_secs()
            )),
            ProcessEnd::Exited(_) => {}
        }
        for note in confined.notes(&[&stderr], exceeded) {
            messages.note(note);
        }
        let found = check.checker.messages(&stdout);
        let failed = !matches!(ended.end, ProcessEnd::Exited(status) if status.success());
        if found.is_empty() && failed {
            messages
                .failed(&check.line(), if stderr.trim().is_empty() { &stdout } else { &stderr });
        }
        messages.take(&check.folder, found);
        Ok(())
    }
}

impl Planner for Diagnostics {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let DiagnosticsQuery { path, reads, checks, .. } = self.read(call)?;
        let lines: Vec<String> = checks.iter().map(|check| format!("`{}`", check.line())).collect();
        let summary = format!("Check `{}` with {}", escape_to_line(&path), lines.join(" and "));
        let machine = LocalMachine::new(&self.workspace, &self.environment);
        let (mut effects, mut commands) = (vec![reads], Vec::new());
        for check in &checks {
            let understood = machine.analyse_command(&check.line(), &check.folder, &[]);
            effects.extend(understood.effects);
            let floors = understood.floors.into_iter();
            effects.extend(floors.map(|floor| Effect::Forbidden { why: floor.reason }));
            commands.extend(understood.parts);
        }
        let sandboxed = self.sandbox.level().holds();
        Ok(CallPlan { commands, sandboxed, ..CallPlan::new(effects, summary) })
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        self.read(call)?;
        Ok(input::as_preview(call))
    }
}

fn not_run(check: &CheckerRun, cause: std::io::Error) -> ToolError {
    ToolError::Io { doing: "run", path: check.line(), cause }
}

/// Returns the folder of a path: itself, or the one it is in.
fn folder_of(path: &Path) -> &Path {
    if path.is_dir() { path } else { path.parent().unwrap_or(path) }
}

#[async_trait]
impl Tool for Diagnostics {
    fn name(&self) -> &'static str {
        "Diagnostics"
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn input_schema(&self) -> Value {
        input::schema_of::<DiagnosticsInput>()
    }

    async fn needs_approval(&self, params: &Value) -> bool {
        self.needs_approval.applies_to(params).await
    }

    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.check(&permit, &cancel).await
    }
}
