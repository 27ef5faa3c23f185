//! The settings of a run: how long, from which seed, against which binary. All come by environment.
#![expect(clippy::disallowed_methods, reason = "a test is told by environment what to do")]

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the run of `make test` takes.
const SECONDS: u64 = 60;

/// What a run of the oracle goes by.
pub(super) struct OracleSettings {
    pub(super) seed: u64,
    pub(super) duration: Duration,
    /// The binary whose verdicts are tried.
    pub(super) binary: PathBuf,
    /// Whether the binary is an old one, in which every known class must be found.
    pub(super) expects_every_class: bool,
    /// A folder with corpora that the project does not hold.
    pub(super) shared: Option<PathBuf>,
}

impl OracleSettings {
    pub(super) fn from_environment() -> Self {
        let seed = read_number("COUNTERSIGN_ORACLE_SEED");
        let seconds = read_number("COUNTERSIGN_ORACLE_SECONDS").unwrap_or(SECONDS);
        let binary = read_variable("COUNTERSIGN_ORACLE_BINARY").map(PathBuf::from);
        let expects = read_variable("COUNTERSIGN_ORACLE_EXPECT");
        Self {
            seed: seed.unwrap_or_else(|| fastrand::u64(..1_000_000)),
            duration: Duration::from_secs(seconds),
            binary: binary.unwrap_or_else(|| env!("CARGO_BIN_EXE_countersign").into()),
            expects_every_class: match expects.as_deref() {
                None => false,
                Some("classes") => true,
                Some(other) => {
                    panic!("COUNTERSIGN_ORACLE_EXPECT is `classes` or unset, not {other}")
                }
            },
            shared: find_shared_folder(),
        }
    }
}

/// Returns the folder of the repository.
pub(super) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns whether an environment variable leaves bubblewrap out; otherwise it must be there.
pub(super) fn leaves_out_bubblewrap() -> bool {
    if crate::self_approval::is_left_out() {
        return true;
    }
    let folders = super::process::PATH.split(':');
    assert!(
        folders.map(|folder| Path::new(folder).join("bwrap")).any(|it| it.is_file()),
        "the oracle runs commands in bubblewrap, which is not here: install it (`scripts/bubblewrap` \
         does), or leave this out with COUNTERSIGN_TEST_WITHOUT=bubblewrap"
    );
    false
}

fn find_shared_folder() -> Option<PathBuf> {
    let given = read_variable("COUNTERSIGN_ORACLE_SHARED").map(PathBuf::from);
    let beside = || repository().parent().map(|it| it.join("shared"));
    given.or_else(beside).filter(|it| it.join("redteam").is_dir())
}

fn read_number(name: &str) -> Option<u64> {
    let given = read_variable(name)?;
    Some(given.parse().unwrap_or_else(|_| panic!("{name} is not a number: {given}")))
}

fn read_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|it| !it.is_empty())
}
