//! `execute_command`: a program with its words, run on the client without a shell.
//!
//! The words are judged as a command line that says exactly them, so that the same floors and rules
//! hold as for a shell. The server knows nothing of the machine but what the client says of it: until it
//! has said what a program is, nothing is proven harmless.

mod command_input;
mod remote_machine;

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use countersign_core::shell::{self, CommandAnalysis, Machine as _, PartFinding};
use countersign_core::{
    CallPlan, ClientLook, ClientReadCommand, CommandPreview, Effect, ExecutionId, InvalidCall,
    Planner, Preview, ToolCall, ToolOutput,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::command_input::ExecuteCommandInput;
use super::ClientSide;
use super::report::ClientToolReport;
use super::side::PathUse;
use crate::child_command::{self, ChildCommand};
use crate::escape::escape_to_line;
use crate::machine::LocalMachine;
use crate::process::{self, Environment, FinishedProcess, ProcessEnd, ProcessLaunch};
use crate::sandbox::{IsolationLevel, Sandbox, SandboxedCommand};
use crate::text::format_duration;
use crate::tool::{NeedsApproval, Tool, ToolError, VerifiedPermit};
use crate::{disk, input};

const DESCRIPTION: &str = "\
Runs a program in the project's folder and returns its output and exit code.

- `command` is the program alone, `args` are its words, each as it is: there is no shell, so `&&`, `|`, \
`>`, `*`, `$X` and `~` mean nothing. For those, run `bash` with `-c` and the line as one word.
- `cwd` is a folder of the project to run it in, relative to the project's folder.
- Nothing can be typed in: use flags that answer questions (`-y`), never an editor or a pager.
- `timeout` is in seconds: 60 unless you set it, 3600 at most. When it is reached, the program and \
everything it started is ended and you get the output so far.
- Everything it leaves running in the background is ended when it returns.
- Of output longer than 30000 characters you see the start and the end.";

/// How many characters of output are given back.
const OUTPUT_LIMIT: usize = 30_000;

/// The client's tool that runs a program.
#[derive(Clone, Debug)]
pub struct ExecuteCommand {
    side: ClientSide,
    environment: Environment,
    call_env: Vec<(String, String)>,
    listener: Option<OutputListener>,
    needs_approval: NeedsApproval,
    sandbox: Sandbox,
}

/// The model cannot ask to leave it: who runs the client has said where commands run.
const LEAVING: &str = "Who runs the client can start it with `--sandbox off`.";

/// Who hears what a command prints while it runs: which call it is, and the next piece.
#[derive(Clone)]
pub struct OutputListener(Arc<OutputCallback>);

type OutputCallback = dyn Fn(ExecutionId, &str) + Send + Sync;

impl OutputListener {
    /// Returns the listener; it must not block.
    pub fn new(hears: impl Fn(ExecutionId, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hears))
    }
}

impl fmt::Debug for OutputListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener(…)")
    }
}

impl ExecuteCommand {
    /// Returns the tool for a project's folder, asking before it runs.
    pub fn new(side: impl Into<ClientSide>) -> Self {
        Self {
            side: side.into(),
            environment: Environment::default(),
            call_env: Vec::new(),
            listener: None,
            needs_approval: true.into(),
            sandbox: Sandbox::off(),
        }
    }

    /// Runs programs inside a sandbox of the client's machine.
    #[must_use]
    pub fn with_sandbox(self, sandbox: Sandbox) -> Self {
        Self { sandbox, ..self }
    }

    /// Sets the environment that programs see on the client's machine: this and nothing else.
    #[must_use]
    pub fn with_environment(self, environment: Environment) -> Self {
        Self { environment, ..self }
    }

    /// Sets variables that the call brings along.
    #[must_use]
    pub fn with_call_env(self, call_env: Vec<(String, String)>) -> Self {
        Self { call_env, ..self }
    }

    /// Sets who hears the output while a program runs.
    #[must_use]
    pub fn with_listener(self, listener: OutputListener) -> Self {
        Self { listener: Some(listener), ..self }
    }

    /// Sets whether it asks before it runs.
    #[must_use]
    pub fn with_needs_approval(self, needs_approval: impl Into<NeedsApproval>) -> Self {
        Self { needs_approval: needs_approval.into(), ..self }
    }

