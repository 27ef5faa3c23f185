//! The tools of Countersign itself, one file each.
//!
//! Each reads its input strictly, says what the call would do (`plan`), shows it (`preview`) and does it
//! (`run`); [`crate::tool::ToolAdapter`] makes a tool of that. [`Task`] only plans and previews.

mod apply_patch;
mod bash;
mod diagnostics;
mod edit;
mod glob;
mod grep;
mod list_dir;
mod multi_edit;
mod notebook_edit;
mod read;
mod task;
mod todo;
#[cfg(feature = "web")]
mod web_fetch;
#[cfg(feature = "web")]
mod web_search;
mod write;

pub use self::apply_patch::ApplyPatch;
pub use self::bash::Bash;
pub use self::diagnostics::Diagnostics;
pub use self::edit::Edit;
pub use self::glob::Glob;
pub use self::grep::Grep;
pub use self::list_dir::ListDir;
pub use self::multi_edit::MultiEdit;
pub use self::notebook_edit::NotebookEdit;
pub use self::read::Read;
pub(crate) use self::task::ForeignTask;
pub use self::task::{AgentKind, DelegatedTask, Task};
pub use self::todo::{TodoList, TodoRead, TodoWrite};
#[cfg(feature = "web")]
pub use self::web_fetch::{FixedResolver, HostResolver, SystemResolver, WebFetch};
#[cfg(feature = "web")]
pub use self::web_search::{
    BraveSearch, FixedSearch, SearchEngine, SearchError, SearchHit, WebSearch,
};
pub use self::write::Write;
