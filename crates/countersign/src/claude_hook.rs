//! The hook of Claude Code: its events and answers, what it leaves for the next one, and the settings
//! that name it.

pub(crate) mod answer;
pub(crate) mod backup;
pub(crate) mod choices;
pub(crate) mod event;
pub(crate) mod marker;
pub(crate) mod probe;
pub(crate) mod settings;
pub(crate) mod settings_files;
pub(crate) mod spool_lines;
