//! Hooks that are ready to use.

use serde_json::{Map, Value};

use super::{HookEvent, HookFailurePolicy, HookInput, HookMatcher, HookOutput};

impl HookMatcher {
    /// Checks every call of a tool before it runs: an `Err` stops it, and the model reads why.
    /// If the check itself fails, the call is blocked.
    ///
    /// ```
    /// use countersign_claude::HookMatcher;
    ///
    /// let no_sudo = HookMatcher::validation(|_tool, input| {
    ///     match input.get("command").and_then(|it| it.as_str()) {
    ///         Some(command) if command.contains("sudo") => Err("sudo is not allowed".to_owned()),
    ///         _ => Ok(()),
    ///     }
    /// })
    /// .matching("Bash");
    /// ```
    pub fn validation<F>(check: F) -> Self
    where
        F: Fn(&str, &Map<String, Value>) -> Result<(), String> + Send + Sync + 'static,
    {
        let run = move |input: HookInput| {
            let output = match input.tool().map(|(tool, input)| check(tool, input)) {
                Some(Ok(())) => HookOutput::proceed(),
                Some(Err(why)) => HookOutput::deny(why),
                None => HookOutput::deny("the call could not be read"),
            };
            std::future::ready(output)
        };
        Self::new(HookEvent::PreToolUse, run).on_failure(HookFailurePolicy::Block)
    }

    /// Is told of every event of a kind and changes nothing.
    pub fn logging<F>(event: HookEvent, log: F) -> Self
    where
        F: Fn(&HookInput) + Send + Sync + 'static,
    {
        Self::new(event, move |input: HookInput| {
            log(&input);
            std::future::ready(HookOutput::proceed())
        })
    }

    /// Stops every call of these tools.
    pub fn deny_tools<T: Into<String>>(tools: impl IntoIterator<Item = T>) -> Self {
        let tools: Vec<String> = tools.into_iter().map(Into::into).collect();
        Self::validation(move |tool, _| {
            if tools.iter().any(|denied| denied == tool) {
                return Err(format!("the tool `{tool}` is not allowed"));
            }
            Ok(())
        })
    }

    /// Stops every call but those of these tools, which still need their permission.
    pub fn allow_only<T: Into<String>>(tools: impl IntoIterator<Item = T>) -> Self {
        let tools: Vec<String> = tools.into_iter().map(Into::into).collect();
        Self::validation(move |tool, _| {
            if tools.iter().any(|allowed| allowed == tool) {
                return Ok(());
            }
            Err(format!("the tool `{tool}` is not among those allowed"))
        })
    }
}
