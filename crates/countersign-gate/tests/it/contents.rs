//! What is in a database, all of it; and one as an older version left it.

use std::path::Path;

use countersign_gate::DatabaseUrl;

use crate::database::{Database, ON_POSTGRES};

impl Database {
    /// Makes it what the version before the migration that masks would have left.
    pub(crate) fn of_before() -> Self {
        let database = Self::new();
        let (schema, version): (&[&str], _) = if ON_POSTGRES {
            (&POSTGRES_BEFORE, MIGRATED_BEFORE)
        } else {
            (&SQLITE_BEFORE, "PRAGMA user_version = 8")
        };
        let record = include_str!("record_with_secrets.sql");
        database.sql(&[&schema.join(";"), version, record].join(";"));
        database
    }

    /// Returns all that is in all tables.
    pub(crate) fn dump(&self) -> String {
        match &self.url {
            DatabaseUrl::Sqlite(file) => dump_file(file),
            DatabaseUrl::Postgres(url) => dump_server(url),
        }
    }

    /// Returns whether a text is in any table or, where it is a file, in any part of that.
    pub(crate) fn holds(&self, text: &str) -> bool {
        let in_files = match &self.url {
            DatabaseUrl::Sqlite(file) => ["", "-wal"].iter().any(|end| {
                let name = format!("{}{end}", file.display());
                let bytes = std::fs::read(name).unwrap_or_default();
                bytes.windows(text.len()).any(|window| window == text.as_bytes())
            }),
            DatabaseUrl::Postgres(_) => false,
        };
        in_files || self.dump().contains(text)
    }
}

macro_rules! migration {
    ($file:literal) => {
        include_str!(concat!("../../src/store/migrations/", $file))
    };
}

const SQLITE_BEFORE: [&str; 8] = [
    migration!("sqlite/0001_house.sql"),
    migration!("sqlite/0002_rules.sql"),
    migration!("sqlite/0003_diffs.sql"),
    migration!("sqlite/0004_durability.sql"),
    migration!("sqlite/0005_elsewhere.sql"),
    migration!("sqlite/0006_project_settings.sql"),
    migration!("sqlite/0007_changes.sql"),
    migration!("sqlite/0008_tokens.sql"),
];

const POSTGRES_BEFORE: [&str; 5] = [
    migration!("postgres/0001_house.sql"),
    migration!("postgres/0002_elsewhere.sql"),
    migration!("postgres/0003_project_settings.sql"),
    migration!("postgres/0004_changes.sql"),
    migration!("postgres/0005_tokens.sql"),
];

const MIGRATED_BEFORE: &str = "CREATE TABLE migrations (version BIGINT PRIMARY KEY);
    INSERT INTO migrations VALUES (1), (2), (3), (4), (5)";

fn dump_file(file: &Path) -> String {
    let db = rusqlite::Connection::open(file).unwrap();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table'";
    let tables: Vec<String> = {
        let mut found = db.prepare(tables).unwrap();
        let names = found.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    };
    let mut text = String::new();
    for table in tables {
        let mut all = db.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = all.column_count();
        let mut rows = all.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells = (0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap().as_str()));
            let cells = cells.collect::<Vec<_>>().join(", ");
            text.extend([table.as_str(), ": ", &cells, "\n"]);
        }
    }
    text
}

fn dump_server(url: &str) -> String {
    let url = url.to_owned();
    let dumping = std::thread::spawn(move || {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        let tables = "SELECT table_name::text FROM information_schema.tables
                      WHERE table_schema = 'public'";
        let mut text = String::new();
        for table in client.query(tables, &[]).unwrap() {
            let table: String = table.get(0);
            let rows = client.query(&format!("SELECT t::text FROM {table} t"), &[]).unwrap();
            for row in rows {
                text.extend([&table, ": ", row.get::<_, &str>(0), "\n"]);
            }
        }
        text
    });
    dumping.join().unwrap()
}
