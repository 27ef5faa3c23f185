//! Commands: what a client says on the socket.

use countersign_core::PermissionMode;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::decide::DecisionScope;

/// What a client wants.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
pub(crate) enum ClientCommand {
    /// Runs a prompt.
    Run(RunCommand),
    /// Decides a request.
    ToolApprovalResponse(ApprovalResponse),
    /// Stops a run; what it waits for is taken back.
    Cancel(SessionSelector),
    /// Approves exactly the requests that are listed, HIGH excepted.
    ApproveAll(ApproveAllCommand),
    /// Goes on reading the log after a number.
    Resume(ResumeCommand),
}

/// A prompt and how to run it.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct RunCommand {
    /// What the person asks.
    pub(crate) prompt: String,
    /// Whether to go on with a conversation: `session_id`, or the project's latest.
    #[serde(default)]
    pub(crate) r#continue: bool,
    /// How calls are decided; as the project's settings and the conversation's last run say unless
    /// given, `sdk` where they say nothing.
    #[serde(default)]
    pub(crate) permission_mode: Option<RunPermissionMode>,
    /// What becomes of calls that would ask; as the rules say where it is not given.
    pub(crate) mode: Option<RunMode>,
    /// Whether calls that only look run without asking.
    #[serde(default = "yes")]
    pub(crate) auto_approve_safe: bool,
    /// The conversation.
    pub(crate) session_id: Option<String>,
    /// The folder to work in, inside the project's root.
    pub(crate) cwd: Option<String>,
    /// The model to ask.
    pub(crate) model: Option<String>,
    /// Added to the system prompt of the server's own loop; what the server was started with if left out.
    pub(crate) system_prompt: Option<String>,
    /// How long one answer of the model may be, in the server's own loop.
    #[schema(minimum = 1)]
    pub(crate) max_tokens: Option<u32>,
}

/// What becomes of calls that would ask. Denials and floors hold in every mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RunMode {
    /// Nothing is changed.
    Plan,
    /// A person is asked.
    Default,
    /// Changes to ordinary files of the workspace run.
    AcceptEdits,
    /// What would ask is denied.
    DontAsk,
}

impl From<RunMode> for PermissionMode {
    fn from(mode: RunMode) -> Self {
        match mode {
            RunMode::Plan => Self::Plan,
            RunMode::Default => Self::Default,
            RunMode::AcceptEdits => Self::AcceptEdits,
            RunMode::DontAsk => Self::DontAsk,
        }
    }
}

/// A person's decision. A field that is not known is refused: nobody means nothing by it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovalResponse {
    /// Which request.
    pub(crate) request_id: String,
    /// Yes or no.
    pub(crate) approved: bool,
    /// With a no: what to do instead. With a yes: words that are kept beside it.
    pub(crate) feedback: Option<String>,
    /// The digest of what the person saw.
    pub(crate) digest: Option<String>,
    /// The whole input as the person changed it.
    pub(crate) edited_input: Option<Value>,
    /// How far the decision reaches; `once` unless said.
    #[serde(default)]
    pub(crate) scope: DecisionScope,
    /// The rules of the proposal that was picked, a line each; the narrowest if none.
    pub(crate) rule: Option<String>,
}

/// The conversation a command is about; the socket's own if none is named.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SessionSelector {
    pub(crate) session_id: Option<String>,
}

/// Which requests to approve: what the person saw, each with its digest.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ApproveAllCommand {
    /// 1,000 at the most.
    #[schema(required, nullable = false, max_items = 1000)]
    pub(crate) requests: Option<Vec<SeenRequest>>,
}

/// A request as a person saw it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SeenRequest {
    pub(crate) request_id: String,
    pub(crate) digest: String,
}

/// Where to go on reading.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ResumeCommand {
    /// The number of the last message that was seen.
    pub(crate) after: u64,
    /// The conversation to read; all of the project if none.
    pub(crate) session_id: Option<String>,
}

/// S1's three ways to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize, ToSchema)]
pub(crate) enum RunPermissionMode {
    /// Our own loop; people decide.
    #[default]
    #[serde(rename = "sdk")]
    Sdk,
    /// The Claude Code CLI; people decide.
    #[serde(rename = "toolApproval")]
    ToolApproval,
    /// The Claude Code CLI, unattended.
    #[serde(rename = "bypassPermissions")]
    BypassPermissions,
}

impl RunPermissionMode {
    pub(crate) const ALL: [Self; 3] = [Self::BypassPermissions, Self::Sdk, Self::ToolApproval];

    /// Returns what people call it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::BypassPermissions => "Auto Execute",
            Self::Sdk => "Review & Approve (SDK)",
            Self::ToolApproval => "Review & Approve (CLI)",
        }
    }
}

fn yes() -> bool {
    true
}

/// What is wrong with a command: a stable word and a sentence.
pub(crate) type CommandRefusal = (&'static str, String);

/// The names of all commands.
const KNOWN: [&str; 5] = ["run", "tool_approval_response", "cancel", "approve_all", "resume"];

/// Reads a command.
pub(crate) fn parse(text: &str) -> Result<ClientCommand, CommandRefusal> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| ("bad_json", format!("this is not JSON: {error}")))?;
    let name = value.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !KNOWN.contains(&name.as_str()) {
        let known = KNOWN.join(", ");
        return Err((
            "unknown_command",
            format!("no command is called `{name}`; there are: {known}"),
        ));
    }
    serde_json::from_value(value)
        .map_err(|error| ("bad_command", format!("`{name}` cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_founding_documents_examples_are_understood() {
        let run = r#"{"command":"run","prompt":"Create a file","continue":false,
            "permission_mode":"sdk","auto_approve_safe":true}"#;
        assert!(matches!(parse(run), Ok(ClientCommand::Run(_))));
        let yes = r#"{"command":"tool_approval_response","request_id":"u","approved":true}"#;
        assert!(matches!(parse(yes), Ok(ClientCommand::ToolApprovalResponse(_))));
        let no = r#"{"command":"tool_approval_response","request_id":"u","approved":false,
            "feedback":"Don't"}"#;
        assert!(matches!(parse(no), Ok(ClientCommand::ToolApprovalResponse(_))));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        check("nonsense", "bad_json");
        check("{}", "unknown_command");
        check(r#"{"command":"fly"}"#, "unknown_command");
        check(r#"{"command":"run"}"#, "bad_command");
        check(r#"{"command":"run","prompt":"x","permission_mode":"yolo"}"#, "bad_command");
    }

    #[test]
    fn a_decision_with_a_field_nobody_knows_is_refused_elsewhere_it_is_ignored() {
        let decision = r#"{"command":"tool_approval_response","request_id":"u","approved":true,"aproved":false}"#;
        check(decision, "bad_command");
        assert!(parse(r#"{"command":"cancel","mood":"good"}"#).is_ok());
    }

    #[track_caller]
    fn check(text: &str, code: &str) {
        assert_eq!(parse(text).unwrap_err().0, code, "{text}");
    }
}
