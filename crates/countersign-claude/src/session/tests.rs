use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const ID: &str = "11111111-1111-4111-8111-111111111111";

#[test]
fn without_a_folder_there_are_no_sessions() {
    let sessions = StoredSessions::from_config_dir("/nowhere/at/all");
    assert_eq!(sessions.list(&ListSessionsOptions::all()).unwrap(), []);
    assert!(matches!(sessions.info(ID), Err(SessionError::NotFound(_))));
}

#[test]
fn an_id_that_is_none_never_becomes_a_path() {
    let sessions = StoredSessions::from_config_dir("/nowhere/at/all");
    for id in ["", "../../etc/passwd", "*", "11111111"] {
        assert!(matches!(sessions.delete(id), Err(SessionError::NotAnId(_))), "{id}");
    }
}

#[test]
fn a_session_is_called_by_the_best_title_it_has() {
    let place = Place::with(&[user("u1", None, "first"), user("u2", Some("u1"), "second")]);
    assert_eq!(place.summary(), "first");
    place.append(&json!({"type": "last-prompt", "lastPrompt": "second"}));
    assert_eq!(place.summary(), "second");
    place.append(&json!({"type": "ai-title", "aiTitle": "Made by the CLI"}));
    assert_eq!(place.summary(), "Made by the CLI");
    place.sessions().rename(ID, "  Given  ").unwrap();
    assert_eq!(place.summary(), "Given");
    place.append(&json!({"type": "ai-title", "aiTitle": "Made again"}));
    assert_eq!(place.summary(), "Given");
}

#[test]
fn what_nobody_typed_is_no_title() {
    let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]);
    let place = Place::with(&[
        user("u1", None, "<command-name>/clear</command-name>"),
        said("user", "u2", Some("u1"), &json!({"content": result})),
        user("u3", Some("u2"), "typed\n  at last"),
    ]);
    assert_eq!(place.summary(), "typed at last");
}

#[test]
fn a_title_between_long_lines_is_found() {
    let long = "x".repeat(100_000);
    let place = Place::with(&[
        json!({"type": "api-request-blob", "message": long}),
        user("u1", None, "in the middle"),
        json!({"type": "api-request-blob", "message": long}),
    ]);
    assert_eq!(place.summary(), "in the middle");
}

#[test]
fn a_session_without_a_word_is_not_listed() {
    let place = Place::with(&[json!({"type": "cost-state"})]);
    assert_eq!(place.sessions().list(&ListSessionsOptions::all()).unwrap(), []);
    assert_eq!(place.sessions().info(ID).unwrap().summary, "");
}

#[test]
fn an_empty_title_is_refused() {
    let place = Place::with(&[user("u1", None, "hi")]);
    assert!(matches!(place.sessions().rename(ID, " "), Err(SessionError::NoTitle)));
}

#[test]
fn a_tag_can_be_put_on_and_taken_off() {
    let place = Place::with(&[user("u1", None, "hi")]);
    let tag = || place.sessions().info(ID).unwrap().tag;
    place.sessions().tag(ID, Some("work")).unwrap();
    assert_eq!(tag().as_deref(), Some("work"));
    place.sessions().tag(ID, None).unwrap();
    assert_eq!(tag(), None);
}

#[test]
fn half_a_line_that_a_dead_process_left_does_not_swallow_the_next() {
    let place = Place::with(&[user("u1", None, "hi")]);
    let mut text = fs::read_to_string(place.file()).unwrap();
    text.push_str("{\"type\":\"assist");
    fs::write(place.file(), text).unwrap();
    place.sessions().rename(ID, "Still here").unwrap();
    assert_eq!(place.summary(), "Still here");
}

#[test]
fn of_two_branches_the_one_written_last_counts() {
    let place = Place::with(&[
        user("u1", None, "question"),
        assistant("a1", "u1", "m1", &json!([{"type": "text", "text": "first answer"}])),
        user("u2", Some("u1"), "another way"),
        assistant("a2", "u2", "m2", &json!([{"type": "text", "text": "second answer"}])),
    ]);
    assert_eq!(place.texts(), ["question", "another way", "second answer"]);
}

#[test]
fn parallel_calls_and_their_results_are_all_in_the_conversation() {
    let call = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {}}]);
    let result =
        |id: &str| json!({"content": [{"type": "tool_result", "tool_use_id": id, "content": id}]});
    let place = Place::with(&[
        user("u1", None, "both"),
        assistant("a1", "u1", "m1", &call("t1")),
        assistant("a2", "a1", "m1", &call("t2")),
        said("user", "r1", Some("a1"), &result("t1")),
        said("user", "r2", Some("a2"), &result("t2")),
        assistant("a3", "r2", "m2", &json!([{"type": "text", "text": "done"}])),
    ]);
    let messages = place.sessions().messages(ID).unwrap();
    let uuids: Vec<_> = messages.iter().filter_map(Message::uuid).collect();
    assert_eq!(uuids, ["u1", "a1", "a2", "r1", "r2", "a3"]);
}

#[test]
fn what_the_cli_says_on_its_own_is_a_link_and_no_message() {
    let mut meta = user("x1", Some("u1"), "caveat");
    meta["isMeta"] = json!(true);
    let mut beside = user("s1", Some("u1"), "from a subagent");
    beside["isSidechain"] = json!(true);
    let place = Place::with(&[
        user("u1", None, "hi"),
        meta,
        json!({"type": "attachment", "uuid": "x2", "parentUuid": "x1"}),
        assistant("a1", "x2", "m1", &json!([{"type": "text", "text": "hello"}])),
        beside,
    ]);
    assert_eq!(place.texts(), ["hi", "hello"]);
}