    fn read(&self, call: &ToolCall) -> Result<(ExecuteCommandInput, PathBuf), InvalidCall> {
        let input: ExecuteCommandInput = input::parse(call)?;
        input.check()?;
        let cwd = match &input.cwd {
            Some(cwd) => self.side.find(cwd, PathUse::Look)?.path,
            None => self.side.root().to_owned(),
        };
        Ok((input, cwd))
    }

    /// Returns how the program is started: inside, with what was judged here.
    async fn confined(
        &self,
        permit: &VerifiedPermit,
        input: &ExecuteCommandInput,
        cwd: &Path,
        cancel: &CancellationToken,
    ) -> Result<SandboxedCommand, ToolError> {
        let workspace = self.side.check_runs(self.name())?;
        let environment = self.environment.with(&self.call_env);
        let program = match self.sandbox.level() {
            IsolationLevel::None => program(&input.command, cwd),
            // Inside, only the launcher would hear that it is not there.
            _ => child_command::program(&input.command, cwd, &environment)
                .ok_or_else(|| not_started(&input.command, io::ErrorKind::NotFound.into()))?,
        };
        let arguments = input.args.clone();
        let child = ChildCommand { program, arguments, cwd: cwd.to_owned(), environment };
        let view = child.view(workspace, permit);
        Ok(child.confined(&self.sandbox, view, cancel).await?.left_by(LEAVING))
    }

    fn understood(&self, line: &str, cwd: &Path) -> CommandAnalysis {
        let env = &self.call_env;
        let Some(workspace) = self.side.workspace() else {
            return remote_machine::analyse_remote_command(&self.side, env, line, cwd);
        };
        let machine = LocalMachine::new(workspace, &self.environment);
        let (home, own) = (self.environment.get("HOME").map(Path::new), workspace.off_limits());
        shell::analyse(line, &shell::ShellContext { cwd, home, env, own, machine: &machine })
    }
}

impl Planner for ExecuteCommand {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        self.side.check_look()?;
        let (input, cwd) = self.read(call)?;
        let understood = self.understood(&input.line(), &cwd);
        let argv: Vec<String> = input.words().cloned().collect();
        let summary = format!("Run `{}` on the client", escape_to_line(&argv.join(" ")));
        // On the server a reader is what it reads; on the client's machine a program is a program.
        let by_name = |effect: &Effect| matches!(effect, Effect::ReadsByName { .. });
        let is_reader = self.side.workspace().is_none()
            && (understood.canonical.is_some() || understood.effects.iter().any(by_name));
        let mut effects = Vec::new();
        if !is_reader {
            effects.push(Effect::Exec { argv, program: None });
        }
        effects.extend(understood.effects);
        effects.extend(
            understood.floors.into_iter().map(|floor| Effect::Forbidden { why: floor.reason }),
        );
        let canonical = understood.canonical.filter(|_| is_reader);
        Ok(CallPlan { commands: understood.parts, canonical, ..CallPlan::new(effects, summary) })
    }

    fn with_client_look(&self, look: &ClientLook) -> Option<Arc<dyn Planner>> {
        Some(Arc::new(Self { side: self.side.with_look(look), ..self.clone() }))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        let (input, cwd) = self.read(call)?;
        let command = input.line();
        Ok(Preview::Command(CommandPreview {
            canonical: None,
            parts: Vec::new(),
            rehearsal: None,
            warnings: self.understood(&command, &cwd).warnings,
            cwd: self.side.shown_path(&cwd).unwrap_or_else(|| cwd.display().to_string()),
            description: None,
            timeout_ms: input.time_limit() * 1000,
            command,
        }))
    }
}

#[async_trait]
impl Tool for ExecuteCommand {
    fn name(&self) -> &'static str {
        "execute_command"
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn input_schema(&self) -> Value {
        input::schema_of::<ExecuteCommandInput>()
    }

