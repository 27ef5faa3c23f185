//! A workspace in a temporary folder, and the way of a call from its plan to its result.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::{
    Approval, Basis, Digest, Effect, Invalid, Permit, Plan, Planner, Preview, Risk, State,
    ToolCall, ToolOutput, Verdict,
};
use countersign_tools::{Catalogue, Environment, Tool, ToolError, Toolbox, Workspace};
use jiff::Timestamp;
use rustix::fs::{CWD, FileType, Mode};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(crate) struct World {
    _folder: tempfile::TempDir,
    /// The workspace.
    pub(crate) root: PathBuf,
    /// A folder next to it.
    pub(crate) outside: PathBuf,
    pub(crate) toolbox: Toolbox,
    pub(crate) catalogue: Catalogue,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, outside) = (base.join("ws"), base.join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        let workspace = Workspace::new([root.clone()]).unwrap();
        let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
        let environment = Environment::from(vec![path]);
        let toolbox = Toolbox::coding(&workspace, environment.clone());
        let catalogue = Catalogue::new(workspace, environment);
        Self { _folder: folder, root, outside, toolbox, catalogue }
    }

    pub(crate) fn with_file(name: &str, content: impl AsRef<[u8]>) -> Self {
        let world = Self::new();
        world.write(name, content);
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, to: impl AsRef<Path>, name: &str) {
        symlink(to, self.path(name)).unwrap();
    }

    pub(crate) fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        path
    }

    /// Returns every name in the workspace's root.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.root).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        Arc::clone(self.toolbox.get(name).unwrap())
    }

    fn planner(&self, name: &str) -> Arc<dyn Planner> {
        self.catalogue.planner(name).unwrap()
    }

    pub(crate) fn call(&self, tool: &str, input: Value) -> ToolCall {
        ToolCall {
            id: Uuid::nil().into(),
            project: "p".into(),
            session: "s".into(),
            run: None,
            tool_use_id: "toolu_1".into(),
            tool_name: tool.to_owned(),
            input,
            cwd: self.root.clone(),
            executor: countersign_core::Executor::Local,
            agent: None,
        }
    }

    pub(crate) fn plan(&self, tool: &str, input: Value) -> Result<Plan, Invalid> {
        self.planner(tool).plan(&self.call(tool, input))
    }

    pub(crate) fn preview(&self, tool: &str, input: Value) -> Result<Preview, Invalid> {
        self.planner(tool).preview(&self.call(tool, input))
    }

    /// Returns the permit of a call that a person has seen.
    pub(crate) fn approve(&self, tool: &str, input: Value) -> Permit {
        let preview = self.preview(tool, input.clone()).unwrap();
        self.permit(self.call(tool, input), Some(preview)).unwrap()
    }

    /// Returns the permit of a call of which a person has seen just this.
    pub(crate) fn shown(&self, tool: &str, input: Value, preview: Preview) -> Permit {
        self.permit(self.call(tool, input), Some(preview)).unwrap()
    }

    fn permit(&self, call: ToolCall, preview: Option<Preview>) -> Result<Permit, Invalid> {
        let Plan { effects, summary, .. } = self.tool(&call.tool_name).plan(&call)?;
        Ok(permit(call, effects, summary, preview))
    }

    /// A permit for a call that nobody had to be asked for.
    pub(crate) fn permitted(&self, tool: &str, input: Value) -> Result<Permit, Invalid> {
        self.permit(self.call(tool, input), None)
    }

    pub(crate) async fn run_permit(&self, permit: Permit) -> Result<ToolOutput, ToolError> {
        let tool = self.tool(&permit.call().tool_name);
        countersign_tools::run(tool, permit, CancellationToken::new()).await
    }

    /// Runs a call that nobody had to be asked for.
    pub(crate) async fn run(&self, tool: &str, input: Value) -> Result<ToolOutput, ToolError> {
        self.run_cancellable(tool, input, CancellationToken::new()).await
    }

    pub(crate) async fn run_cancellable(
        &self,
        tool: &str,
        input: Value,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let permit = self.permit(self.call(tool, input), None)?;
        countersign_tools::run(self.tool(tool), permit, cancel).await
    }

    pub(crate) async fn run_in(
        &self,
        cwd: &Path,
        tool: &str,
        input: Value,
    ) -> Result<ToolOutput, ToolError> {
        let call = ToolCall { cwd: cwd.to_owned(), ..self.call(tool, input) };
        self.run_permit(self.permit(call, None)?).await
    }

    /// Runs a call that is to succeed.
    pub(crate) async fn ok(&self, tool: &str, input: Value) -> String {
        let output = self.run(tool, input).await.unwrap();
        assert!(!output.is_error, "{}", output.content);
        output.content
    }

    /// Runs a call that is to fail.
    pub(crate) async fn fails(&self, tool: &str, input: Value) -> String {
        self.run(tool, input).await.unwrap_err().to_string()
    }
}

fn permit(
    call: ToolCall,
    effects: Vec<Effect>,
    summary: String,
    preview: Option<Preview>,
) -> Permit {
    let now = Timestamp::UNIX_EPOCH;
    let approval = Approval {
        id: Uuid::nil().into(),
        digest: Digest::of(&[]),
        call,
        effects,
        commands: Vec::new(),
        basis: Basis::default(),
        summary,
        risk: Risk::High,
        verdict: Verdict::from_reasons(Vec::new()),
        preview,
        created_at: now,
        state: State::Pending,
    };
    let (_, permit) = approval.allow(now).unwrap().start(now).unwrap();
    permit
}

/// Asserts that a text contains another.
#[track_caller]
pub(crate) fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in: {text}");
}
