//! The tools of this machine, and the leave they run on.
//!
//! What the server approved is planned here once more; the permit is for what that plan found.

use std::path::Path;
use std::sync::Arc;

use countersign_core::{
    Approval, ApprovalId, Basis, Digest, ExecutionId, Executor, Invalid, Outcome, Permit, Plan,
    Preimage, Preview, Reason, State, ToolCall, Verdict, risk,
};
use countersign_gate::{Clock, SystemClock};
use countersign_tools::{
    ClientSide, Environment, ExecuteCommand, Listener, Sandbox, Tool, Toolbox,
};
use serde_json::Value;
use uuid::Uuid;

use super::card::Local;
use super::event::{Request, Signal};
use super::lease::Outputs;
use crate::environment;

/// What runs here, and where.
pub(super) struct Bench {
    tools: Toolbox,
    root: Arc<Path>,
    project: String,
}

impl Bench {
    /// Returns the tools of a side; commands run in a sandbox, and what they print goes to `outputs`.
    pub(super) fn new(
        side: &ClientSide,
        sandbox: Sandbox,
        project: &str,
        outputs: Arc<Outputs>,
    ) -> Self {
        let environment = Environment::from(environment::for_tools());
        let listener = Listener::new(move |call, piece| outputs.add(call, piece));
        let command = ExecuteCommand::new(side.clone())
            .with_environment(environment.clone())
            .with_listener(listener)
            .with_sandbox(sandbox);
        let tools = Toolbox::client(side, environment).with(command);
        let root: Arc<Path> = side.root().into();
        Self { tools, root, project: project.to_owned() }
    }

    /// Returns the tool of a call and leave to run it, if this machine has nothing against it.
    ///
    /// `seen` are the files a person here saw it by: if one has changed since, it does not run. May
    /// read files.
    pub(super) fn leave(
        &self,
        signal: &Signal,
        seen: Vec<Preimage>,
    ) -> Result<(Arc<dyn Tool>, Permit), Invalid> {
        let Some(tool) = self.tools.get(&signal.tool_name) else {
            return Err(Invalid(format!("this client has no tool `{}`", signal.tool_name)));
        };
        let session = signal.session_id.as_deref().unwrap_or_default();
        let call = self.call(signal.tool_id, session, &signal.tool_name, &signal.tool_params);
        let Plan { effects, summary, commands, .. } = tool.plan(&call)?;
        let now = SystemClock.now();
        let reason = Reason::new(Outcome::Allow, "the server gave leave for it");
        let approval = Approval {
            canonical: None,
            id: signal.approval_id.unwrap_or_else(|| ApprovalId::from(Uuid::now_v7())),
            digest: Digest::of(&[]),
            risk: risk::assess(&effects),
            verdict: Verdict::from_reasons(vec![reason]),
            preview: Some(Preview::Generic { input: Value::Null, preimages: seen }),
            basis: Basis::default(),
            created_at: now,
            state: State::Pending,
            call,
            effects,
            commands,
            summary,
        };
        let started = approval.bound().allow(now).map(|allowed| allowed.start(now));
        match started {
            Ok(Ok((_, permit))) => Ok((Arc::clone(tool), permit)),
            Ok(Err(error)) => Err(Invalid(error.to_string())),
            Err(error) => Err(Invalid(error.to_string())),
        }
    }

    /// Returns what this machine can tell of a request. May read files.
    pub(super) fn look_at(&self, request: &Request) -> Local {
        let ours = request.origin.as_deref().is_none_or(|origin| origin == "client");
        let Some(tool) = self.tools.get(&request.tool_name).filter(|_| ours) else {
            return Local::Nothing;
        };
        let call = self.call(request.tool_id, "", &request.tool_name, &request.tool_input);
        match tool.preview(&call) {
            Ok(preview) => Local::Preview(Box::new(preview)),
            Err(Invalid(why)) => Local::Refused(why),
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
