//! Where a call belongs: its workspace, its conversation and who asked, as people call them.

use countersign_api::call_context::{CallContext, ConversationView, WorkspaceView};
use std::collections::HashMap;

use countersign_core::{Execution, Executor, ProjectId, SessionId, mask_text};
use countersign_gate::{Project, Store, StoreError};
use uuid::Uuid;

/// Looks up where calls belong; what was found once is not looked up again.
pub(crate) struct ContextLookup<'a> {
    store: &'a Store,
    workspaces: HashMap<ProjectId, WorkspaceView>,
    titles: HashMap<(ProjectId, SessionId), Option<String>>,
    agents: HashMap<String, String>,
}

impl<'a> ContextLookup<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        let (workspaces, titles, agents) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { store, workspaces, titles, agents }
    }

    /// Returns where a call belongs.
    pub(crate) async fn find(&mut self, approval: &Execution) -> Result<CallContext, StoreError> {
        let session_id = approval.call().session.to_string();
        Ok(CallContext {
            workspace: self.workspace(&approval.call().project).await?,
            conversation: ConversationView { session_id, title: self.title(approval).await? },
            agent_name: self.agent_name(approval).await?,
        })
    }

    async fn workspace(&mut self, id: &ProjectId) -> Result<WorkspaceView, StoreError> {
        if let Some(known) = self.workspaces.get(id) {
            return Ok(known.clone());
        }
        let stored = self.store.project(id).await?.map(|stored| stored.project);
        let unnamed = || Project { id: id.clone(), name: id.to_string(), root: String::new() };
        let Project { id: project, name, root } = stored.unwrap_or_else(unnamed);
        let view = WorkspaceView { project_id: project.to_string(), name, root };
        self.workspaces.insert(id.clone(), view.clone());
        Ok(view)
    }

    /// Returns the title of a call's conversation. Another program names its conversations as it
    /// likes: one of that name here is not its own.
    async fn title(&mut self, approval: &Execution) -> Result<Option<String>, StoreError> {
        let call = &approval.call();
        if call.executor == Executor::Caller {
            return Ok(None);
        }
        let key = (call.project.clone(), call.session.clone());
        if let Some(known) = self.titles.get(&key) {
            return Ok(known.clone());
        }
        let title = self.store.session_title(&call.project, &call.session).await?;
        let title = title.map(|title| mask_text(&title));
        self.titles.insert(key, title.clone());
        Ok(title)
    }

    async fn agent_name(&mut self, approval: &Execution) -> Result<String, StoreError> {
        match approval.call().executor {
            Executor::Local | Executor::Client => Ok("Countersign agent".to_owned()),
            Executor::ClaudeCli => Ok("Claude Code".to_owned()),
            Executor::Caller => self.caller_name(approval.basis().submitted_by.as_deref()).await,
        }
    }

    /// Returns the name of the token with which a program handed its call in.
    async fn caller_name(&mut self, submitted_by: Option<&str>) -> Result<String, StoreError> {
        const UNNAMED: &str = "another program";
        let Some(id) = submitted_by.and_then(|id| id.parse::<Uuid>().ok()) else {
            return Ok(UNNAMED.to_owned());
        };
        if let Some(known) = self.agents.get(&id.to_string()) {
            return Ok(known.clone());
        }
        let token = self.store.token(id).await?;
        let name = token.map_or_else(|| UNNAMED.to_owned(), |token| token.name);
        self.agents.insert(id.to_string(), name.clone());
        Ok(name)
    }
}
