//! `can_use_tool`: what the CLI asks before a tool runs, and what can be answered.

mod decision;
mod mode;
mod update;
mod user_questions;

pub use decision::{DecisionClass, PermissionResult};
pub use mode::PermissionMode;
pub use request::{MatchedRule, PermissionHandler, ToolRequest, ToolServerInfo};
pub use update::{PermissionRule, PermissionUpdate, RuleBehavior, UpdateDestination};
pub use user_questions::{
    DialogAnswer, DialogHandler, DialogRequest, ElicitationAnswer, ElicitationHandler,
    ElicitationRequest,
};

mod request;
