//! The executor: runs calls that a server lends to this machine, each once, while the lease holds.

mod call_runner;
mod executor_event;
mod lease;
mod local_executor;

pub use self::call_runner::{CallRunner, ExecutorListener};
pub use self::executor_event::{CallCompletion, CallLabel, ExecutorEvent};
pub use self::local_executor::LocalExecutor;
