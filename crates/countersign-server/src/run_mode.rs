//! Ways to run: what a permission mode means here and now, and what speaks against it.

use countersign_agent::RunSettings;
use countersign_api::chat::ExecutorName;
use countersign_api::run_mode::RunPermissionMode;
use countersign_core::{Executor, PermissionMode, ProjectId, SessionId};
use countersign_gate::StoreError;

use crate::app::App;
use crate::approval_switch::{ApprovalPolicy, ApprovalSwitch};
use crate::error::ApiError;

/// How a run goes: who runs its calls, and what becomes of those that would ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedRunMode {
    pub(crate) executor: Executor,
    pub(crate) mode: Option<PermissionMode>,
    /// Whether the mode is what the settings say, not what the run was asked for with.
    pub(crate) mode_by_settings: bool,
}

/// What a run is asked for with; what is not named follows the settings and the conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunModeChoice {
    pub(crate) named: Option<RunPermissionMode>,
    /// What becomes of calls that would ask.
    pub(crate) mode: Option<PermissionMode>,
    pub(crate) executor: Option<Executor>,
    /// Who runs the calls of a new conversation.
    pub(crate) usual: Executor,
}

impl RunModeChoice {
    /// Returns the wish of a run that names nothing.
    pub(crate) fn unspecified(usual: Executor) -> Self {
        Self { named: None, mode: None, executor: None, usual }
    }

    /// Returns the way of a run, where the conversation was last run like this.
    fn resolve(self, approvals: ApprovalPolicy, last: Option<&RunSettings>) -> ResolvedRunMode {
        let last_executor = last.map(|last| last.executor);
        let executor = self.executor.or(last_executor).unwrap_or(self.usual);
        let attended =
            |executor| ResolvedRunMode { executor, mode: self.mode, mode_by_settings: false };
        match self.named {
            Some(RunPermissionMode::Sdk) if executor == Executor::ClaudeCli => attended(self.usual),
            Some(RunPermissionMode::Sdk) => attended(executor),
            Some(RunPermissionMode::ToolApproval) => attended(Executor::ClaudeCli),
            Some(RunPermissionMode::BypassPermissions) => ResolvedRunMode {
                executor: Executor::ClaudeCli,
                mode: Some(PermissionMode::BypassPermissions),
                mode_by_settings: false,
            },
            None => {
                let is_kept = last.is_some_and(|last| {
                    let was_chosen = !last.mode_by_settings && last.executor == executor;
                    was_chosen && last.mode == Some(PermissionMode::BypassPermissions)
                });
                let bypasses = match approvals {
                    ApprovalPolicy::Off => true,
                    ApprovalPolicy::Kept => false,
                    ApprovalPolicy::Chosen => is_kept,
                };
                let by_settings = approvals == ApprovalPolicy::Off && self.mode.is_none();
                let mode = self.mode.or(bypasses.then_some(PermissionMode::BypassPermissions));
                ResolvedRunMode { executor, mode, mode_by_settings: by_settings }
            }
        }
    }
}

impl App {
    /// Returns whether people are asked in a project. What the server keeps on no project can switch
    /// off.
    pub(crate) async fn approval_policy(
        &self,
        project: &ProjectId,
    ) -> Result<ApprovalPolicy, StoreError> {
        if self.approval_switch == ApprovalSwitch::On {
            return Ok(ApprovalPolicy::Kept);
        }
        let own = self.gate.store().project(project).await?;
        let own = own.and_then(|own| own.settings.tool_approval_enabled);
        Ok(match (own, self.approval_switch) {
            (Some(true), _) => ApprovalPolicy::Kept,
            (Some(false), _) | (None, ApprovalSwitch::Off) => ApprovalPolicy::Off,
            (None, ApprovalSwitch::Unset | ApprovalSwitch::On) => ApprovalPolicy::Chosen,
        })
    }

    /// Returns what speaks against a permission mode, in words for people.
    pub(crate) fn mode_unavailable_reason(
        &self,
        mode: RunPermissionMode,
        approvals: ApprovalPolicy,
    ) -> Option<String> {
        match mode {
            RunPermissionMode::Sdk => None,
            RunPermissionMode::BypassPermissions if approvals == ApprovalPolicy::Kept => {
                Some(BYPASS_REFUSED.to_owned())
            }
            RunPermissionMode::ToolApproval | RunPermissionMode::BypassPermissions => {
                self.claude_unavailable_reason()
            }
        }
    }

