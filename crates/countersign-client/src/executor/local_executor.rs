//! The tools of this machine, and the leave they run on.
//!
//! What the server approved is planned here once more; the permit is for what that plan found.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_api::preimage::PreimageBody;
use countersign_api::received::{ReceivedPreviewRequest, ReceivedSignal};
use countersign_core::{
    ApprovalId, CallPlan, Effect, ExecutionId, Executor, InvalidCall, RemotePermit, SignalledCall,
    ToolCall,
};
use countersign_seal::ServerSignal;
use countersign_tools::{
    ClientSide, Environment, ExecuteCommand, OutputListener, Sandbox, Tool, ToolError, Toolbox,
};
use serde_json::Value;
use uuid::Uuid;

use super::lease::OutputBuffers;

/// What runs here, and where.
pub struct LocalExecutor {
    tools: Toolbox,
    outputs: Arc<OutputBuffers>,
    root: Arc<Path>,
    project: String,
    /// What calls would reach, as the server was told.
    // Bounded by the calls that this process is asked about; each goes when it runs.
    said: Mutex<HashMap<ExecutionId, Vec<Effect>>>,
}

impl LocalExecutor {
    /// Returns the tools of a side. Commands run in a sandbox and know this environment.
    pub fn new(
        side: &ClientSide,
        sandbox: Sandbox,
        environment: Environment,
        project: &str,
    ) -> Self {
        let outputs = Arc::new(OutputBuffers::default());
        let printed = outputs.clone();
        let listener = OutputListener::new(move |call, piece| printed.add(call, piece));
        let command = ExecuteCommand::new(side.clone())
            .with_environment(environment.clone())
            .with_listener(listener)
            .with_sandbox(sandbox);
        let tools = Toolbox::client(side, environment).with(command);
        let root: Arc<Path> = side.root().into();
        Self { tools, outputs, root, project: project.to_owned(), said: Mutex::default() }
    }

    /// Returns what commands have printed and nobody has been told of.
    pub(crate) fn outputs(&self) -> Arc<OutputBuffers> {
        self.outputs.clone()
    }

    /// Returns the tool of a call and leave to run it, if this machine has nothing against it.
    ///
    /// If a file has changed since it was shown, or a command would no longer do what this machine said
    /// of it, it does not run. May read files.
    pub(crate) fn issue_permit(
        &self,
        signal: &ReceivedSignal,
    ) -> Result<(Arc<dyn Tool>, RemotePermit), ToolError> {
        let Some(tool) = self.tools.get(&signal.tool_name) else {
            return Err(
                InvalidCall(format!("this client has no tool `{}`", signal.tool_name)).into()
            );
        };
        let session = signal.session_id.as_deref().unwrap_or_default();
        let call = self.call(signal.tool_id, session, &signal.tool_name, &signal.tool_params);
        let CallPlan { effects, .. } = tool.plan(&call)?;
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).remove(&signal.tool_id);
        if said.is_some_and(|said| said != reached(&effects)) {
            return Err(ToolError::Moved);
        }
        let approval = signal.approval_id.unwrap_or_else(|| ApprovalId::from(Uuid::now_v7()));
        let preimages = signal.preimages.clone();
        let signalled = ServerSignal::from_connection(SignalledCall { approval, call, preimages });
        Ok((Arc::clone(tool), RemotePermit::from_signal(signalled, effects)))
    }

    /// Returns what this machine says of a call that it would run, as the server is told. May read
    /// files.
    pub fn inspect_call(&self, asked: &ReceivedPreviewRequest, client_id: String) -> PreimageBody {
        let ReceivedPreviewRequest { tool_id: id, tool_name, tool_params } = asked;
        let call = self.call(*id, "", tool_name, tool_params);
        let looked = match self.tools.get(tool_name) {
            Some(tool) => tool.plan(&call).and_then(|plan| {
                let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
                said.insert(*id, reached(&plan.effects));
                drop(said);
                tool.client_look(&call)
            }),
            None => Err(InvalidCall(format!("this client has no tool `{tool_name}`"))),
        };
        let root = self.root.display().to_string();
        match looked {
            Ok(look) => PreimageBody::from_look(look, client_id, root),
            Err(InvalidCall(why)) => PreimageBody::from_refusal(why, client_id, root),
        }
    }

    fn call(&self, id: ExecutionId, session: &str, tool: &str, input: &Value) -> ToolCall {
        ToolCall {
            id,
            project: self.project.as_str().into(),
            session: session.into(),
            run: None,
            tool_use_id: id.to_string().into(),
            tool_name: tool.to_owned(),
            input: input.clone(),
            cwd: self.root.to_path_buf(),
            // Elsewhere for the server is here.
            executor: Executor::Local,
            agent: None,
        }
    }
}

/// Returns where effects lead. By which words a program is started may differ: it is written out where
/// nobody was asked.
fn reached(effects: &[Effect]) -> Vec<Effect> {
    let is_start = |effect: &&Effect| matches!(effect, Effect::Exec { .. });
    effects.iter().filter(|effect| !is_start(effect)).cloned().collect()
}
