//! The tools of a session, by name.

use std::fmt;
use std::sync::Arc;

use super::Tool;

/// The tools a session offers, in the order the model is told of them.
#[derive(Clone, Default)]
pub struct Toolbox {
    // INVARIANT: no two have the same name.
    tools: Vec<Arc<dyn Tool>>,
}

impl Toolbox {
    /// Adds a tool; one of the same name gives way to it and leaves it its place.
    #[must_use]
    pub fn with(self, tool: impl Tool) -> Self {
        self.with_shared(Arc::new(tool))
    }

    /// Adds a tool that others hold too, as [`Toolbox::with`] does.
    #[must_use]
    pub fn with_shared(mut self, tool: Arc<dyn Tool>) -> Self {
        match self.tools.iter_mut().find(|known| known.name() == tool.name()) {
            Some(known) => *known = tool,
            None => self.tools.push(tool),
        }
        self
    }

    /// Returns the tools of some names only.
    #[must_use]
    pub fn only(&self, kept: impl Fn(&str) -> bool) -> Self {
        let tools = self.tools.iter().filter(|tool| kept(tool.name()));
        Self { tools: tools.cloned().collect() }
    }

    /// Returns the tool of a name, to the letter.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Returns all tools.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// Returns all names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name())
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
