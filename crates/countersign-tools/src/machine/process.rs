//! Children: the only place that starts one, and the one that sees to it that none is left.
//!
//! A child leads a process group of its own, sees only the environment it is given and reads from
//! nothing, unless it is a [`crate::sandbox::CompanionProcess`]. Its whole group is ended when it exits, when its time is up,
//! when it uses too much, on cancel and on drop. A process that leaves the group (`setsid`) is out of
//! reach here; in the sandbox it ends with the namespace it cannot leave.

mod child_group;
mod output_reader;
mod resource_limits;
mod unwatched;
mod usage_watch;

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

pub(crate) use self::child_group::{ChildGroup, ChildSpawn};
use self::output_reader::{ChildOutputReader, OutputPipe};
pub use self::resource_limits::ResourceLimits;
pub(crate) use self::unwatched::{ExecutorChild, leave_beside, replace, run_to_end};
pub(crate) use self::usage_watch::{ExceededLimit, UsageWatch};
use crate::files::text::format_duration;
use crate::files::truncate::HeadTailBuffer;
use crate::machine::Environment;

/// How long a group has to end by itself after it was asked to.
const GRACE: Duration = Duration::from_secs(1);

/// How long output is still read after the child has exited, if others hold its pipes open.
const DRAIN: Duration = Duration::from_millis(100);

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

impl ProcessEnd {
    /// Says how a child ended that returned no exit code; none for one that did, or was cancelled.
    pub(crate) fn without_exit_code(self, time_limit: Duration) -> Option<String> {
        match self {
            Self::Exited(status) if status.code().is_some() => None,
            Self::Exited(status) => Some(match status.signal() {
                Some(signal) => format!("Ended by {}", signal_name(signal)),
                None => "Ended in an unknown way".to_owned(),
            }),
            Self::TimedOut => {
                Some(format!("Command timed out after {}", format_duration(time_limit)))
            }
            Self::Cancelled => None,
        }
    }

    /// Returns the exit code; none where a signal or the time limit ended it.
    pub(crate) fn exit_code(self) -> Option<i32> {
        match self {
            Self::Exited(status) => status.code(),
            Self::TimedOut | Self::Cancelled => None,
        }
    }
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
    let mut stdout = OutputPipe::new(group.child.stdout.take(), &launch);
    let mut stderr = OutputPipe::new(group.child.stderr.take(), &launch);
    let mut reading = ChildOutputReader::new(&mut stdout, &mut stderr);
    let end = tokio::select! {
        exited = timeout(launch.time_limit, reading.during(group.exit())) => match exited {
            Ok(status) => ProcessEnd::Exited(status?),
            Err(_) => ProcessEnd::TimedOut,
        },
        () = cancel.cancelled() => ProcessEnd::Cancelled,
        too_much = wait_for_excess(watch, child) => {
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
async fn wait_for_excess(watch: Option<&UsageWatch>, child: Option<u32>) -> ExceededLimit {
    match (watch, child) {
        (Some(watch), Some(child)) => watch.exceeded(child).await,
        _ => std::future::pending().await,
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
