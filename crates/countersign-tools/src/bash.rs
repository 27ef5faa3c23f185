//! Bash: runs a shell command, within bounds of time and output.

mod rehearse;
mod warnings;

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use countersign_core::{
    CallPlan, CommandPreview, Effect, InvalidCall, Planner, Preview, ToolCall, ToolOutput, shell,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::child_command::ChildCommand;
use crate::escape::escape_to_line;
use crate::executor;
use crate::input;
use crate::machine::LocalMachine;
use crate::process::{self, Environment, FinishedProcess, ProcessEnd, ProcessLaunch};
use crate::rehearsal::{RehearsalError, StagedRehearsal};
use crate::sandbox::{IsolationLevel, Sandbox, SandboxedCommand};
use crate::text::format_duration;
use crate::tool::{NeedsApproval, Tool, ToolError, VerifiedPermit};
use crate::workspace::Workspace;

/// What the model is told of the sandbox, where there is one.
const IN_SANDBOX: &str = "
- Commands run in a sandbox: they write in the workspace, in `/tmp` (which is gone after the call) and to \
single files elsewhere that the command itself names and a person said yes to, see no files that hold \
keys, and reach the network only over HTTP(S) and only where the command itself names the host or is known \
to use it. When the sandbox was in the way, the output says so at its end. If a command cannot work \
inside, set `dangerouslyDisableSandbox` and say why in `description`: a person is asked every time.";

/// The same where the sandbox is a fence alone, which guards nothing within the workspace.
const BEHIND_FENCE: &str = "
- Commands run behind a fence: they write in the workspace and in `$TMPDIR` (which is gone after the call), \
see no keys outside the workspace, and reach no network. Within the workspace nothing is hidden or \
protected: do not read files that hold keys. When the fence was in the way, the output says so at its end. \
If a command cannot work inside, set `dangerouslyDisableSandbox` and say why in `description`: a person is \
asked every time.";

const DESCRIPTION: &str = "\
Runs a command in bash and returns its output.

- Each call starts a new shell in the working directory: `cd` and variables do not carry over. Chain \
commands that belong together with `&&`.
- Quote paths that contain spaces.
- Nothing can be typed in: use flags that answer questions (`-y`), never an editor or a pager.
- `timeout` is in milliseconds: 120000 (2 minutes) unless you set it, 600000 (10 minutes) at most. When \
it is reached, the command and everything it started is ended and you get the output so far.
- Everything a command leaves running in the background is ended when the command returns.
- Standard output comes first, then standard error, then the exit code if it is not 0. Of output longer \
than 30000 characters you see the start and the end; redirect it to a file in the workspace if you need \
all of it.
- Say in `description` what the command does, in one short sentence: the user reads it before deciding.
- Use Read, Edit, Write, Glob and Grep instead of `cat`, `sed`, `echo >`, `find` and `grep`: they are \
easier to review.
- Do not commit, push or install anything unless the user asks for it.";

/// Where bash is.
const SHELLS: [&str; 2] = ["/bin/bash", "/usr/bin/bash"];

const DEFAULT_TIMEOUT: u64 = 120_000;
const LONGEST_TIMEOUT: u64 = 600_000;

/// How many characters of output the model gets.
const OUTPUT_LIMIT: usize = 30_000;

/// The tool that runs shell commands.
#[derive(Clone, Debug)]
pub struct Bash {
    workspace: Workspace,
    environment: Environment,
    /// What the call itself sets on top; part of the environment already.
    call_env: Vec<(String, String)>,
    needs_approval: NeedsApproval,
    sandbox: Sandbox,
    description: Cow<'static, str>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BashInput {
    /// The command to run.
    command: String,
    /// After how many milliseconds to end it (default 120000, at most 600000).
    timeout: Option<NonZeroU64>,
    /// What the command does, in one short sentence.
    description: Option<String>,
    /// Runs it outside the sandbox; a person is asked every time.
    #[serde(default, rename = "dangerouslyDisableSandbox")]
    leaves_sandbox: Option<bool>,
}

impl Bash {
    /// Returns the tool, asking before it runs. Commands see `environment` and nothing else.
    pub fn new(workspace: Workspace, environment: Environment) -> Self {
        Self {
            workspace,
            environment,
            call_env: Vec::new(),
            needs_approval: true.into(),
            sandbox: Sandbox::off(),
            description: DESCRIPTION.into(),
        }
    }

    /// Runs commands inside a sandbox, but for those that a person lets out of it.
    #[must_use]
    pub fn with_sandbox(self, sandbox: Sandbox) -> Self {
        let description = match sandbox.level() {
            IsolationLevel::None => DESCRIPTION.into(),
            IsolationLevel::Fence => format!("{DESCRIPTION}{BEHIND_FENCE}").into(),
            IsolationLevel::View | IsolationLevel::Full => {
                format!("{DESCRIPTION}{IN_SANDBOX}").into()
            }
        };
        Self { sandbox, description, ..self }
    }

    /// Sets variables that the call brings along: commands see them, and the reading heeds them.
    #[must_use]
    pub fn with_call_env(self, call_env: Vec<(String, String)>) -> Self {
        Self { environment: self.environment.with(&call_env), call_env, ..self }
    }

    /// Sets whether it asks before it runs.
    #[must_use]
    pub fn with_needs_approval(self, needs_approval: impl Into<NeedsApproval>) -> Self {
        Self { needs_approval: needs_approval.into(), ..self }
    }
}

impl Bash {
    /// Reads what a command would do, part by part.
    fn understood(&self, command: &str, cwd: &Path) -> shell::CommandAnalysis {
        LocalMachine::new(&self.workspace, &self.environment).analyse_command(
            command,
            cwd,
            &self.call_env,
        )
    }

    /// Returns how the command is started: inside, with what was judged, unless it leaves.
    async fn confined(
        &self,
        permit: &VerifiedPermit,
        input: &BashInput,
        shell: &Path,
        cancel: &CancellationToken,
    ) -> Result<SandboxedCommand, ToolError> {
        let sandbox = if input.leaves() { Sandbox::off() } else { self.sandbox.clone() };
        let child = match permit.canonical() {
            Some(canonical) => self.executed(canonical, permit, shell)?,
            None => self.child(input, &permit.call().cwd, shell),
        };
        let view = child.view(&self.workspace, permit);
        child.confined(&sandbox, view, cancel).await
    }

    /// Returns how a command is started that nobody was asked about: in its canonical form.
    fn executed(
        &self,
        canonical: &shell::CanonicalCommandLine,
        permit: &VerifiedPermit,
        shell: &Path,
    ) -> Result<ChildCommand, ToolError> {
        let (script, environment) =
            executor::prepare(canonical, permit.effects(), &self.environment);
        let script = serde_json::to_string(&script).map_err(|_| ToolError::Broken)?;
        let (program, arguments) = match self.sandbox.launcher().split_first() {
            Some(_) if self.sandbox.level() != IsolationLevel::None => {
                (PathBuf::from(executor::MARK), vec![script])
            }
            Some((launcher, rest)) => {
                let words = rest.iter().cloned().chain([executor::MARK.to_owned(), script]);
                (PathBuf::from(launcher), words.collect())
            }
            // A program that only embeds the library has no executor: bash reads the canonical text.
            None => {
                let words = ["--norc", "--noprofile", "-c", &canonical.text];
                (shell.to_owned(), words.map(str::to_owned).to_vec())
            }
        };
        let cwd = permit.call().cwd.clone();
        Ok(ChildCommand { program, arguments, cwd, environment })
    }

    fn child(&self, input: &BashInput, cwd: &Path, shell: &Path) -> ChildCommand {
        ChildCommand {
            program: shell.to_owned(),
            arguments: vec!["-c".to_owned(), input.command.clone()],
            cwd: cwd.to_owned(),
            environment: self.environment.clone(),
        }
    }
}

fn not_run(shell: &Path, cause: std::io::Error) -> ToolError {
    ToolError::Io { doing: "run", path: shell.display().to_string(), cause }
}

fn read(call: &ToolCall) -> Result<BashInput, InvalidCall> {
    let input: BashInput = input::parse(call)?;
    if input.command.trim().is_empty() {
        return Err(InvalidCall("`command` is empty: say what to run".to_owned()));
    }
    if input.command.contains('\0') {
        return Err(InvalidCall("`command` holds a NUL character: no shell takes it".to_owned()));
    }
    if input.time_limit() > LONGEST_TIMEOUT {
        return Err(InvalidCall(format!(
            "`timeout`: at most {LONGEST_TIMEOUT} milliseconds; split what takes longer"
        )));
    }
    Ok(input)
}

impl BashInput {
    fn leaves(&self) -> bool {
        self.leaves_sandbox == Some(true)
    }

    fn time_limit(&self) -> u64 {
        self.timeout.map_or(DEFAULT_TIMEOUT, NonZeroU64::get)
    }
}

impl Planner for Bash {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let input = read(call)?;
        let command = escape_to_line(&input.command);
        let leaves = input.leaves();
        let summary = if leaves {
            format!("Run `{command}` outside the sandbox")
        } else {
            format!("Run `{command}`")
        };
        let understood = self.understood(&input.command, &call.cwd);
        let mut effects = understood.effects;
        effects.extend(leaves.then_some(Effect::LeavesSandbox));
        effects.extend(
            understood.floors.into_iter().map(|floor| Effect::Forbidden { why: floor.reason }),
        );
        let sandboxed = self.sandbox.level().holds() && !leaves;
        let (commands, canonical) = (understood.parts, understood.canonical);
        Ok(CallPlan { effects, summary, commands, sandboxed, canonical })
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        let input = read(call)?;
        let mut warnings = warnings::find_warnings(&input.command, &call.cwd, &self.workspace);
        if input.leaves() {
            let leaving = "runs outside the sandbox: it can do anything its user can";
            warnings.insert(0, leaving.to_owned());
        }
        Ok(Preview::Command(CommandPreview {
            warnings,
            cwd: call.cwd.display().to_string(),
            timeout_ms: input.time_limit(),
            description: input.description,
            command: input.command,
            parts: Vec::new(),
            canonical: None,
            rehearsal: None,
        }))
    }
}

