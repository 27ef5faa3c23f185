//! Files and their text: where paths lead, how files are read, replaced, compared and backed up.
//!
//! A [`workspace::Workspace`] resolves every path of a call, after `path` has refused what no path may
//! look like; `path_effects` says what reading or writing it does. `disk` opens and replaces files
//! without following a link, `transaction` changes several of them or none, `backup` keeps what was
//! there before, and `walk` goes through folders. `text` knows encodings, `truncate` keeps the two ends
//! of a long text, and `escape` spells out invisible characters. Nothing here starts a program.

pub(crate) mod backup;
pub(crate) mod disk;
pub(crate) mod escape;
pub(crate) mod file_diff;
pub(crate) mod path;
pub(crate) mod path_effects;
pub(crate) mod text;
pub(crate) mod transaction;
pub(crate) mod truncate;
pub(crate) mod walk;
pub(crate) mod workspace;
