//! Children: the only place that starts one, and the one that sees to it that none is left.
//!
//! A child leads a process group of its own, sees only the environment it is given and reads from
//! nothing, unless it is a [`CompanionProcess`]. Its whole group is ended when it exits, when its time is up,
//! when it uses too much, on cancel and on drop. A process that leaves the group (`setsid`) is out of
//! reach here; in the sandbox it ends with the namespace it cannot leave.

mod companion;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use encoding_rs::{Decoder, UTF_8};
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

pub(crate) use self::companion::CompanionProcess;
use crate::machine::ProgramCache;
use crate::sandbox::{ExceededLimit, UsageWatch};
use crate::truncate::HeadTailBuffer;

/// How long a group has to end by itself after it was asked to.
const GRACE: Duration = Duration::from_secs(1);

/// How long output is still read after the child has exited, if others hold its pipes open.
const DRAIN: Duration = Duration::from_millis(100);

/// The variable that says where programs are looked up.
const SEARCH_PATH: &str = "PATH";

/// The environment a child sees: what the binary chose, and nothing else.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Arc<[(String, String)]>,
    /// The programs that its `PATH` was found to lead to.
    programs: Arc<ProgramCache>,
}

impl From<Vec<(String, String)>> for Environment {
    fn from(variables: Vec<(String, String)>) -> Self {
        Self { variables: variables.into(), programs: Arc::default() }
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self { variables: variables.into_iter().collect(), programs: Arc::default() }
    }
}

impl Environment {
    /// Returns the same with some variables set, whatever they were before.
    #[must_use]
    pub(crate) fn with(&self, set: &[(String, String)]) -> Self {
        if set.is_empty() {
            return self.clone();
        }
        let is_set = |name: &str| set.iter().any(|(other, _)| other == name);
        let kept = self.variables.iter().filter(|(name, _)| !is_set(name));
        self.with_variables(kept.chain(set).cloned().collect())
    }

    /// Returns the same without the variables whose names are meant.
    #[must_use]
    pub(crate) fn without(&self, is_meant: impl Fn(&str) -> bool) -> Self {
        let kept = self.variables.iter().filter(|(name, _)| !is_meant(name));
        self.with_variables(kept.cloned().collect())
    }

    /// Programs are where they were, unless they are looked up elsewhere.
    fn with_variables(&self, variables: Arc<[(String, String)]>) -> Self {
        let mut changed = Self { variables, programs: Arc::default() };
        if changed.get(SEARCH_PATH) == self.get(SEARCH_PATH) {
            changed.programs = Arc::clone(&self.programs);
        }
        changed
    }

    /// Returns the value of a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Environment {
    /// Returns its variables.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the programs that were looked up in it.
    pub(crate) fn programs(&self) -> &ProgramCache {
        &self.programs
    }

    /// Returns the names of its variables.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(name, _)| name.as_str())
    }
}

/// Names only: values may be private.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.variables.iter().map(|(name, _)| name)).finish()
    }
}

/// What to start, and within which bounds.
pub(crate) struct ProcessLaunch<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [&'a str],
    pub(crate) cwd: &'a Path,
    pub(crate) environment: &'a Environment,
    pub(crate) time_limit: Duration,
    /// How many characters of either end of either stream are kept.
    pub(crate) keep: usize,
    /// Who hears the output while it comes, both streams in one, what is no text as `�`.
    pub(crate) listener: Option<&'a (dyn Fn(&str) + Send + Sync)>,
}