    fn claude_unavailable_reason(&self) -> Option<String> {
        if self.model.demo {
            return Some("the demonstration has a scripted model and no Claude Code".to_owned());
        }
        self.claude.find().err()
    }

    /// Returns what the latest run of a conversation was begun with; none where that is not known.
    pub(crate) async fn last_settings(
        &self,
        project: &ProjectId,
        session: Option<&SessionId>,
    ) -> Result<Option<RunSettings>, StoreError> {
        let Some(session) = session else { return Ok(None) };
        let last = self.gate.store().last_settings(project, session).await?;
        Ok(last.and_then(|settings| RunSettings::from_json(&settings).ok()))
    }

    /// Returns the mode that a run would get that names none.
    pub(crate) async fn default_mode(
        &self,
        project: &ProjectId,
        last: Option<&RunSettings>,
    ) -> Result<RunPermissionMode, StoreError> {
        let approvals = self.approval_policy(project).await?;
        let way = RunModeChoice::unspecified(Executor::Local).resolve(approvals, last);
        Ok(RunPermissionMode::for_executor(way.executor, way.mode))
    }

    /// Returns the way a run of a conversation goes: as it was asked for, else as the settings say,
    /// else as the conversation was run before.
    pub(crate) async fn resolve_run_mode(
        &self,
        project: &ProjectId,
        session: Option<&SessionId>,
        wish: RunModeChoice,
    ) -> Result<ResolvedRunMode, ApiError> {
        let approvals = self.approval_policy(project).await?;
        let RunModeChoice { named, mode: wanted, .. } = wish;
        if let Some(why) = named.and_then(|named| self.mode_unavailable_reason(named, approvals)) {
            let refused = named == Some(RunPermissionMode::BypassPermissions)
                && approvals == ApprovalPolicy::Kept;
            let code = if refused { "bypass_refused" } else { "mode_unavailable" };
            return Err(ApiError::bad_request(code, why));
        }
        // The wish of a run for our own mode of that name is the same wish.
        if wanted == Some(PermissionMode::BypassPermissions) && approvals == ApprovalPolicy::Kept {
            return Err(ApiError::bad_request("bypass_refused", BYPASS_REFUSED));
        }
        let way = wish.resolve(approvals, self.last_settings(project, session).await?.as_ref());
        // A conversation of Claude Code goes on with nobody else unless somebody says so.
        if way.executor == Executor::ClaudeCli
            && let Some(why) = self.claude_unavailable_reason()
        {
            return Err(ApiError::bad_request("mode_unavailable", why));
        }
        Ok(way)
    }
}

const BYPASS_REFUSED: &str = "approvals are on: `bypassPermissions` and approvals exclude each other. \
                              Choose another mode, or switch approvals off (`TOOL_APPROVAL_ENABLED`, \
                              or the project's settings)";

/// Returns what a message over REST means by its executor and its permission mode.
pub(crate) fn choice_from_names(
    executor: Option<ExecutorName>,
    mode: Option<RunPermissionMode>,
) -> Result<RunModeChoice, ApiError> {
    let contradiction = |why: &str| Err(ApiError::bad_request("contradiction", why));
    let named = executor.map(Executor::from);
    let wish = RunModeChoice { executor: named, ..RunModeChoice::unspecified(Executor::Client) };
    match (executor, mode) {
        (Some(ExecutorName::ClaudeCli), Some(RunPermissionMode::Sdk)) => {
            contradiction("`sdk` is our own loop, `claude-cli` is not: leave one of them out")
        }
        (
            Some(ExecutorName::Local | ExecutorName::Client),
            Some(RunPermissionMode::ToolApproval),
        ) => contradiction(
            "`toolApproval` drives the Claude Code CLI: say `\"executor\": \"claude-cli\"`, or leave \
             one of them out",
        ),
        // Who names both wants our own loop, unattended.
        (
            Some(ExecutorName::Local | ExecutorName::Client),
            Some(RunPermissionMode::BypassPermissions),
        ) => Ok(RunModeChoice { mode: Some(PermissionMode::BypassPermissions), ..wish }),
        (_, named) => Ok(RunModeChoice { named, ..wish }),
    }
}
