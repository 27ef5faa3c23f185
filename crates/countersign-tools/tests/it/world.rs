//! A workspace in a temporary folder, and the way of a call from its plan to its result.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::{CallPlan, InvalidCall, Permit, Planner, Preview, ToolCall, ToolOutput};
use countersign_test_permits::{permit_by_person, permit_by_policy};
use countersign_tools::{
    Bash, Environment, PlannerCatalogue, Sandbox, SandboxSetup, Tool, ToolError, Toolbox, Workspace,
};
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
    pub(crate) catalogue: PlannerCatalogue,
    /// Where its commands run.
    pub(crate) sandbox: Sandbox,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::within(tempfile::tempdir().unwrap())
    }

    fn within(folder: tempfile::TempDir) -> Self {
        let base = folder.path().canonicalize().unwrap();
        let (root, outside) = (base.join("ws"), base.join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        let workspace = Workspace::new([root.clone()]).unwrap();
        let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
        let environment = Environment::from(vec![path]);
        let toolbox = Toolbox::full(&workspace, environment.clone());
        let catalogue = PlannerCatalogue::new(workspace, environment);
        Self { _folder: folder, root, outside, toolbox, catalogue, sandbox: Sandbox::off() }
    }

    /// A world whose commands run in a sandbox, at the best level there is here.
    ///
    /// The machine's own state lies in `outside/own`, its user's home is `outside/home`.
    ///
    /// None where bubblewrap is left out on purpose, which is said.
    pub(crate) async fn in_sandbox() -> Option<Self> {
        Self::in_sandbox_of(|_| {}).await
    }

    /// The same in a place that is seen inside, which `/tmp` is not.
    pub(crate) async fn in_visible_sandbox() -> Option<Self> {
        Self::in_sandbox_within(visible_folder(), |_| {}).await
    }

    /// The same in a folder.
    pub(crate) async fn in_sandbox_at(folder: &Path) -> Self {
        let folder = tempfile::tempdir_in(folder).unwrap();
        Self::in_sandbox_within(folder, |_| {}).await.unwrap()
    }

    /// The same, with something about the sandbox changed.
    pub(crate) async fn in_sandbox_of(change: impl FnOnce(&mut SandboxSetup)) -> Option<Self> {
        Self::in_sandbox_within(tempfile::tempdir().unwrap(), change).await
    }

    async fn in_sandbox_within(
        folder: tempfile::TempDir,
        change: impl FnOnce(&mut SandboxSetup),
    ) -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "what a tester says is in the environment")]
        let without = std::env::var("COUNTERSIGN_TEST_WITHOUT").unwrap_or_default();
        if without.split(',').any(|it| it == "bubblewrap") {
            println!("this is left out, as COUNTERSIGN_TEST_WITHOUT says");
            return None;
        }
        let world = Self::within(folder);
        let launcher = env!("CARGO_BIN_EXE_countersign-sandbox").to_owned();
        let mut setup = SandboxSetup::new(vec![launcher], world.outside.join("own/sandbox"));
        change(&mut setup);
        Some(world.with_setup(setup).await)
    }

    /// Has commands run in a sandbox of this kind.
    async fn with_setup(self, setup: SandboxSetup) -> Self {
        let (own, home) = (self.outside.join("own"), self.outside.join("home"));
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(&home).unwrap();
        let wanted = setup.at_most;
        let sandbox = Sandbox::probe(setup).await;
        // What tests try inside must not be tried outside.
        let (level, why) = (sandbox.level(), sandbox.why());
        assert_eq!(level, wanted, "install bubblewrap, or see docs/guide/sandbox.md: {why:?}");
        let workspace = Workspace::new([self.root.clone()]).unwrap().keeping_out_of([own]);
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let environment = Environment::from(vec![
            variable("PATH", "/usr/local/bin:/usr/bin:/bin"),
            variable("HOME", home.to_str().unwrap()),
        ]);
        let bash = Bash::new(workspace, environment).with_sandbox(sandbox.clone());
        let toolbox = self.toolbox.clone().with(bash);
        Self { toolbox, sandbox, ..self }
    }

    pub(crate) fn with_file(name: &str, content: impl AsRef<[u8]>) -> Self {
        let world = Self::new();
        world.write(name, content);
        world
    }

    pub(crate) fn with_tool(mut self, tool: impl Tool) -> Self {
        self.toolbox = self.toolbox.with(tool);
        self
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

    pub(crate) fn planner(&self, name: &str) -> Arc<dyn Planner> {
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

    pub(crate) fn plan(&self, tool: &str, input: Value) -> Result<CallPlan, InvalidCall> {
        self.planner(tool).plan(&self.call(tool, input))
    }

    pub(crate) fn preview(&self, tool: &str, input: Value) -> Result<Preview, InvalidCall> {
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

    fn permit(&self, call: ToolCall, preview: Option<Preview>) -> Result<Permit, InvalidCall> {
        let plan = self.tool(&call.tool_name).plan(&call)?;
        // What a person has seen runs as it was written.
        let canonical = plan.canonical.filter(|_| preview.is_none());
        let plan = CallPlan { canonical, commands: Vec::new(), ..plan };
        Ok(permit_by_policy(call, plan, preview).unwrap())
    }

    /// A permit for a call that nobody had to be asked for.
    pub(crate) fn permitted(&self, tool: &str, input: Value) -> Result<Permit, InvalidCall> {
        self.permit(self.call(tool, input), None)
    }

    pub(crate) async fn run_permit(&self, permit: Permit) -> Result<ToolOutput, ToolError> {
        let tool = self.tool(&permit.call().tool_name);
        countersign_tools::run(tool, permit, CancellationToken::new()).await
    }

    /// Runs a call that a person has said yes to.
    pub(crate) async fn run_consented(&self, tool: &str, input: Value) -> ToolOutput {
        let call = self.call(tool, input);
        let plan = self.tool(tool).plan(&call).unwrap();
        let permit = permit_by_person(call, CallPlan { canonical: None, ..plan }).unwrap();
        self.run_permit(permit).await.unwrap()
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

    /// Runs a call as it is, that nobody had to be asked for.
    pub(crate) async fn run_call(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        self.run_permit(self.permit(call, None)?).await
    }

    /// Runs a call that a person has seen.
    pub(crate) async fn approved(&self, tool: &str, input: Value) -> Result<ToolOutput, ToolError> {
        self.run_permit(self.approve(tool, input)).await
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

/// Asserts that a text contains another.
#[track_caller]
pub(crate) fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

/// Returns a folder that is seen inside a sandbox, with a short path, as sockets need one.
fn visible_folder() -> tempfile::TempDir {
    #[expect(clippy::disallowed_methods, reason = "a tester's home is in the environment")]
    let home = std::env::var("HOME").unwrap_or_default();
    let is_private =
        |path: &Path| ["/tmp", "/var/tmp", "/run", "/dev"].iter().any(|it| path.starts_with(it));
    let places = [home.as_str(), env!("CARGO_TARGET_TMPDIR"), "/srv"].map(Path::new);
    let mut visible = places.into_iter().filter(|place| !is_private(place));
    let made =
        visible.find_map(|place| tempfile::Builder::new().prefix("cs").tempdir_in(place).ok());
    made.expect("this needs a folder outside /tmp that can be written: set HOME to one")
}
