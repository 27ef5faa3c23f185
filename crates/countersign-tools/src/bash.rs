//! Bash: runs a shell command, within bounds of time and output.

mod warnings;

use std::num::NonZeroU64;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use countersign_core::{
    CommandPreview, Effect, Invalid, Plan, Planner, Preview, ToolCall, ToolOutput, shell,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::input;
use crate::machine::Here;
use crate::process::{self, End, Ended, Environment, Launch};
use crate::shown::shown;
use crate::text::spoken;
use crate::tool::{Cleared, NeedsApproval, Tool, ToolError};
use crate::workspace::Workspace;

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
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The command to run.
    command: String,
    /// After how many milliseconds to end it (default 120000, at most 600000).
    timeout: Option<NonZeroU64>,
    /// What the command does, in one short sentence.
    description: Option<String>,
}

impl Bash {
    /// Returns the tool, asking before it runs. Commands see `environment` and nothing else.
    pub fn new(workspace: Workspace, environment: Environment) -> Self {
        Self { workspace, environment, call_env: Vec::new(), needs_approval: true.into() }
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
    fn understood(&self, command: &str, cwd: &Path) -> shell::Analysis {
        let machine = Here::new(&self.workspace, &self.environment);
        let context = shell::Context {
            cwd,
            home: self.environment.get("HOME").map(Path::new),
            env: &self.call_env,
            own: self.workspace.off_limits(),
            machine: &machine,
        };
        shell::analyse(command, &context)
    }
}

fn read(call: &ToolCall) -> Result<Input, Invalid> {
    let input: Input = input::parse(call)?;
    if input.command.trim().is_empty() {
        return Err(Invalid("`command` is empty: say what to run".to_owned()));
    }
    if input.command.contains('\0') {
        return Err(Invalid("`command` holds a NUL character: no shell takes it".to_owned()));
    }
    if input.time_limit() > LONGEST_TIMEOUT {
        return Err(Invalid(format!(
            "`timeout`: at most {LONGEST_TIMEOUT} milliseconds; split what takes longer"
        )));
    }
    Ok(input)
}

impl Input {
    fn time_limit(&self) -> u64 {
        self.timeout.map_or(DEFAULT_TIMEOUT, NonZeroU64::get)
    }
}

impl Planner for Bash {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let Input { command, .. } = read(call)?;
        let summary = format!("Run `{}`", shown(&command));
        let understood = self.understood(&command, &call.cwd);
        let mut effects = understood.effects;
        effects.extend(
            understood.floors.into_iter().map(|floor| Effect::Forbidden { why: floor.reason }),
        );
        Ok(Plan { effects, summary, commands: understood.parts })
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        let input = read(call)?;
        Ok(Preview::Command(CommandPreview {
            warnings: warnings::of(&input.command, &call.cwd, &self.workspace),
            cwd: call.cwd.display().to_string(),
            timeout_ms: input.time_limit(),
            description: input.description,
            command: input.command,
            parts: Vec::new(),
        }))
    }
}

#[async_trait]
impl Tool for Bash {
    fn name(&self) -> &'static str {
        "Bash"
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn input_schema(&self) -> Value {
        input::schema_of::<Input>()
    }

    async fn needs_approval(&self, params: &Value) -> bool {
        self.needs_approval.of(params).await
    }

    async fn run(
        &self,
        permit: Cleared,
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
        let launch = Launch {
            program: shell,
            arguments: &["-c", &input.command],
            cwd,
            environment: &self.environment,
            time_limit,
            keep: OUTPUT_LIMIT / 2,
            listener: None,
        };
        let started = process::run(launch, &cancel).await;
        let ended = started.map_err(|cause| ToolError::Io {
            doing: "run",
            path: shell.display().to_string(),
            cause,
        })?;
        answer(ended, time_limit)
    }
}

fn bash() -> Option<&'static Path> {
    SHELLS.iter().map(Path::new).find(|shell| shell.exists())
}

fn answer(ended: Ended, time_limit: Duration) -> Result<ToolOutput, ToolError> {
    let (closing, is_error) = match ended.end {
        End::Cancelled => return Err(ToolError::Interrupted),
        End::TimedOut => (Some(format!("Command timed out after {}", spoken(time_limit))), true),
        End::Exited(status) if status.success() => (None, false),
        End::Exited(status) => {
            let closing = match (status.code(), status.signal()) {
                (Some(code), _) => format!("Exit code {code}"),
                (None, Some(signal)) => format!("Ended by {}", process::signal_name(signal)),
                (None, None) => "Ended in an unknown way".to_owned(),
            };
            (Some(closing), true)
        }
    };
    let (stdout, stderr) = ended.texts(OUTPUT_LIMIT);
    let parts = [stdout, stderr, closing.unwrap_or_default()];
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
    Ok(ToolOutput { content, is_error })
}
