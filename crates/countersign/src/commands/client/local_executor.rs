//! The tools of this machine, and the leave they run on.
//!
//! What the server approved is planned here once more; the permit is for what that plan found.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::{
    ApprovalId, CallPlan, DecisionContext, Digest, Effect, Execution, ExecutionId, ExecutionState,
    Executor, InvalidCall, Permit, Preview, ToolCall, Verdict, VerdictAction, VerdictReason, risk,
};
use countersign_gate::{Clock, SystemClock};
use countersign_tools::{
    ClientSide, Environment, ExecuteCommand, OutputListener, Sandbox, Tool, ToolError, Toolbox,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::lease::OutputBuffers;
use super::server_event::{CallSignal, ClientPreviewRequest};
use crate::environment;

/// What runs here, and where.
pub(super) struct LocalExecutor {
    tools: Toolbox,
    root: Arc<Path>,
    project: String,
    /// What calls would reach, as the server was told.
    // Bounded by the calls that this process is asked about; each goes when it runs.
    said: Mutex<HashMap<ExecutionId, Vec<Effect>>>,
}

impl LocalExecutor {
    /// Returns the tools of a side; commands run in a sandbox, and what they print goes to `outputs`.
    pub(super) fn new(
        side: &ClientSide,
        sandbox: Sandbox,
        project: &str,
        outputs: Arc<OutputBuffers>,
    ) -> Self {
        let environment = Environment::from(environment::for_tools());
        let listener = OutputListener::new(move |call, piece| outputs.add(call, piece));
        let command = ExecuteCommand::new(side.clone())
            .with_environment(environment.clone())
            .with_listener(listener)
            .with_sandbox(sandbox);
        let tools = Toolbox::client(side, environment).with(command);
        let root: Arc<Path> = side.root().into();
        Self { tools, root, project: project.to_owned(), said: Mutex::default() }
    }

    /// Returns the tool of a call and leave to run it, if this machine has nothing against it.
    ///
    /// If a file has changed since it was shown, or a command would no longer do what this machine said
    /// of it, it does not run. May read files.
    pub(super) fn issue_permit(
        &self,
        signal: &CallSignal,
    ) -> Result<(Arc<dyn Tool>, Permit), ToolError> {
        let Some(tool) = self.tools.get(&signal.tool_name) else {
            return Err(
                InvalidCall(format!("this client has no tool `{}`", signal.tool_name)).into()
            );
        };
        let session = signal.session_id.as_deref().unwrap_or_default();
        let call = self.call(signal.tool_id, session, &signal.tool_name, &signal.tool_params);
        let CallPlan { effects, summary, commands, .. } = tool.plan(&call)?;
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).remove(&signal.tool_id);
        if said.is_some_and(|said| said != reached(&effects)) {
            return Err(ToolError::Moved);
        }
        let seen = signal.preimages.clone();
        let now = SystemClock.now();
        let reason = VerdictReason::new(VerdictAction::Allow, "the server gave leave for it");
        let approval = Execution {
            canonical: None,
            id: signal.approval_id.unwrap_or_else(|| ApprovalId::from(Uuid::now_v7())),
            digest: Digest::for_bytes(&[]),
            risk: risk::assess(&effects),
            verdict: Verdict::from_reasons(vec![reason]),
            preview: Some(Preview::Generic { input: Value::Null, preimages: seen }),
            basis: DecisionContext::default(),
            created_at: now,
            state: ExecutionState::Pending,
            call,
            effects,
            commands,
            summary,
        };
        let started = approval.with_updated_binding().allow(now).map(|allowed| allowed.start(now));
        match started {
            Ok(Ok((_, permit))) => Ok((Arc::clone(tool), permit)),
            Ok(Err(error)) => Err(InvalidCall(error.to_string()).into()),
            Err(error) => Err(InvalidCall(error.to_string()).into()),
        }
    }

    /// Returns what this machine says of a call that it would run, as it is told to the server. May read
    /// files.
    pub(super) fn inspect_call(&self, asked: &ClientPreviewRequest, client: &str) -> Value {
        let call = self.call(asked.id, "", &asked.tool_name, &asked.input);
        let tool = self.tools.get(&asked.tool_name);
        let looked = match tool {
            Some(tool) => tool.plan(&call).and_then(|plan| {
                let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
                said.insert(asked.id, reached(&plan.effects));
                drop(said);
                tool.client_look(&call)
            }),
            None => Err(InvalidCall(format!("this client has no tool `{}`", asked.tool_name))),
        };
        let root = self.root.display().to_string();
        match looked {
            Err(InvalidCall(why)) => json!({"client_id": client, "root": root, "refusal": why}),
            Ok(look) => {
                let (file, command) = (look.file, look.command);
                json!({
                    "client_id": client,
                    "root": root,
                    "path": file.as_ref().map(|file| &file.path),
                    "digest": file.as_ref().and_then(|file| file.digest.as_ref()),
                    "content": file.as_ref().and_then(|file| file.content.as_ref()),
                    "program": command.as_ref().map(|command| &command.program),
                    "effects": command.as_ref().map(|command| &command.effects),
                })
            }
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
