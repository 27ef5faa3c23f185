//! Commands: what a client says on the socket.

use countersign_api::socket::command::ClientCommand;
use serde_json::Value;

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