impl fmt::Debug for ProcessLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, arguments, cwd, time_limit, .. } = self;
        let mut shown = f.debug_struct("ProcessLaunch");
        shown.field("program", program).field("arguments", arguments).field("cwd", cwd);
        shown.field("time_limit", time_limit).finish_non_exhaustive()
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessEnd {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

/// A child that is no more.
#[derive(Debug)]
pub(crate) struct FinishedProcess {
    pub(crate) end: ProcessEnd,
    pub(crate) stdout: HeadTailBuffer,
    pub(crate) stderr: HeadTailBuffer,
    /// What it was ended for, if it used too much.
    pub(crate) exceeded: Option<ExceededLimit>,
}

impl FinishedProcess {
    /// Returns both streams as texts within `limit` characters together.
    ///
    /// Each may use what the other leaves of the limit, and has half of it for sure.
    pub(crate) fn texts(self, limit: usize) -> (String, String) {
        let (out, err) = (self.stdout.count(), self.stderr.count());
        let err_budget = err.min((limit / 2).max(limit.saturating_sub(out)));
        (self.stdout.into_text_within(limit - err_budget), self.stderr.into_text_within(err_budget))
    }
}

/// Runs a child to its end, whichever comes first of exit, time limit and cancel.
pub(crate) async fn run(
    launch: ProcessLaunch<'_>,
    cancel: &CancellationToken,
) -> io::Result<FinishedProcess> {
    run_watched(launch, None, cancel).await
}

/// Runs a child as [`run`] does, and ends it when who watches says that it uses too much.
pub(crate) async fn run_watched(
    launch: ProcessLaunch<'_>,
    watch: Option<&UsageWatch>,
    cancel: &CancellationToken,
) -> io::Result<FinishedProcess> {
    let ProcessLaunch { program, arguments, cwd, environment, .. } = launch;
    let stdin = Stdio::null();
    let mut group = ChildGroup::start(ChildSpawn { program, arguments, cwd, environment, stdin })?;
    let child = group.child.id();
    let mut exceeded = None;
    let mut stdout = OutputPipe::new(group.child.stdout().take(), &launch);
    let mut stderr = OutputPipe::new(group.child.stderr().take(), &launch);
    let mut reading = ChildOutputReader::new(&mut stdout, &mut stderr);
    let end = tokio::select! {
        exited = timeout(launch.time_limit, reading.during(group.exit())) => match exited {
            Ok(status) => ProcessEnd::Exited(status?),
            Err(_) => ProcessEnd::TimedOut,
        },
        () = cancel.cancelled() => ProcessEnd::Cancelled,
        too_much = tripped(watch, child) => {
            exceeded = Some(too_much);
            group.signal(Signal::KILL);
            ProcessEnd::Exited(group.exit().await?)
        }
    };
    match end {
        ProcessEnd::Exited(_) => {
            let _ = timeout(DRAIN, reading.read_on()).await;
        }
        ProcessEnd::TimedOut | ProcessEnd::Cancelled => {
            group.signal(Signal::TERM);
            let deadline = Instant::now() + GRACE;
            let _ = timeout_at(deadline, reading.during(group.exit())).await;
            // The pipes are open as long as one of the group still cleans up.
            let _ = timeout_at(deadline, reading.read_on()).await;
        }
    }
    group.end().await;
    Ok(FinishedProcess { end, stdout: stdout.kept, stderr: stderr.kept, exceeded })
}

/// Returns when the child uses too much; never, where nobody watches.
async fn tripped(watch: Option<&UsageWatch>, child: Option<u32>) -> ExceededLimit {
    match (watch, child) {
        (Some(watch), Some(child)) => watch.exceeded(child).await,
        _ => std::future::pending().await,
    }
}

/// Becomes another program. Returns only if that fails, and why.
pub(crate) fn replace(program: &Path, arguments: &[OsString]) -> io::Error {
    #[expect(
        clippy::disallowed_methods,
        reason = "no child: the process itself goes on as another"
    )]
    let mut command = std::process::Command::new(program);
    std::os::unix::process::CommandExt::exec(command.args(arguments))
}

/// A child with streams of its own, which is not watched.
pub(crate) struct ExecutorChild<'a, E> {
    pub(crate) file: &'a Path,
    /// The name it is told to have.
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [String],
    pub(crate) cwd: &'a Path,
    pub(crate) environment: E,
    pub(crate) stdio: [Stdio; 3],
}

/// Runs a child of the executor to its end. Whoever ends the executor ends its whole group.
pub(crate) fn run_to_end<E: Iterator<Item = (String, String)>>(
    child: ExecutorChild<'_, E>,
) -> io::Result<ExitStatus> {
    #[expect(clippy::disallowed_methods, reason = "this is where children start")]
    let mut command = std::process::Command::new(child.file);
    let [stdin, stdout, stderr] = child.stdio;
    command.args(child.arguments).current_dir(child.cwd).env_clear().envs(child.environment);
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    std::os::unix::process::CommandExt::arg0(&mut command, child.name);
    let mut started = command.spawn()?;
    // Its ends of the streams are the child's alone from here on.
    drop(command);
    started.wait()
}

/// Starts a process of the launcher's own beside the program, with this as its standard input. It ends
/// with the sandbox.
pub(crate) fn leave_beside(program: &Path, arguments: &[String], input: OwnedFd) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "this is where children start")]
    let mut command = std::process::Command::new(program);
    command.args(arguments).env_clear().stdin(Stdio::from(input));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}

/// A child and all its kin.
struct ChildGroup {
    child: Box<dyn ChildWrapper>,
    /// None once the group has been ended: the number may then be another's.
    id: Option<Pid>,
}

/// What every child is started with.
struct ChildSpawn<'a> {
    program: &'a Path,
    arguments: &'a [&'a str],
    cwd: &'a Path,
    environment: &'a Environment,
    stdin: Stdio,
}

