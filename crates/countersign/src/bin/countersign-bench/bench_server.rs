//! A server in a process of its own, to be measured from outside.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, bail};
use reqwest::RequestBuilder;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use uuid::Uuid;

/// A running server with a folder and a record of its own. It is ended when it is dropped.
pub(crate) struct BenchServer {
    child: Child,
    /// Kept open: it may go on to say things.
    _said: BufReader<ChildStdout>,
    /// Ends in `/`.
    base: String,
    token: String,
    _folder: TempDir,
}

impl BenchServer {
    #[expect(clippy::disallowed_methods, reason = "the child is the product, which is measured")]
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().join("root");
        let token = Uuid::now_v7().to_string();
        std::fs::create_dir(&root)?;
        let mut child = Command::new(product()?)
            .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--token", &token, "--root"])
            .arg(&root)
            .arg("--data")
            .arg(folder.path().join("data"))
            .current_dir(&root)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("the server cannot be started")?;
        let mut said = BufReader::new(child.stdout.take().context("the server has no output")?);
        let mut line = String::new();
        said.read_line(&mut line).await?;
        let base = line.trim_end().strip_prefix("listening on ").context("it does not listen")?;
        Ok(Self { child, _said: said, base: base.to_owned(), token, _folder: folder })
    }

    /// Returns the address of something in its project.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}my/projects/default/{path}", self.base)
    }

    pub(crate) fn signed(&self, request: RequestBuilder) -> RequestBuilder {
        request.bearer_auth(&self.token)
    }

    /// Returns how much memory it holds now, in bytes.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        let id = self.child.id().context("the server has ended")?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.context("the server's memory is not told")?.trim();
        Ok(kilobytes.trim_end_matches(" kB").parse::<u64>()? * 1024)
    }

    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }
}

/// Returns the product's program, which lies beside this one.
fn product() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("countersign");
    if program.exists() {
        return Ok(program);
    }
    bail!("`{}` is not there: build the package `countersign`", program.display())
}
