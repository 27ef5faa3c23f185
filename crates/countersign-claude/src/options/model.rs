//! Options on the model and what it is told.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{AgentDefinition, Options};

/// How hard the model thinks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffortLevel {
    /// The least.
    Low,
    /// A little.
    Medium,
    /// A lot.
    High,
    /// More still.
    XHigh,
    /// As much as it can.
    Max,
    /// A level this crate has no name for.
    Other(String),
}

impl EffortLevel {
    /// Returns the CLI's word for it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
            Self::Other(level) => level,
        }
    }
}

impl Serialize for EffortLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Whether the model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingConfig {
    /// As it sees fit.
    Adaptive,
    /// With a budget in tokens; a budget of 0 is [`Disabled`](Self::Disabled).
    Enabled {
        /// The budget.
        budget_tokens: u32,
    },
    /// Not at all.
    Disabled,
}

/// How much of the thinking is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingDisplay {
    /// A summary.
    Summarized,
    /// Nothing.
    Omitted,
}

/// What the model is told first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SystemPrompt {
    /// Nothing: as in the official SDKs, this is not the prompt of Claude Code.
    #[default]
    Empty,
    /// A text of your own, in parts. [`DYNAMIC_BOUNDARY`](Self::DYNAMIC_BOUNDARY) as a part ends
    /// what may be cached.
    Text(Vec<String>),
    /// The prompt of Claude Code.
    ClaudeCode {
        /// What is added to it.
        append: Option<String>,
        /// Whether the parts that differ by machine and folder are left out.
        exclude_dynamic_sections: bool,
    },
    /// A file with a text of your own.
    File(std::path::PathBuf),
}

impl SystemPrompt {
    /// The part of a [`Text`](Self::Text) after which nothing is cached.
    pub const DYNAMIC_BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

    /// The prompt of Claude Code as it is.
    pub fn claude_code() -> Self {
        Self::ClaudeCode { append: None, exclude_dynamic_sections: false }
    }
}

impl<T: Into<String>> From<T> for SystemPrompt {
    fn from(text: T) -> Self {
        Self::Text(vec![text.into()])
    }
}

impl Options {
    /// Chooses the model by name or alias.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds a model to fall back on when the chosen one is overloaded. Several are tried in order.
    pub fn fallback_model(mut self, model: impl Into<String>) -> Self {
        self.fallback_models.push(model.into());
        self
    }

    /// Switches on a beta of the API.
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.betas.push(beta.into());
        self
    }

    /// Sets how hard the model thinks.
    pub fn effort(mut self, effort: EffortLevel) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Sets whether the model thinks before it answers.
    pub fn thinking(mut self, thinking: ThinkingConfig) -> Self {
        self.thinking = Some(thinking);
        self
    }

    /// Sets how much of the thinking is shown.
    pub fn thinking_display(mut self, display: ThinkingDisplay) -> Self {
        self.thinking_display = Some(display);
        self
    }

    /// Ends a prompt after so many turns of the model with `error_max_turns`.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Ends the session once it has cost so much.
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.max_budget_usd = Some(dollars);
        self
    }

    /// Tells the model how many tokens the whole task may take.
    pub fn task_budget(mut self, tokens: u64) -> Self {
        self.task_budget = Some(tokens);
        self
    }

    /// Asks for an answer that fits this JSON schema; it comes in the result's `structured_output`.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Sets what the model is told first.
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.system_prompt = prompt.into();
        self
    }

    /// Keeps the system prompt with the session, so that a resume uses the same. Needs CLI 2.1.257.
    pub fn system_prompt_snapshot(mut self, snapshot: bool) -> Self {
        self.system_prompt_snapshot = Some(snapshot);
        self
    }

    /// Replaces what the model is told in plan mode.
    pub fn plan_mode_instructions(mut self, text: impl Into<String>) -> Self {
        self.plan_mode_instructions = Some(text.into());
        self
    }

    /// Adds a subagent.
    pub fn subagent(mut self, name: impl Into<String>, agent: AgentDefinition) -> Self {
        self.agents.insert(name.into(), agent);
        self
    }

    /// Makes this agent the one that leads the conversation.
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = Some(name.into());
        self
    }
}