#[async_trait]
impl Tool for Bash {
    fn name(&self) -> &'static str {
        "Bash"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> Value {
        input::schema_of::<BashInput>()
    }

    async fn needs_approval(&self, params: &Value) -> bool {
        self.needs_approval.applies_to(params).await
    }

    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        if cancel.is_cancelled() {
            return Err(ToolError::Interrupted);
        }
        let cwd = &permit.call().cwd;
        let input = read(permit.call())?;
        let shell = bash().ok_or_else(|| {
            ToolError::invalid(format!("there is no bash on this machine: {}", SHELLS.join(", ")))
        })?;
        if !tokio::fs::metadata(cwd).await.is_ok_and(|metadata| metadata.is_dir()) {
            return Err(ToolError::invalid(format!(
                "the working directory `{}` does not exist any more",
                cwd.display()
            )));
        }
        let time_limit = Duration::from_millis(input.time_limit());
        let confined = self.confined(&permit, &input, shell, &cancel).await?;
        let started = carried_out(&confined, cwd, time_limit, &cancel).await;
        let ended = started.map_err(|cause| not_run(shell, cause))?;
        answer(ended, time_limit, &confined).map(|answer| answer.output)
    }

    fn rehearses(&self) -> bool {
        true
    }

    async fn rehearse(
        &self,
        call: &ToolCall,
        cancel: CancellationToken,
    ) -> Result<StagedRehearsal, RehearsalError> {
        self.try_out(call, &cancel).await
    }
}

