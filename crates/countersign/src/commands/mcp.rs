//! `countersign mcp`: the permission tool of Claude Code, over stdin and stdout.
//!
//! Here is no prompt of the agent's own to fall back to: what nobody has decided is denied.

mod servers;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use countersign_client::consent::{ConsentAnswer, ConsentRequest, RulesAnswer, answer_from_rules};
use countersign_core::PermissionMode;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    InitializeResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::McpArgs;
use crate::consent_setup::{ask_server, local_rules_place};
use crate::environment;
use crate::runtime::small_runtime;

/// The one tool.
const APPROVE: &str = "approve";

pub(crate) use servers::load_mcp_servers;

pub(crate) fn run(args: McpArgs) -> anyhow::Result<()> {
    if let Some(what) = &args.what {
        return servers::run(what);
    }
    let here = environment::working_folder().context("the working folder is gone")?;
    let root = environment::claude_project().unwrap_or_else(|| here.clone());
    let session = format!("mcp-{}", countersign_gate::new_id::<countersign_core::RunId>());
    let server = PermissionServer { args: Arc::new(args), root, cwd: here, session };
    small_runtime()?.block_on(async {
        let serving = server.serve(rmcp::transport::stdio()).await?;
        serving.waiting().await?;
        Ok(())
    })
}

/// Where calls are handed in.
#[derive(Clone)]
struct PermissionServer {
    args: Arc<McpArgs>,
    root: PathBuf,
    cwd: PathBuf,
    session: String,
}

/// What Claude Code sends.
#[derive(Deserialize)]
struct PermissionToolInput {
    tool_name: String,
    input: Value,
    #[serde(default)]
    tool_use_id: Option<String>,
}

impl PermissionServer {
    /// Returns what is said to a call, as Claude Code reads it.
    async fn answer(&self, arguments: Value) -> Value {
        let denied = |why: String| json!({"behavior": "deny", "message": why});
        let PermissionToolInput { tool_name, input, tool_use_id } =
            match PermissionToolInput::deserialize(arguments) {
                Ok(asked) => asked,
                Err(error) => return denied(format!("the call is not understood: {error}")),
            };
        let (session, root) = (self.session.clone(), self.root.clone());
        let (cwd, mode) = (self.cwd.clone(), PermissionMode::Default);
        let call = ConsentRequest {
            tool_name,
            input,
            tool_use_id,
            session,
            root,
            cwd,
            mode,
            agent_decides: false,
            agent: None,
        };
        match self.consent(&call).await {
            ConsentAnswer::Allowed { input, .. } => {
                json!({"behavior": "allow", "updatedInput": input.unwrap_or(call.input)})
            }
            ConsentAnswer::Denied { why } => denied(why),
            ConsentAnswer::Undecided { why } => denied(format!("Not approved: {why}")),
            ConsentAnswer::NotOurs => denied(format!(
                "`{}` needs a person at Claude Code itself, and none is there",
                call.tool_name.escape_debug()
            )),
        }
    }

    async fn consent(&self, call: &ConsentRequest) -> ConsentAnswer {
        let (args, asked) = (Arc::clone(&self.args), call.clone());
        let judging = tokio::task::spawn_blocking(move || {
            answer_from_rules(&asked, &local_rules_place(&args.asking))
        });
        match judging.await {
            Ok(RulesAnswer::Answered(consent)) => consent,
            Ok(RulesAnswer::Open(open)) => {
                let wait = Duration::from_secs(self.args.wait);
                ask_server(*open, call, &self.args.asking, wait).await
            }
            Err(_) => ConsentAnswer::Undecided {
                why: "the call could not be judged: this is a fault of Countersign".to_owned(),
            },
        }
    }
}

impl ServerHandler for PermissionServer {
    fn get_info(&self) -> InitializeResult {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = InitializeResult::new(capabilities);
        info.server_info = Implementation::new("countersign", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![approve()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != APPROVE {
            let why = format!("no tool is called `{}`", request.name.escape_debug());
            return Err(ErrorData::invalid_params(why, None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let answer = self.answer(arguments).await.to_string();
        Ok(CallToolResult::success(vec![ContentBlock::text(answer)]).into())
    }
}

fn approve() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "tool_name": {"type": "string", "description": "The tool that is about to be used"},
            "input": {"type": "object", "description": "Its input"},
            "tool_use_id": {"type": "string", "description": "The id of the call"},
        },
        "required": ["tool_name", "input"],
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(
        APPROVE,
        "Says whether a tool may be used; asks a person where rules do not say",
        schema,
    )
}
