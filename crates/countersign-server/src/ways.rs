//! Ways to run: what a permission mode means here and now, and what speaks against it.

use countersign_core::{Executor, Mode, ProjectId};
use countersign_gate::StoreError;

use crate::app::App;
use crate::chat::ExecutorName;
use crate::error::ApiError;
use crate::socket::command::PermissionMode;

/// What `TOOL_APPROVAL_ENABLED` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApprovalSwitch {
    /// Nothing: people are asked, and may choose a run that asks nobody.
    #[default]
    Unset,
    /// People are asked, always.
    On,
    /// Runs that name no mode ask nobody.
    Off,
}

/// Whether people are asked in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approvals {
    /// They are, unless a run chooses otherwise.
    Chosen,
    /// They are, whatever a run chooses.
    Kept,
    /// They are not, unless a run chooses otherwise.
    Off,
}

/// How a run goes: who runs its calls, and what becomes of those that would ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) executor: Executor,
    pub(crate) mode: Option<Mode>,
}

impl App {
    /// Returns whether people are asked in a project. What the server keeps on no project can switch
    /// off.
    pub(crate) async fn approvals(&self, project: &ProjectId) -> Result<Approvals, StoreError> {
        if self.approval_switch == ApprovalSwitch::On {
            return Ok(Approvals::Kept);
        }
        let own = self.gate.store().project(project).await?;
        let own = own.and_then(|own| own.settings.tool_approval_enabled);
        Ok(match (own, self.approval_switch) {
            (Some(true), _) => Approvals::Kept,
            (Some(false), _) | (None, ApprovalSwitch::Off) => Approvals::Off,
            (None, ApprovalSwitch::Unset | ApprovalSwitch::On) => Approvals::Chosen,
        })
    }

    /// Returns what speaks against a permission mode, in words for people.
    pub(crate) fn against(&self, mode: PermissionMode, approvals: Approvals) -> Option<String> {
        match mode {
            PermissionMode::Sdk => None,
            PermissionMode::BypassPermissions if approvals == Approvals::Kept => {
                Some(BYPASS_REFUSED.to_owned())
            }
            PermissionMode::ToolApproval | PermissionMode::BypassPermissions => {
                self.claude_is_missing()
            }
        }
    }

    fn claude_is_missing(&self) -> Option<String> {
        if self.model.demo {
            return Some("the demonstration has a scripted model and no Claude Code".to_owned());
        }
        self.claude.find().err()
    }

    /// Returns the way a run goes that was asked for with a permission mode, or with none.
    pub(crate) async fn way(
        &self,
        project: &ProjectId,
        named: Option<PermissionMode>,
        wanted: Option<Mode>,
        own: Executor,
    ) -> Result<Way, ApiError> {
        let approvals = self.approvals(project).await?;
        if let Some(why) = named.and_then(|named| self.against(named, approvals)) {
            let refused =
                named == Some(PermissionMode::BypassPermissions) && approvals == Approvals::Kept;
            let code = if refused { "bypass_refused" } else { "mode_unavailable" };
            return Err(ApiError::bad_request(code, why));
        }
        // The wish of a run for our own mode of that name is the same wish.
        if wanted == Some(Mode::BypassPermissions) && approvals == Approvals::Kept {
            return Err(ApiError::bad_request("bypass_refused", BYPASS_REFUSED));
        }
        Ok(match named {
            None if approvals == Approvals::Off => {
                Way { executor: own, mode: wanted.or(Some(Mode::BypassPermissions)) }
            }
            None | Some(PermissionMode::Sdk) => Way { executor: own, mode: wanted },
            Some(PermissionMode::ToolApproval) => {
                Way { executor: Executor::ClaudeCli, mode: wanted }
            }
            Some(PermissionMode::BypassPermissions) => {
                Way { executor: Executor::ClaudeCli, mode: Some(Mode::BypassPermissions) }
            }
        })
    }
}

const BYPASS_REFUSED: &str = "approvals are on: `bypassPermissions` and approvals exclude each other. \
                              Choose another mode, or switch approvals off (`TOOL_APPROVAL_ENABLED`, \
                              or the project's settings)";

/// Returns what a message over REST means by its executor and its permission mode: S1's mode, and ours.
pub(crate) fn named(
    executor: Option<ExecutorName>,
    mode: Option<PermissionMode>,
) -> Result<(Option<PermissionMode>, Option<Mode>), ApiError> {
    let contradiction = |why: &str| Err(ApiError::bad_request("contradiction", why));
    match (executor, mode) {
        (Some(ExecutorName::ClaudeCli), None) => Ok((Some(PermissionMode::ToolApproval), None)),
        (Some(ExecutorName::ClaudeCli), Some(PermissionMode::Sdk)) => {
            contradiction("`sdk` is our own loop, `claude-cli` is not: leave one of them out")
        }
        (Some(ExecutorName::Local | ExecutorName::Client), Some(PermissionMode::ToolApproval)) => {
            contradiction(
                "`toolApproval` drives the Claude Code CLI: say `\"executor\": \"claude-cli\"`, or leave \
             one of them out",
            )
        }
        // Who names both wants our own loop, unattended.
        (
            Some(ExecutorName::Local | ExecutorName::Client),
            Some(PermissionMode::BypassPermissions),
        ) => Ok((None, Some(Mode::BypassPermissions))),
        (_, mode) => Ok((mode, None)),
    }
}