/// Runs a confined command to its end.
async fn carried_out(
    confined: &SandboxedCommand,
    cwd: &Path,
    time_limit: Duration,
    cancel: &CancellationToken,
) -> std::io::Result<FinishedProcess> {
    let arguments: Vec<_> = confined.arguments().iter().map(String::as_str).collect();
    let launch = ProcessLaunch {
        program: confined.program(),
        arguments: &arguments,
        cwd,
        environment: confined.environment(),
        time_limit,
        keep: OUTPUT_LIMIT / 2,
        listener: None,
    };
    process::run_watched(launch, confined.watch(), cancel).await
}

/// Some walls are told by a signal alone, which a shell passes on as a code.
fn signalled(code: i32) -> Option<&'static str> {
    match code - 128 {
        25 => Some("File size limit exceeded"),
        31 => Some("Bad system call"),
        _ => None,
    }
}

fn bash() -> Option<&'static Path> {
    SHELLS.iter().map(Path::new).find(|shell| shell.exists())
}

/// What a command gives back.
struct BashResult {
    output: ToolOutput,
    /// What it had to do with its walls; part of the output.
    notes: Vec<String>,
}

fn answer(
    ended: FinishedProcess,
    time_limit: Duration,
    confined: &SandboxedCommand,
) -> Result<BashResult, ToolError> {
    let (closing, is_error) = match ended.end {
        ProcessEnd::Cancelled => return Err(ToolError::Interrupted),
        ProcessEnd::TimedOut => {
            (Some(format!("Command timed out after {}", format_duration(time_limit))), true)
        }
        ProcessEnd::Exited(status) if status.success() => (None, false),
        ProcessEnd::Exited(status) => {
            let closing = match (status.code(), status.signal()) {
                (Some(code), _) => format!("Exit code {code}"),
                (None, Some(signal)) => format!("Ended by {}", process::signal_name(signal)),
                (None, None) => "Ended in an unknown way".to_owned(),
            };
            (Some(closing), true)
        }
    };
    let exceeded = ended.exceeded;
    let by_signal = match ended.end {
        ProcessEnd::Exited(status) => status.code().and_then(signalled),
        ProcessEnd::TimedOut | ProcessEnd::Cancelled => None,
    };
    let (stdout, stderr) = ended.texts(OUTPUT_LIMIT);
    // What a command prints that succeeds is seldom about walls.
    let mut told = if is_error { vec![stdout.as_str(), &stderr] } else { vec![stderr.as_str()] };
    told.extend(by_signal);
    let notes = confined.notes(&told, exceeded);
    let mut parts = vec![stdout, stderr, closing.unwrap_or_default()];
    parts.extend(notes.iter().cloned());
    let mut content = String::new();
    for part in parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()) {
        if !content.is_empty() {
            content.push('\n');
        }
        content.push_str(part);
    }
    if content.is_empty() {
        content.push_str("(no output)");
    }
    let output = ToolOutput { is_error, ..ToolOutput::ok(content) };
    Ok(BashResult { output, notes })
}
