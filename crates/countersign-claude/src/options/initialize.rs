//! Options as the `initialize` request: what is too long or too live for a command line.

use serde_json::{Map, Value, json};

use super::{Options, SkillSelection, SystemPrompt};
use crate::hook::HookMatcher;

impl Options {
    /// Returns the request's fields, without its subtype. Unset ones are left out.
    pub(crate) fn initialize_fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        set("hooks", HookMatcher::registrations(&self.hooks));
        let servers: Vec<_> = self.sdk_servers.keys().collect();
        set("sdkMcpServers", (!servers.is_empty()).then(|| json!(servers)));
        let timeouts: Map<_, _> = self
            .sdk_servers
            .values()
            .filter_map(|server| Some((server.name().to_owned(), server.call_timeout()?)))
            .map(|(name, timeout)| (name, json!({ "timeout": timeout.as_millis() })))
            .collect();
        set("sdkMcpServerConfigs", (!timeouts.is_empty()).then_some(Value::Object(timeouts)));
        set("jsonSchema", self.output_schema.clone());
        match &self.system_prompt {
            SystemPrompt::Empty => set("systemPrompt", Some(json!([""]))),
            SystemPrompt::Text(parts) => set("systemPrompt", Some(json!(parts))),
            SystemPrompt::ClaudeCode { append, exclude_dynamic_sections } => {
                set("appendSystemPrompt", append.as_ref().map(|text| json!(text)));
                set("excludeDynamicSections", true_if(*exclude_dynamic_sections));
            }
            SystemPrompt::File(_) => {}
        }
        set("systemPromptSnapshot", self.system_prompt_snapshot.map(Value::Bool));
        set("planModeInstructions", self.plan_mode_instructions.as_ref().map(|it| json!(it)));
        set("toolAliases", (!self.tool_aliases.is_empty()).then(|| json!(self.tool_aliases)));
        set("agents", (!self.agents.is_empty()).then(|| json!(self.agents)));
        set("title", self.title.as_ref().map(|it| json!(it)));
        if let Some(SkillSelection::Only(names)) = &self.skills {
            set("skills", Some(json!(names)));
        }
        set("promptSuggestions", true_if(self.prompt_suggestions));
        set("agentProgressSummaries", true_if(self.agent_progress_summaries));
        set("forwardSubagentText", true_if(self.forward_subagent_text));
        set("supportedDialogKinds", self.dialogs.as_ref().map(|(kinds, _)| json!(kinds)));
        set("perTaskStopAffordance", true_if(self.per_task_stop));
        fields
    }
}

fn true_if(wanted: bool) -> Option<Value> {
    wanted.then_some(Value::Bool(true))
}
