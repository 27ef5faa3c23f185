//! Diagnostics: what the compiler and the linter of the project have to say.
//!
//! Checkers run the project's own code (build scripts, macros, plug-ins), so a call is planned as the
//! commands it runs, and rules about those hold for it, too.

mod checker;
mod message;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use countersign_core::{CallPlan, Effect, InvalidCall, PermitTerms, ToolCall, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::checker::{CheckerRun, CodeChecker};
use self::message::CheckerReport;
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::workspace::Workspace;
use crate::machine::process::ProcessEnd;
use crate::machine::{Environment, LocalMachine};
use crate::sandbox::{Sandbox, SandboxedCommand};
use crate::tool::child_command::ChildCommand;
use crate::tool::{AsyncTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

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
pub type Diagnostics = ToolAdapter<DiagnosticsTool>;

/// How [`Diagnostics`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct DiagnosticsTool {
    workspace: Workspace,
    environment: Environment,
    sandbox: Sandbox,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiagnosticsInput {
    /// The file or folder to check. Leave it out for the working directory.
    path: Option<String>,
    /// The checker to run. Leave it out for those that fit the project.
    checker: Option<CodeChecker>,
}

/// An input, understood.
pub(crate) struct DiagnosticsQuery {
    path: String,
    /// Where it leads.
    about: PathBuf,
    reads: Effect,
    checks: Vec<CheckerRun>,
}

impl Diagnostics {
    /// Returns the tool, not asking before it runs. Checkers see `environment` and nothing else.
    pub fn new(workspace: Workspace, environment: Environment) -> Self {
        let sandbox = Sandbox::off();
        Self::for_tool(DiagnosticsTool { workspace, environment, sandbox }, false)
    }

    /// Runs checkers inside a sandbox.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: Sandbox) -> Self {
        self.tool.sandbox = sandbox;
        self
    }
}

impl DiagnosticsTool {
    async fn run_checkers(
        &self,
        permit: &PermitTerms,
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
    async fn confine(
        &self,
        permit: &PermitTerms,
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
        child.confine(&self.sandbox, view, cancel).await
    }

    async fn ask(
        &self,
        permit: &PermitTerms,
        check: &CheckerRun,
        messages: &mut CheckerReport<'_>,
        cancel: &CancellationToken,
    ) -> Result<(), ToolError> {
        let confined = self.confine(permit, check, cancel).await?;
        let started = confined.run(&check.folder, TIME_LIMIT, KEPT, None, cancel).await;
        let ended = started.map_err(|cause| not_run_error(check, cause))?;
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
            messages.note_failure(
                &check.line(),
                if stderr.trim().is_empty() { &stdout } else { &stderr },
            );
        }
        messages.take(&check.folder, found);
        Ok(())
    }
}

impl TypedTool for DiagnosticsTool {
    const NAME: &'static str = "Diagnostics";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = DiagnosticsInput;
    type CheckedInput = DiagnosticsQuery;

    fn check(
        &self,
        input: DiagnosticsInput,
        call: &ToolCall,
    ) -> Result<Self::CheckedInput, InvalidCall> {
        let DiagnosticsInput { path, checker } = input;
        let path = path.unwrap_or_else(|| ".".to_owned());
        let target = self.workspace.find(&call.cwd, &path)?;
        let about = target.path.clone();
        let reads = path_effects::read_effect(&path, target)?;
        let fitting = CheckerRun::find_fitting(&about, self.workspace.roots(), checker);
        if fitting.is_empty() {
            return Err(InvalidCall(format!(
                "no checker fits `{}`: there is no `Cargo.toml`, `tsconfig.json`, `pyproject.toml` or \
                 the like, in it or above it; run what fits with Bash",
                escape_to_line(&path)
            )));
        }
        let search_path = self.environment.get("PATH").unwrap_or_default();
        let (checks, missing): (Vec<_>, Vec<_>) = fitting
            .into_iter()
            .map(|check| check.find_program(search_path))
            .partition(Result::is_ok);
        let checks: Vec<CheckerRun> = checks.into_iter().flatten().collect();
        if checks.is_empty() {
            let names: Vec<_> = missing.into_iter().filter_map(Result::err).collect();
            return Err(InvalidCall(format!("not installed: {}", names.join(", "))));
        }
        Ok(DiagnosticsQuery { path, about, reads, checks })
    }

    fn plan(
        &self,
        DiagnosticsQuery { path, reads, checks, .. }: Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<CallPlan, InvalidCall> {
        let lines: Vec<String> = checks.iter().map(|check| format!("`{}`", check.line())).collect();
        let summary = format!("Check `{}` with {}", escape_to_line(&path), lines.join(" and "));
        let machine = LocalMachine::new(&self.workspace, &self.environment);
        let (mut effects, mut commands) = (vec![reads], Vec::new());
        for check in &checks {
            let understood = machine.analyse_command(&check.line(), &check.folder, &[]);
            effects.extend(understood.effects);
            let denials = understood.denials.into_iter();
            effects.extend(denials.map(|denial| Effect::Forbidden { why: denial.reason }));
            commands.extend(understood.parts);
        }
        let sandboxed = self.sandbox.level().holds();
        Ok(CallPlan { commands, sandboxed, ..CallPlan::new(effects, summary) })
    }
}

#[async_trait]
impl AsyncTool for DiagnosticsTool {
    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.run_checkers(&permit, &cancel).await
    }
}

fn not_run_error(check: &CheckerRun, cause: std::io::Error) -> ToolError {
    ToolError::Io { doing: "run", path: check.line(), cause }
}

/// Returns the folder of a path: itself, or the one it is in.
fn folder_of(path: &Path) -> &Path {
    if path.is_dir() { path } else { path.parent().unwrap_or(path) }
}
