//! `execute_command`: a program with its words, run on the client without a shell.
//!
//! The words are judged as a command line that says exactly them, so that the same hard denials and rules
//! hold as for a shell. The server knows nothing of the machine but what the client says of it: until it
//! has said what a program is, nothing is proven harmless.

mod command_input;
mod remote_machine;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use countersign_core::shell::{self, CommandAnalysis, Machine as _, PartFinding};
use countersign_core::{
    CallPlan, ClientLook, ClientReadCommand, CommandPreview, Effect, ExecutionId, InvalidCall,
    Preview, ToolCall, ToolOutput,
};
use tokio_util::sync::CancellationToken;

use self::command_input::ExecuteCommandInput;
use super::ClientSide;
use super::report::ClientToolReport;
use super::side::PathUse;
use crate::files::disk;
use crate::files::escape::escape_to_line;
use crate::machine::process::{FinishedProcess, ProcessEnd};
use crate::machine::{Environment, LocalMachine};
use crate::sandbox::{IsolationLevel, Sandbox, SandboxedCommand};
use crate::tool::child_command::ChildCommand;
use crate::tool::{AsyncTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

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
pub type ExecuteCommand = ToolAdapter<ExecuteCommandTool>;

/// How [`ExecuteCommand`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct ExecuteCommandTool {
    side: ClientSide,
    environment: Environment,
    call_env: Vec<(String, String)>,
    listener: Option<OutputListener>,
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
        let tool = ExecuteCommandTool {
            side: side.into(),
            environment: Environment::default(),
            call_env: Vec::new(),
            listener: None,
            sandbox: Sandbox::off(),
        };
        Self::for_tool(tool, true)
    }

    /// Runs programs inside a sandbox of the client's machine.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: Sandbox) -> Self {
        self.tool.sandbox = sandbox;
        self
    }

    /// Sets the environment that programs see on the client's machine: this and nothing else.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.tool.environment = environment;
        self
    }

    /// Sets variables that the call brings along.
    #[must_use]
    pub fn with_call_env(mut self, call_env: Vec<(String, String)>) -> Self {
        self.tool.call_env = call_env;
        self
    }

    /// Sets who hears the output while a program runs.
    #[must_use]
    pub fn with_listener(mut self, listener: OutputListener) -> Self {
        self.tool.listener = Some(listener);
        self
    }
}

impl ExecuteCommandTool {
    /// Returns how the program is started: inside, with what was judged here.
    async fn confine(
        &self,
        permit: &VerifiedPermit,
        input: &ExecuteCommandInput,
        cwd: &Path,
        cancel: &CancellationToken,
    ) -> Result<SandboxedCommand, ToolError> {
        let workspace = self.side.check_runs(Self::NAME)?;
        let environment = self.environment.with(&self.call_env);
        let program = match self.sandbox.level() {
            IsolationLevel::None => program(&input.command, cwd),
            // Inside, only the launcher would hear that it is not there.
            _ => environment
                .find_program(&input.command, cwd)
                .ok_or_else(|| not_started_error(&input.command, io::ErrorKind::NotFound.into()))?,
        };
        let arguments = input.args.clone();
        let child = ChildCommand { program, arguments, cwd: cwd.to_owned(), environment };
        let view = child.view(workspace, permit);
        Ok(child.confine(&self.sandbox, view, cancel).await?.left_by(LEAVING))
    }

    fn analyse_command(&self, line: &str, cwd: &Path) -> CommandAnalysis {
        let env = &self.call_env;
        let Some(workspace) = self.side.workspace() else {
            return remote_machine::analyse_remote_command(&self.side, env, line, cwd);
        };
        let machine = LocalMachine::new(workspace, &self.environment);
        let (home, own) = (self.environment.get("HOME").map(Path::new), workspace.off_limits());
        shell::analyse(line, &shell::ShellContext { cwd, home, env, own, machine: &machine })
    }
}

impl TypedTool for ExecuteCommandTool {
    const NAME: &'static str = "execute_command";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = ExecuteCommandInput;
    type CheckedInput = (ExecuteCommandInput, PathBuf);

    fn check(
        &self,
        input: ExecuteCommandInput,
        _: &ToolCall,
    ) -> Result<Self::CheckedInput, InvalidCall> {
        input.check()?;
        let cwd = match &input.cwd {
            Some(cwd) => self.side.find(cwd, PathUse::Look)?.path,
            None => self.side.root().to_owned(),
        };
        Ok((input, cwd))
    }

    fn plan(
        &self,
        (input, cwd): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<CallPlan, InvalidCall> {
        let understood = self.analyse_command(&input.line(), &cwd);
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
            understood.denials.into_iter().map(|denial| Effect::Forbidden { why: denial.reason }),
        );
        let canonical = understood.canonical.filter(|_| is_reader);
        Ok(CallPlan { commands: understood.parts, canonical, ..CallPlan::new(effects, summary) })
    }

    fn preview(
        &self,
        (input, cwd): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<Preview, InvalidCall> {
        let command = input.line();
        Ok(Preview::Command(CommandPreview {
            canonical: None,
            parts: Vec::new(),
            rehearsal: None,
            warnings: self.analyse_command(&command, &cwd).warnings,
            cwd: self.side.shown_path(&cwd).unwrap_or_else(|| cwd.display().to_string()),
            description: None,
            timeout_ms: input.time_limit() * 1000,
            command,
        }))
    }

    fn read(&self, call: &ToolCall) -> Result<Self::CheckedInput, InvalidCall> {
        self.side.check_look()?;
        self.check(Self::parse(call)?, call)
    }

    fn with_client_look(&self, look: &ClientLook) -> Option<Self> {
        Some(Self { side: self.side.with_look(look), ..self.clone() })
    }

    fn client_look(&self, call: &ToolCall) -> Result<ClientLook, InvalidCall> {
        let look = self.side.empty_look();
        let Some(workspace) = self.side.workspace() else { return Ok(look) };
        let (input, cwd) = self.read(call)?;
        let understood = self.analyse_command(&input.line(), &cwd);
        if let Some(denial) = understood.denials.into_iter().next() {
            return Err(InvalidCall(denial.reason));
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
}

#[async_trait]
impl AsyncTool for ExecuteCommandTool {
    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.side.check_runs(Self::NAME)?;
        if cancel.is_cancelled() {
            return Err(ToolError::Interrupted);
        }
        // What the server let pass, it judged without seeing where the links of this machine lead.
        if let Some(why) = permit.effects().iter().find_map(find_refusal) {
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
        let confined = self.confine(&permit, &input, &cwd, &cancel).await?;
        let listener = self.listener.is_some().then_some(&heard as _);
        let running = confined.run(&cwd, time_limit, OUTPUT_LIMIT / 2, listener, &cancel);
        let started = running.await;
        let ended = started.map_err(|error| not_started_error(&input.command, error))?;
        report(ended, time_limit, &confined)
    }
}

fn find_refusal(effect: &Effect) -> Option<&str> {
    match effect {
        Effect::Forbidden { why } => Some(why),
        _ => None,
    }
}

/// A bare name is looked up in `PATH`; any other starts from the folder the program runs in.
fn program(command: &str, cwd: &Path) -> PathBuf {
    if command.contains('/') { cwd.join(command) } else { PathBuf::from(command) }
}

fn not_started_error(command: &str, cause: io::Error) -> ToolError {
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
    if ended.end == ProcessEnd::Cancelled {
        return Err(ToolError::Interrupted);
    }
    let (exit_code, closing) = (ended.end.exit_code(), ended.end.without_exit_code(time_limit));
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
