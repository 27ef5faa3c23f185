//! How a session is opened: start, `initialize`, and only then the first prompt.

use crate::control::{ControlSession, InitializeResponse, MessageSender};
use crate::error::{ConnectError, ControlError};
use crate::hook::HookFailurePolicy;
use crate::options::Options;
use crate::transport::{CliLaunch, Transport};

/// Opens a session. Dropped at any point, it leaves no process behind.
pub(crate) async fn open_session(
    transport: &dyn Transport,
    options: &Options,
    everything: Option<MessageSender>,
) -> Result<(ControlSession, InitializeResponse), ConnectError> {
    options.check()?;
    for tool in options.shadowed_tools() {
        tracing::warn!(
            tool,
            "an allowed tool never reaches the permission callback; a PreToolUse hook would see it"
        );
    }
    let wire = transport.open(CliLaunch::new(options)).await?;
    let session = ControlSession::start(wire, options, everything);
    let limit = options.limits.initialize;
    let asked = session.shared().request("initialize", options.initialize_fields(), limit);
    let answer = asked.await.map_err(|error| match error {
        ControlError::Ended(end) => ConnectError::Ended(end),
        ControlError::Timeout { after, .. } => ConnectError::Timeout {
            after,
            last_mark: session.shared().last_mark(),
            stderr: session.shared().stderr(),
        },
        error => ConnectError::Refused(error),
    })?;
    // What it offers is good to know; a form we do not expect is no reason to refuse it.
    let offers: InitializeResponse = serde_json::from_value(answer).unwrap_or_default();
    let blocks = options.hooks.iter().any(|hook| hook.on_failure == HookFailurePolicy::Block);
    let can_block = offers.hook_on_failure_supported == Some(true);
    if blocks && (!can_block || offers.hooks_applied == Some(false)) {
        return Err(ConnectError::OnFailureUnsupported);
    }
    Ok((session, offers))
}
