//! A prompt on its way to the CLI.

use serde_json::{Map, Value, json};

/// What is said to the model; a text will do.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a prompt says nothing until it is sent"]
pub struct UserPrompt {
    uuid: String,
    content: Value,
    priority: Option<PromptPriority>,
    fields: Map<String, Value>,
}

/// When a prompt's turn comes while another runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptPriority {
    /// At once: what runs is interrupted.
    Now,
    /// At the next chance, within the running turn if possible.
    Next,
    /// After what runs.
    Later,
}

impl UserPrompt {
    /// Says a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from_content(Value::String(text.into()))
    }

    /// Says blocks of content as the Messages API has them: text, images, documents.
    pub fn blocks(blocks: Vec<Value>) -> Self {
        Self::from_content(Value::Array(blocks))
    }

    fn from_content(content: Value) -> Self {
        let uuid = uuid::Uuid::now_v7().to_string();
        Self { uuid, content, priority: None, fields: Map::new() }
    }

    /// Gives the prompt an id of your own, a UUID that no other prompt has.
    pub fn with_uuid(mut self, uuid: impl Into<String>) -> Self {
        self.uuid = uuid.into();
        self
    }

    /// Sets when its turn comes while another runs.
    pub fn priority(mut self, priority: PromptPriority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets a field of the line this crate has no name for.
    pub fn field(mut self, name: impl Into<String>, value: Value) -> Self {
        self.fields.insert(name.into(), value);
        self
    }

    /// Returns the id.
    pub fn uuid(&self) -> &str {
        &self.uuid
    }

    pub(crate) fn to_line(&self, verbatim: bool) -> Value {
        let mut line = json!({
            "type": "user",
            "message": { "role": "user", "content": self.content },
            "parent_tool_use_id": null,
            "session_id": "",
            "uuid": self.uuid,
        });
        if let Some(line) = line.as_object_mut() {
            if verbatim {
                line.insert("client_composed".to_owned(), json!(true));
            }
            if let Some(priority) = self.priority {
                let priority = match priority {
                    PromptPriority::Now => "now",
                    PromptPriority::Next => "next",
                    PromptPriority::Later => "later",
                };
                line.insert("priority".to_owned(), json!(priority));
            }
            line.extend(self.fields.clone());
        }
        line
    }
}

impl<T: Into<String>> From<T> for UserPrompt {
    fn from(text: T) -> Self {
        Self::text(text)
    }
}
