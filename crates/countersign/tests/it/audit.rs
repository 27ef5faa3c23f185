//! `audit` and `backup` as people use them, on what a real server has recorded.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::chaos::plan::goes_without;
use crate::chaos::services;
use crate::world::{Client, Serving, TOKEN, output, stderr};

const PROMPT: &str = "Create a new file called a.txt with the content \"one\"";

/// Where a server has worked.
struct Place {
    folder: TempDir,
    postgres: Option<String>,
}

impl Place {
    fn on_sqlite() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), postgres: None }
    }

    fn on_postgres() -> Self {
        Self { postgres: Some(services::new_database()), ..Self::on_sqlite() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn serve(&self, root: &str) -> Serving {
        std::fs::create_dir_all(self.path(root)).unwrap();
        let (root, data) = (self.text(root), self.text("data"));
        let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN];
        let mut args = [&args[..], &["--root", &root, "--data", &data]].concat();
        args.extend(self.postgres.iter().flat_map(|url| ["--database", url]));
        Serving::start(&args, &[])
    }

    /// Lets one call run in a workspace: four rows of the audit.
    async fn work(&self, root: &str) {
        let serving = self.serve(root);
        let mut client = serving.client().await;
        let request = asked(&mut client).await;
        let yes = json!({"command": "tool_approval_response", "approved": true,
            "request_id": request["request_id"]});
        client.send(yes).await;
        client.until("result/success").await;
        assert!(serving.stop().0.success());
    }

    /// Runs a command on the records of this place.
    fn run(&self, args: &[&str]) -> Output {
        let data = self.text("data");
        let records = match &self.postgres {
            Some(url) => ["--database", url],
            None => ["--data", &data],
        };
        output(&[args, &records].concat())
    }

    fn verified(&self) -> Value {
        json_of(&self.run(&["audit", "verify", "--json"]))
    }

    fn exported(&self, only: &[&str]) -> Vec<Value> {
        let out = self.run(&[&["audit", "export"], only].concat());
        let lines = printed(&out);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Runs statements behind the server's back.
    fn sql(&self, sql: &str) {
        if let Some(url) = &self.postgres {
            return services::sql(url, sql);
        }
        let database = rusqlite::Connection::open(self.path("data/countersign.db")).unwrap();
        database.execute_batch(sql).unwrap();
    }
}

async fn asked(client: &mut Client) -> Value {
    client.send(json!({"command": "run", "prompt": PROMPT})).await;
    client.until("tool_approval_request").await
}

#[track_caller]
fn printed(out: &Output) -> String {
    assert!(out.status.success(), "{}", stderr(out));
    String::from_utf8(out.stdout.clone()).unwrap()
}

fn json_of(out: &Output) -> Value {
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Asserts that a command ends with 1, says a sentence, and what can be done.
#[track_caller]
fn assert_refused(out: &Output, sentence: &str, hint: &str) {
    let said = stderr(out);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.starts_with("error: ") && said.contains(sentence), "{said}");
    assert!(said.lines().any(|line| line.starts_with("hint: ") && line.contains(hint)), "{said}");
}

#[tokio::test]
async fn an_audit_is_verified_and_exported() {
    is_verified_and_exported(&Place::on_sqlite()).await;
}

#[tokio::test]
async fn an_audit_on_postgres_is_verified_and_exported() {
    if !goes_without("postgres") {
        is_verified_and_exported(&Place::on_postgres()).await;
    }
}

async fn is_verified_and_exported(place: &Place) {
    place.work("one").await;
    place.work("two").await;
    let report = place.verified();
    assert_eq!((&report["intact"], &report["rows"]), (&json!(true), &json!(8)), "{report}");
    assert_eq!(report["broken"], json!(null));
    let ends = report["ends"].as_array().unwrap();
    assert_eq!(ends.len(), 2, "{report}");
    let line = |end: &Value| {
        let word = |key: &str| end[key].as_str().unwrap();
        format!("  {} ends at 4: {}\n", word("project_id"), word("hash"))
    };
    let said = printed(&place.run(&["audit", "verify"]));
    assert_eq!(said, format!("intact: 8 rows\n{}", ends.iter().map(line).collect::<String>()));

    let rows = place.exported(&[]);
    let mut chains: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for row in &rows {
        chains.entry(row["project_id"].as_str().unwrap()).or_default().push(row);
    }
    for (end, (project, chain)) in ends.iter().zip(&chains) {
        let told = chain.iter().map(|row| (row["seq"].clone(), row["act"]["status"].clone()));
        let states = ["awaiting_approval", "approved", "executing", "completed"];
        let expected = (1..).zip(states).map(|(seq, state)| (json!(seq), json!(state)));
        assert_eq!(told.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        assert_eq!(chain.last().unwrap()["hash"], end["hash"], "the end that verify names");
        let only: Vec<Value> = chain.iter().copied().cloned().collect();
        assert_eq!(place.exported(&["--project", project]), only);
    }
    assert_eq!(place.exported(&["--project", "nope"]), [json!(null); 0]);
}

#[tokio::test]
async fn a_changed_row_is_named() {
    is_named(&Place::on_sqlite()).await;
}

#[tokio::test]
async fn a_changed_row_on_postgres_is_named() {
    if !goes_without("postgres") {
        is_named(&Place::on_postgres()).await;
    }
}

async fn is_named(place: &Place) {
    place.work("one").await;
    place.sql("UPDATE audit SET body = replace(body, 'admin', 'eve') WHERE seq = 3");
    let out = place.run(&["audit", "verify"]);
    assert_refused(&out, "is broken at row 3: it was changed or moved", "a backup that is intact");
    assert!(out.stdout.is_empty());
    let out = place.run(&["audit", "verify", "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let report = json_of(&out);
    assert_eq!((&report["intact"], &report["broken"]["seq"]), (&json!(false), &json!(3)));
    assert_eq!(place.exported(&[]).len(), 4, "what is there can still be looked at");
    place.sql("DELETE FROM audit WHERE seq >= 3");
    let out = place.run(&["audit", "verify"]);
    assert_refused(&out, "is broken at row 3: it and all up to 4 were removed", "a backup");
}

#[test]
fn what_is_not_there_is_not_made_by_looking() {
    let place = Place::on_sqlite();
    for command in [&["audit", "verify"][..], &["audit", "export"], &["backup", "copy.db"]] {
        let out = place.run(command);
        assert_refused(&out, "there is no record at", "--data");
        assert!(out.stdout.is_empty() && !place.path("data").exists(), "{command:?}");
    }
    let nowhere = "postgres://me:very-secret@127.0.0.1:1/nothing";
    let out = output(&["audit", "verify", "--database", nowhere]);
    assert_refused(&out, "could not open the database `postgres://127.0.0.1:1/", "is running");
    assert!(!stderr(&out).contains("very-secret"), "{}", stderr(&out));
}

#[tokio::test]
async fn a_backup_is_a_whole_copy_in_which_nothing_is_open() {
    let place = Place::on_sqlite();
    place.work("one").await;
    let serving = place.serve("one");
    let mut client = serving.client().await;
    asked(&mut client).await;
    let copy = place.text("copy.db");
    let said = printed(&place.run(&["backup", &copy]));
    assert_eq!(said, format!("copied to {copy}\nended 2 calls and runs that were open\n"));
    let beside = std::fs::read_dir(place.folder.path()).unwrap().map(|it| it.unwrap().file_name());
    assert_eq!(beside.filter(|name| name.to_string_lossy().starts_with("copy")).count(), 1);
    let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "for its owner alone");

    // The one file is all of it: who carries it elsewhere leaves nothing behind.
    let carried = place.text("carried.db");
    std::fs::copy(&copy, &carried).unwrap();
    let of_copy = ["--database", &format!("sqlite:{carried}")];
    let verified = output(&[&["audit", "verify", "--json"][..], &of_copy].concat());
    assert_eq!(json_of(&verified)["rows"], 6, "what was ended is in its audit");
    assert!(verified.status.success());
    assert_eq!(place.verified()["rows"], 5, "and not in that of the original");
    let again = output(&[&["backup", "--settle"][..], &of_copy].concat());
    assert_eq!(printed(&again), "ended 0 calls and runs that were open\n");
    drop(serving);
}

#[tokio::test]
async fn a_backup_overwrites_nothing_and_leaves_postgres_to_its_own_tools() {
    let place = Place::on_sqlite();
    place.work("one").await;
    std::fs::write(place.path("copy.db"), "precious").unwrap();
    let out = place.run(&["backup", &place.text("copy.db")]);
    assert_refused(&out, "there is something at", "not there yet");
    assert_eq!(std::fs::read_to_string(place.path("copy.db")).unwrap(), "precious");
    let out = place.run(&["backup", &place.text("nowhere/copy.db")]);
    assert_refused(&out, "", "the folder of the copy");
    assert!(!place.path("nowhere").exists());
    let url = "postgres://me@127.0.0.1:1/nothing";
    let out = output(&["backup", "copy.db", "--database", url]);
    assert_refused(&out, "a PostgreSQL is backed up with its own tools", "pg_dump");
    assert_eq!(place.run(&["backup"]).status.code(), Some(2), "copy where to?");
}
