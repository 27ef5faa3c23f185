//! Bash: runs a shell command, within bounds of time and output.

mod rehearse;
mod result;
mod warnings;

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use countersign_core::{
    CallPlan, CommandPreview, Effect, InvalidCall, Preview, ToolCall, ToolOutput, shell,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::result::BashResult;
use crate::files::escape::escape_to_line;
use crate::files::workspace::Workspace;
use crate::machine::executor;
use crate::machine::{Environment, LocalMachine};
use crate::sandbox::rehearsal::{RehearsalError, StagedRehearsal};
use crate::sandbox::{IsolationLevel, Sandbox, SandboxedCommand};
use crate::tool::child_command::ChildCommand;
use crate::tool::{AsyncTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

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
pub type Bash = ToolAdapter<BashTool>;

/// How [`Bash`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct BashTool {
    workspace: Workspace,
    environment: Environment,
    /// What the call itself sets on top; part of the environment already.
    call_env: Vec<(String, String)>,
    sandbox: Sandbox,
    description: Cow<'static, str>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BashInput {
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
        let tool = BashTool {
            workspace,
            environment,
            call_env: Vec::new(),
            sandbox: Sandbox::off(),
            description: DESCRIPTION.into(),
        };
        Self::for_tool(tool, true)
    }

    /// Runs commands inside a sandbox, but for those that a person lets out of it.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: Sandbox) -> Self {
        self.tool.description = match sandbox.level() {
            IsolationLevel::None => DESCRIPTION.into(),
            IsolationLevel::Fence => format!("{DESCRIPTION}{BEHIND_FENCE}").into(),
            IsolationLevel::View | IsolationLevel::Full => {
                format!("{DESCRIPTION}{IN_SANDBOX}").into()
            }
        };
        self.tool.sandbox = sandbox;
        self
    }

    /// Sets variables that the call brings along: commands see them, and the reading heeds them.
    #[must_use]
    pub fn with_call_env(mut self, call_env: Vec<(String, String)>) -> Self {
        self.tool.environment = self.tool.environment.with(&call_env);
        self.tool.call_env = call_env;
        self
    }
}

impl BashTool {
    /// Reads what a command would do, part by part.
    fn analyse_command(&self, command: &str, cwd: &Path) -> shell::CommandAnalysis {
        LocalMachine::new(&self.workspace, &self.environment).analyse_command(
            command,
            cwd,
            &self.call_env,
        )
    }

    /// Returns how the command is started: inside, with what was judged, unless it leaves.
    async fn confine(
        &self,
        permit: &VerifiedPermit,
        input: &BashInput,
        shell: &Path,
        cancel: &CancellationToken,
    ) -> Result<SandboxedCommand, ToolError> {
        let sandbox = if input.leaves() { Sandbox::off() } else { self.sandbox.clone() };
        let child = match permit.canonical() {
            Some(canonical) => self.canonical_child(canonical, permit, shell)?,
            None => self.original_child(input, &permit.call().cwd, shell),
        };
        let view = child.view(&self.workspace, permit);
        child.confine(&sandbox, view, cancel).await
    }

    /// Returns how a command is started that nobody was asked about: in its canonical form.
    fn canonical_child(
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

    fn original_child(&self, input: &BashInput, cwd: &Path, shell: &Path) -> ChildCommand {
        ChildCommand {
            program: shell.to_owned(),
            arguments: vec!["-c".to_owned(), input.command.clone()],
            cwd: cwd.to_owned(),
            environment: self.environment.clone(),
        }
    }
}

fn not_run_error(shell: &Path, cause: std::io::Error) -> ToolError {
    ToolError::Io { doing: "run", path: shell.display().to_string(), cause }
}

impl BashInput {
    fn leaves(&self) -> bool {
        self.leaves_sandbox == Some(true)
    }

    fn time_limit(&self) -> u64 {
        self.timeout.map_or(DEFAULT_TIMEOUT, NonZeroU64::get)
    }
}

impl TypedTool for BashTool {
    const NAME: &'static str = "Bash";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = BashInput;
    type CheckedInput = BashInput;

    fn check(&self, input: BashInput, _: &ToolCall) -> Result<BashInput, InvalidCall> {
        if input.command.trim().is_empty() {
            return Err(InvalidCall("`command` is empty: say what to run".to_owned()));
        }
        if input.command.contains('\0') {
            return Err(InvalidCall(
                "`command` holds a NUL character: no shell takes it".to_owned(),
            ));
        }
        if input.time_limit() > LONGEST_TIMEOUT {
            return Err(InvalidCall(format!(
                "`timeout`: at most {LONGEST_TIMEOUT} milliseconds; split what takes longer"
            )));
        }
        Ok(input)
    }

    fn plan(&self, input: Self::CheckedInput, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let command = escape_to_line(&input.command);
        let leaves = input.leaves();
        let summary = if leaves {
            format!("Run `{command}` outside the sandbox")
        } else {
            format!("Run `{command}`")
        };
        let understood = self.analyse_command(&input.command, &call.cwd);
        let mut effects = understood.effects;
        effects.extend(leaves.then_some(Effect::LeavesSandbox));
        effects.extend(
            understood.denials.into_iter().map(|denial| Effect::Forbidden { why: denial.reason }),
        );
        let sandboxed = self.sandbox.level().holds() && !leaves;
        let (commands, canonical) = (understood.parts, understood.canonical);
        Ok(CallPlan { effects, summary, commands, sandboxed, canonical })
    }

    fn preview(&self, input: Self::CheckedInput, call: &ToolCall) -> Result<Preview, InvalidCall> {
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

    fn description(&self) -> &str {
        &self.description
    }
}

#[async_trait]
impl AsyncTool for BashTool {
    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        if cancel.is_cancelled() {
            return Err(ToolError::Interrupted);
        }
        let cwd = &permit.call().cwd;
        let input = self.read(permit.call())?;
        let shell = find_bash().ok_or_else(|| {
            ToolError::invalid(format!("there is no bash on this machine: {}", SHELLS.join(", ")))
        })?;
        if !tokio::fs::metadata(cwd).await.is_ok_and(|metadata| metadata.is_dir()) {
            return Err(ToolError::invalid(format!(
                "the working directory `{}` does not exist any more",
                cwd.display()
            )));
        }
        let time_limit = Duration::from_millis(input.time_limit());
        let confined = self.confine(&permit, &input, shell, &cancel).await?;
        let started = confined.run(cwd, time_limit, OUTPUT_LIMIT / 2, None, &cancel).await;
        let ended = started.map_err(|cause| not_run_error(shell, cause))?;
        BashResult::from_process(ended, time_limit, &confined).map(|result| result.output)
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

fn find_bash() -> Option<&'static Path> {
    SHELLS.iter().map(Path::new).find(|shell| shell.exists())
}