    fn client_look(&self, call: &ToolCall) -> Result<ClientLook, InvalidCall> {
        let look = self.side.empty_look();
        let Some(workspace) = self.side.workspace() else { return Ok(look) };
        let (input, cwd) = self.read(call)?;
        let understood = self.understood(&input.line(), &cwd);
        if let Some(floor) = understood.floors.into_iter().next() {
            return Err(InvalidCall(floor.reason));
        }
        let reads = understood.parts.iter().all(|part| part.finding == PartFinding::ReadOnly)
            && understood.effects.iter().all(Effect::is_read_only);
        let machine = LocalMachine::new(workspace, &self.environment);
        let program = machine.trusted_program_in(&cwd, &input.command).filter(|_| reads);
        let program = program.and_then(|program| program.to_str().map(str::to_owned));
        let effects = understood.effects;
        let command = program.map(|program| ClientReadCommand { program, effects });
        Ok(ClientLook { command, ..look })
    }

    async fn needs_approval(&self, params: &Value) -> bool {
        self.needs_approval.applies_to(params).await
    }

    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.side.check_runs(self.name())?;
        if cancel.is_cancelled() {
            return Err(ToolError::Interrupted);
        }
        // What the server let pass, it judged without seeing where the links of this machine lead.
        if let Some(why) = permit.effects().iter().find_map(forbidden) {
            return Err(ToolError::invalid(format!("the client does not run this: {why}")));
        }
        let (input, cwd) = self.read(permit.call())?;
        if !disk::is_folder(&cwd) {
            let cwd = cwd.display();
            return Err(ToolError::invalid(format!("the folder `{cwd}` does not exist")));
        }
        let call = permit.call().id;
        let heard = |piece: &str| {
            if let Some(OutputListener(hears)) = &self.listener {
                hears(call, piece);
            }
        };
        let time_limit = Duration::from_secs(input.time_limit());
        let confined = self.confined(&permit, &input, &cwd, &cancel).await?;
        let launch = ProcessLaunch {
            program: confined.program(),
            arguments: &confined.arguments().iter().map(String::as_str).collect::<Vec<_>>(),
            cwd: &cwd,
            environment: confined.environment(),
            time_limit,
            keep: OUTPUT_LIMIT / 2,
            listener: self.listener.is_some().then_some(&heard),
        };
        let started = process::run_watched(launch, confined.watch(), &cancel).await;
        let ended = started.map_err(|error| not_started(&input.command, error))?;
        report(ended, time_limit, &confined)
    }
}

fn forbidden(effect: &Effect) -> Option<&str> {
    match effect {
        Effect::Forbidden { why } => Some(why),
        _ => None,
    }
}

/// A bare name is looked up in `PATH`; any other starts from the folder the program runs in.
fn program(command: &str, cwd: &Path) -> PathBuf {
    if command.contains('/') { cwd.join(command) } else { PathBuf::from(command) }
}

fn not_started(command: &str, cause: io::Error) -> ToolError {
    if cause.kind() == io::ErrorKind::NotFound {
        return ToolError::invalid(format!("Command not found: {command}"));
    }
    ToolError::Io { doing: "run", path: command.to_owned(), cause }
}

fn report(
    ended: FinishedProcess,
    time_limit: Duration,
    confined: &SandboxedCommand,
) -> Result<ToolOutput, ToolError> {
    let (exit_code, closing) = match ended.end {
        ProcessEnd::Cancelled => return Err(ToolError::Interrupted),
        ProcessEnd::TimedOut => {
            (None, Some(format!("Command timed out after {}", format_duration(time_limit))))
        }
        ProcessEnd::Exited(status) => match (status.code(), status.signal()) {
            (Some(code), _) => (Some(code), None),
            (None, Some(signal)) => {
                (None, Some(format!("Ended by {}", process::signal_name(signal))))
            }
            (None, None) => (None, Some("Ended in an unknown way".to_owned())),
        },
    };
    let exceeded = ended.exceeded;
    let (stdout, mut stderr) = ended.texts(OUTPUT_LIMIT);
    // What a program prints that succeeds is seldom about walls.
    let told = if exit_code == Some(0) { vec![&*stderr] } else { vec![&*stdout, &*stderr] };
    let notes = confined.notes(&told, exceeded);
    for closing in closing.into_iter().chain(notes) {
        if !stderr.is_empty() && !stderr.ends_with('\n') {
            stderr.push('\n');
        }
        stderr.push_str(&closing);
    }
    let success = exit_code == Some(0);
    let (stdout, stderr) = (Some(stdout), Some(stderr));
    ClientToolReport { success, stdout, stderr, exit_code, entries: None }.output()
}