#[test]
fn a_circle_of_parents_comes_to_an_end() {
    let place = Place::with(&[user("u1", Some("u2"), "a"), user("u2", Some("u1"), "b")]);
    assert_eq!(place.texts(), ["a", "b"]);
}

#[test]
fn a_fork_has_ids_of_its_own_and_the_same_words() {
    let place = Place::with(&[
        user("u1", None, "hi"),
        json!({"type": "attachment", "uuid": "x1", "parentUuid": "u1"}),
        json!({"type": "progress", "uuid": "p1", "parentUuid": "x1"}),
        assistant("a1", "x1", "m1", &json!([{"type": "text", "text": "hello"}])),
    ]);
    let forked = place.sessions().fork(ID, &ForkSessionOptions::new()).unwrap().to_string();
    let old = place.sessions().messages(ID).unwrap();
    let new = place.sessions().messages(&forked).unwrap();
    assert_eq!(texts(&new), texts(&old));
    assert!(new.iter().all(|message| message.session_id() == Some(&*forked)));
    assert!(new.iter().zip(&old).all(|(new, old)| new.uuid() != old.uuid()));
    let info = place.sessions().info(&forked).unwrap();
    assert_eq!(info.summary, "hi (fork)");
    assert!(
        !fs::read_to_string(place.project().join(format!("{forked}.jsonl")))
            .unwrap()
            .contains("progress")
    );
}

#[test]
fn a_fork_can_end_earlier() {
    let place = Place::with(&[user("u1", None, "hi"), user("u2", Some("u1"), "bye")]);
    let fork = ForkSessionOptions::new().up_to("u1").title("Only the start");
    let forked = place.sessions().fork(ID, &fork).unwrap().to_string();
    assert_eq!(texts(&place.sessions().messages(&forked).unwrap()), ["hi"]);
    assert_eq!(place.sessions().info(&forked).unwrap().summary, "Only the start");
    let missing = place.sessions().fork(ID, &ForkSessionOptions::new().up_to("u9"));
    assert!(matches!(missing, Err(SessionError::NoMessage { .. })));
}

#[test]
fn a_deleted_session_is_gone_with_its_subagents() {
    let place = Place::with(&[user("u1", None, "hi")]);
    let subagents = place.project().join(ID).join("subagents");
    fs::create_dir_all(&subagents).unwrap();
    fs::write(subagents.join("agent-a1.jsonl"), "").unwrap();
    assert_eq!(place.sessions().subagents(ID).unwrap(), ["a1"]);
    place.sessions().delete(ID).unwrap();
    assert!(matches!(place.sessions().delete(ID), Err(SessionError::NotFound(_))));
    assert_eq!(fs::read_dir(place.project()).unwrap().count(), 0);
}

#[test]
fn sessions_are_listed_newest_first_and_by_directory() {
    let place = Place::with(&[user("u1", None, "old")]);
    let newer = "22222222-2222-4222-8222-222222222222";
    let other = place.home.path().join("projects/-somewhere-else-abbreviated");
    fs::create_dir_all(&other).unwrap();
    let mut entry = user("u1", None, "new");
    entry["cwd"] = json!("/somewhere/else/quite/long");
    let path = other.join(format!("{newer}.jsonl"));
    fs::write(&path, format!("{entry}\n")).unwrap();
    let later =
        place.sessions().info(ID).unwrap().last_modified + std::time::Duration::from_secs(9);
    fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();

    let listed = |listed: ListSessionsOptions| {
        let sessions = place.sessions().list(&listed).unwrap();
        sessions.into_iter().map(|info| info.summary).collect::<Vec<_>>()
    };
    assert_eq!(listed(ListSessionsOptions::all()), ["new", "old"]);
    assert_eq!(listed(ListSessionsOptions::all().limit(1)), ["new"]);
    assert_eq!(listed(ListSessionsOptions::all().offset(1)), ["old"]);
    assert_eq!(listed(ListSessionsOptions::all().directory("/home/ana/project")), ["old"]);
    assert_eq!(listed(ListSessionsOptions::all().directory("/somewhere/else/quite/long")), ["new"]);
    assert_eq!(listed(ListSessionsOptions::all().directory("/home/bo")), [] as [&str; 0]);
}

/// A configuration folder with one session.
struct Place {
    home: TempDir,
}

impl Place {
    fn with(entries: &[Value]) -> Self {
        let place = Self { home: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.project()).unwrap();
        fs::write(place.file(), "").unwrap();
        for entry in entries {
            place.append(entry);
        }
        place
    }

    fn sessions(&self) -> StoredSessions {
        StoredSessions::from_config_dir(self.home.path())
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("projects/-home-ana-project")
    }

    fn file(&self) -> PathBuf {
        self.project().join(format!("{ID}.jsonl"))
    }

    fn append(&self, entry: &Value) {
        line_file::append_line(&self.file(), &entry.to_string()).unwrap();
    }

    fn summary(&self) -> String {
        let listed = self.sessions().list(&ListSessionsOptions::all()).unwrap();
        assert_eq!(listed, [self.sessions().info(ID).unwrap()]);
        listed[0].summary.clone()
    }

    fn texts(&self) -> Vec<String> {
        texts(&self.sessions().messages(ID).unwrap())
    }
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().map(Message::text).collect()
}

fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    said("user", uuid, parent, &json!({"role": "user", "content": text}))
}

fn assistant(uuid: &str, parent: &str, id: &str, content: &Value) -> Value {
    said("assistant", uuid, Some(parent), &json!({"id": id, "content": content}))
}

fn said(kind: &str, uuid: &str, parent: Option<&str>, message: &Value) -> Value {
    json!({
        "type": kind, "uuid": uuid, "parentUuid": parent, "message": message, "sessionId": ID,
        "isSidechain": false, "cwd": "/home/ana/project",
    })
}
