//! A place without a network, in which a test starts itself once more.
#![expect(clippy::disallowed_methods, reason = "the child is this very test")]

use std::future::Future;
use std::path::PathBuf;
use std::process::Command;

use crate::chaos::plan::goes_without;

/// Loopback must be up before the rights to do so are given away; the CLI refuses much to root.
const ENTER: &str = r#"PATH=$PATH:/usr/sbin ip link set lo up && exec unshare --user --map-user=1000 --map-group=1000 -- "$@""#;

const INSIDE: &str = "COUNTERSIGN_TEST_CELL";

/// Declares tests that run in a cell. Each is named by its rule.
macro_rules! in_a_cell {
    ($($(#[$meta:meta])* async fn $name:ident() $body:block)+) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            $crate::claude::cell::run(module_path!(), stringify!($name), async $body);
        }
    )+};
}
pub(super) use in_a_cell;

/// Runs a test in a cell: outside by starting it there, inside by running its body.
pub(super) fn run(module: &str, name: &str, body: impl Future<Output = ()>) {
    if std::env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(body);
        return;
    }
    if is_left_out() {
        return;
    }
    let (_, module) = module.split_once("::").unwrap();
    let mut cell = Command::new("unshare");
    cell.args(["--user", "--map-root-user", "--net", "--", "sh", "-c", ENTER, "cell"]);
    cell.arg(std::env::current_exe().unwrap());
    cell.args(["--exact", &format!("{module}::{name}"), "--nocapture"]);
    cell.env_clear().env("PATH", "/usr/bin:/bin").env(INSIDE, "yes").env(CLI, cli_outside());
    let status = cell.status().unwrap();
    assert!(
        status.success(),
        "it failed in its cell ({status}). If it never began: user and network namespaces are \
         needed (`unshare --user --net`); COUNTERSIGN_TEST_WITHOUT=claude leaves such tests out"
    );
}

const CLI: &str = "COUNTERSIGN_TEST_CLAUDE";

/// Returns the program, in a cell.
pub(super) fn cli() -> PathBuf {
    std::env::var_os(CLI).unwrap().into()
}

fn cli_outside() -> PathBuf {
    let path = std::env::var_os(CLI).unwrap_or_else(|| {
        panic!(
            "{CLI} is not set: `cargo nextest run` installs the CLI and sets it, or give the path \
             that `scripts/claude path` prints; COUNTERSIGN_TEST_WITHOUT=claude leaves these tests out"
        )
    });
    path.into()
}

#[expect(clippy::print_stdout, reason = "no test is left out in silence")]
fn is_left_out() -> bool {
    let is = goes_without("claude");
    if is {
        println!("this is left out, as COUNTERSIGN_TEST_WITHOUT says");
    }
    is
}