impl ChildGroup {
    /// Starts a child. Whatever is to hold for all children is put here.
    fn start(start: ChildSpawn<'_>) -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "this is where children start")]
        let mut command = Command::new(start.program);
        command
            .args(start.arguments)
            .current_dir(start.cwd)
            .env_clear()
            .envs(start.environment.variables.iter().map(|(name, value)| (name, value)))
            .stdin(start.stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut command = CommandWrap::from(command);
        let child = command.wrap(ProcessGroup::leader()).wrap(KillOnDrop).spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Self { child, id })
    }

    /// Waits for the child itself, not for its kin. May be dropped and called again.
    async fn exit(&mut self) -> io::Result<ExitStatus> {
        self.child.inner_mut().wait().await
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            match kill_process_group(id, signal) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => tracing::warn!(%error, "a process group could not be signalled"),
            }
        }
    }

    /// Kills what is left of the group and waits for what is ours to wait for.
    async fn end(&mut self) {
        self.signal(Signal::KILL);
        self.id = None;
        // One that hangs in the kernel dies later; the runtime reaps it then.
        match timeout(GRACE, self.child.wait()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a child could not be waited for"),
            Err(_) => tracing::warn!("a killed child does not end"),
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// One stream of a child and what is kept of it.
struct OutputPipe<'a> {
    source: Option<Box<dyn AsyncRead + Send + Unpin>>,
    buffer: Vec<u8>,
    kept: HeadTailBuffer,
    listener: Option<&'a (dyn Fn(&str) + Send + Sync)>,
    /// A character may come in two pieces.
    decoder: Decoder,
}

impl<'a> OutputPipe<'a> {
    fn new(
        source: Option<impl AsyncRead + Send + Unpin + 'static>,
        launch: &ProcessLaunch<'a>,
    ) -> Self {
        Self {
            source: source.map(|source| Box::new(source) as _),
            buffer: vec![0; 64 * 1024],
            kept: HeadTailBuffer::new(launch.keep),
            listener: launch.listener,
            decoder: UTF_8.new_decoder_without_bom_handling(),
        }
    }

    /// Reads until the end. May be dropped and called again: nothing read is lost.
    async fn read_on(&mut self) {
        while let Some(source) = &mut self.source {
            match source.read(&mut self.buffer).await {
                Ok(0) | Err(_) => self.source = None,
                Ok(length) => {
                    let bytes = self.buffer.get(..length).unwrap_or_default();
                    self.kept.push(bytes);
                    if let Some(listener) = self.listener {
                        let room = self.decoder.max_utf8_buffer_length(bytes.len());
                        let mut text = String::with_capacity(room.unwrap_or_default());
                        let _ = self.decoder.decode_to_string(bytes, &mut text, false);
                        listener(&text);
                    }
                }
            }
        }
    }
}

/// Both streams, read together.
struct ChildOutputReader<'a, 'l> {
    stdout: &'a mut OutputPipe<'l>,
    stderr: &'a mut OutputPipe<'l>,
}

impl<'a, 'l> ChildOutputReader<'a, 'l> {
    fn new(stdout: &'a mut OutputPipe<'l>, stderr: &'a mut OutputPipe<'l>) -> Self {
        Self { stdout, stderr }
    }

    /// Reads both to their end.
    async fn read_on(&mut self) {
        tokio::join!(self.stdout.read_on(), self.stderr.read_on());
    }

    /// Reads on until something else is done.
    async fn during<T>(&mut self, other: impl Future<Output = T>) -> T {
        tokio::pin!(other);
        tokio::select! {
            done = &mut other => return done,
            () = self.read_on() => {}
        }
        other.await
    }
}

/// Returns how a signal is called.
pub(crate) fn signal_name(number: i32) -> String {
    let name = match Signal::from_named_raw(number) {
        Some(Signal::HUP) => "SIGHUP",
        Some(Signal::INT) => "SIGINT",
        Some(Signal::QUIT) => "SIGQUIT",
        Some(Signal::ILL) => "SIGILL",
        Some(Signal::TRAP) => "SIGTRAP",
        Some(Signal::ABORT) => "SIGABRT",
        Some(Signal::BUS) => "SIGBUS",
        Some(Signal::FPE) => "SIGFPE",
        Some(Signal::KILL) => "SIGKILL",
        Some(Signal::SEGV) => "SIGSEGV",
        Some(Signal::PIPE) => "SIGPIPE",
        Some(Signal::ALARM) => "SIGALRM",
        Some(Signal::TERM) => "SIGTERM",
        Some(Signal::XCPU) => "SIGXCPU",
        Some(Signal::XFSZ) => "SIGXFSZ",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}
