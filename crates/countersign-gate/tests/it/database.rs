//! A database for one test, of the kind this test binary is named after.

use std::path::{Path, PathBuf};

use countersign_gate::DatabaseUrl;
use tempfile::TempDir;

/// Whether the tests of this binary run on PostgreSQL: all but those of `it`, whose folder has a
/// second name for that.
pub(crate) const ON_POSTGRES: bool = !matches!(env!("CARGO_CRATE_NAME").as_bytes(), b"it");

/// A database nobody else uses, and a folder beside it.
pub(crate) struct Database {
    pub(crate) url: DatabaseUrl,
    folder: TempDir,
}

impl Database {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = if ON_POSTGRES {
            DatabaseUrl::Postgres(made_in(&cluster()))
        } else {
            DatabaseUrl::Sqlite(folder.path().join("gate.db"))
        };
        Self { url, folder }
    }

    /// Returns a path in the folder, which is what it is called and no link to it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Runs statements behind the gate's back.
    pub(crate) fn sql(&self, sql: &str) {
        match &self.url {
            DatabaseUrl::Sqlite(file) => in_file(file, sql),
            DatabaseUrl::Postgres(url) => on_server(url, sql),
        }
    }
}

fn in_file(file: &Path, sql: &str) {
    rusqlite::Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

/// On a thread of its own: this client has a runtime of its own, which cannot be inside another.
fn on_server(url: &str, sql: &str) {
    let (url, sql) = (url.to_owned(), sql.to_owned());
    let done = std::thread::spawn(move || {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.batch_execute(&sql).unwrap();
    });
    done.join().unwrap();
}

/// Makes a database in a cluster and returns where it is.
fn made_in(cluster: &str) -> String {
    let name = format!("t{}", countersign_gate::new_id::<uuid::Uuid>().simple());
    on_server(cluster, &format!("CREATE DATABASE {name}"));
    let (place, _) = cluster.rsplit_once('/').unwrap();
    format!("{place}/{name}")
}

#[expect(clippy::disallowed_methods, reason = "the test runner says where the cluster is")]
fn cluster() -> String {
    let cluster = std::env::var("COUNTERSIGN_TEST_POSTGRES");
    cluster.unwrap_or_else(|_| panic!("COUNTERSIGN_TEST_POSTGRES is set by `cargo nextest run`"))
}
