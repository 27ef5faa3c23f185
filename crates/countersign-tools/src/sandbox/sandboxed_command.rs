//! A confined command: how it is run, and what it had to do with its walls.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::IsolationLevel;
use super::denial_notes;
use super::outside_files::WritableOutsideFiles;
use super::placeholders::RootPlaceholders;
use super::proxy::{ProxyTraffic, SandboxProxy};
use super::scratch::ScratchFolder;
use super::view::NetworkAccess;
use crate::machine::process::{self, ExceededLimit, FinishedProcess, ProcessLaunch, UsageWatch};
use crate::machine::{Environment, steers};

/// How many of the files that were put aside are named in an answer.
const MOST_TOLD: usize = 20;

/// What is to be started.
#[derive(Clone, Copy, Debug)]
pub struct CommandSpec<'a> {
    /// The program, by its whole path.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// Where it works.
    pub cwd: &'a Path,
    /// What it knows of the environment, before what steers programs is taken out.
    pub environment: &'a Environment,
}

/// How to start a child inside. Keep it until the child is gone.
#[derive(Debug)]
pub struct SandboxedCommand {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Environment,
    pub(super) network: NetworkAccess,
    pub(super) level: IsolationLevel,
    /// How to get out, as whoever meets a wall is told.
    pub(super) leaving: &'static str,
    pub(super) watch: Option<UsageWatch>,
    pub(super) stand_ins: Vec<RootPlaceholders>,
    pub(super) proxy: Option<SandboxProxy>,
    pub(super) _outside: WritableOutsideFiles,
    /// Its temporary files, where it has no view in which `/tmp` is its own, and what it changed of
    /// what was lent. Gone with this.
    pub(super) _scratch: Option<ScratchFolder>,
}

impl SandboxedCommand {
    /// Returns the command as it is, without any walls.
    pub(super) fn without_sandbox(start: &CommandSpec<'_>) -> Self {
        Self {
            program: start.program.to_owned(),
            arguments: start.arguments.to_vec(),
            environment: start.environment.clone(),
            network: NetworkAccess::Off,
            level: IsolationLevel::None,
            leaving: denial_notes::LEAVING,
            watch: None,
            stand_ins: Vec::new(),
            proxy: None,
            _outside: WritableOutsideFiles::default(),
            _scratch: None,
        }
    }

    /// Also sets variables that somebody has chosen for the child, keys among them.
    ///
    /// What steers programs is refused: bubblewrap, outside, would be steered by it first.
    pub fn with_variables(mut self, set: &[(String, String)]) -> io::Result<Self> {
        if let (true, Some((name, _))) =
            (self.level != IsolationLevel::None, set.iter().find(|(name, _)| steers(name)))
        {
            return Err(io::Error::other(format!(
                "`{name}` makes programs load something, and cannot be set in the sandbox"
            )));
        }
        self.environment = self.environment.with(set);
        Ok(self)
    }

    /// Has whoever meets a wall told another way out.
    #[must_use]
    pub(crate) fn left_by(self, leaving: &'static str) -> Self {
        Self { leaving, ..self }
    }

    /// Returns the program to start.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns its arguments.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Returns its environment: this and nothing else.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Runs it to its end: until it exits, its time is up, it uses too much or `cancel` says so.
    ///
    /// `keep` characters of either end of either stream are kept; `listener` hears both as they come.
    pub(crate) async fn run(
        &self,
        cwd: &Path,
        time_limit: Duration,
        keep: usize,
        listener: Option<&(dyn Fn(&str) + Send + Sync)>,
        cancel: &CancellationToken,
    ) -> io::Result<FinishedProcess> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let launch = ProcessLaunch {
            program: &self.program,
            arguments: &arguments,
            cwd,
            environment: &self.environment,
            time_limit,
            keep,
            listener,
        };
        process::run_watched(launch, self.watch.as_ref(), cancel).await
    }

    /// Returns who looks at what the child and its kin use.
    #[cfg(feature = "mcp")]
    pub(crate) fn watch(&self) -> Option<&UsageWatch> {
        self.watch.as_ref()
    }

    /// Returns what to say of the walls, when no process of the child is left, and puts aside what it
    /// made that steers later runs.
    pub(crate) fn notes(&self, texts: &[&str], exceeded: Option<ExceededLimit>) -> Vec<String> {
        if self.level == IsolationLevel::None {
            return Vec::new();
        }
        let mut said = Vec::new();
        said.extend(exceeded.map(|what| format!("The command ran in a sandbox: {what}.")));
        let traffic = self.proxy.as_ref().map_or_else(ProxyTraffic::default, SandboxProxy::traffic);
        said.extend(denial_notes::explain_denials(
            texts,
            self.level,
            &self.network,
            &traffic,
            self.leaving,
        ));
        let aside: Vec<_> = self.stand_ins.iter().flat_map(RootPlaceholders::put_aside).collect();
        for (was, is) in aside.iter().take(MOST_TOLD) {
            said.push(format!(
                "`{}` steers what runs later, and a command may make it only if it names it: it was put \
                 aside as `{}`.",
                was.display(),
                is.display()
            ));
        }
        if let Some(more) = aside.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
            said.push(format!("So were {more} more."));
        }
        if !traffic.reached.is_empty() {
            let hosts: Vec<_> = traffic.reached.iter().map(|host| format!("`{host}`")).collect();
            said.push(format!("It reached {}.", hosts.join(", ")));
        }
        said
    }
}
