//! `can_use_tool`: what the CLI asks before a tool runs, and what can be answered.

mod ask;
mod decision;
mod mode;
mod update;

pub use ask::{
    Dialog, DialogAnswer, DialogHandler, Elicitation, ElicitationAnswer, ElicitationHandler,
};
pub use decision::{Decision, DecisionClass};
pub use mode::PermissionMode;
pub use request::{MatchedRule, PermissionHandler, ToolRequest, ToolServer};
pub use update::{PermissionRule, PermissionUpdate, RuleBehavior, UpdateDestination};

mod request;
