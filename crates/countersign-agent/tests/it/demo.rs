//! The built-in demo, as people will play it.

use std::sync::{Arc, LazyLock};

use countersign_agent::scripted::{Scenario, ScriptedModel};
use countersign_agent::{MessageToolResult, MessageToolUse, ModelMessage};
use serde_json::{Value, json};

use crate::world::{Hasty, World, talk};

#[tokio::test]
async fn the_tour_looks_writes_edits_and_runs() {
    let (calls, last) = play("hello", |call| ok(call, "fine")).await;
    assert_eq!(names(&calls), ["Glob", "Write", "Edit", "Bash", "Bash"]);
    let path = "countersign-demo/hello.txt";
    assert_eq!(calls[1].input["file_path"], path);
    let old = calls[2].input["old_string"].as_str().unwrap();
    assert!(calls[1].input["content"].as_str().unwrap().contains(old));
    assert_eq!(calls[3].input["command"], format!("cat '{path}' && wc -w '{path}'"));
    let kept = format!("wc -w '{path}' > '{path}.count' && cat '{path}.count'");
    assert_eq!(calls[4].input["command"], kept);
    assert!(last.contains("That was the tour"), "{last}");
}

#[tokio::test]
async fn a_readme_is_read_where_there_is_one() {
    for listing in ["README.md\nsrc", "/home/ana/project/Cargo.toml\n/home/ana/project/README.md"] {
        let (calls, _) = play("hello", |call| ok(call, listing)).await;
        assert_eq!(names(&calls), ["Glob", "Read", "Write", "Edit", "Bash", "Bash"]);
    }
}

#[tokio::test]
async fn the_tour_goes_on_where_looking_is_not_possible() {
    let (calls, last) = play("hello", |call| match call.name.as_str() {
        "Glob" => MessageToolResult::error(&call.id, "there is no such tool"),
        _ => ok(call, "fine"),
    })
    .await;
    assert_eq!(names(&calls), ["Glob", "Write", "Edit", "Bash", "Bash"]);
    assert!(last.contains("That was the tour"), "{last}");
}

#[tokio::test]
async fn a_rejection_with_a_name_changes_the_name() {
    for (feedback, path) in [
        ("call it hi.txt", "countersign-demo/hi.txt"),
        ("Please name it 'greeting' instead", "countersign-demo/greeting"),
        ("I would prefer notes.md.", "countersign-demo/notes.md"),
        ("put it in other/place.txt please", "other/place.txt"),
        ("use a different name", "countersign-demo/greeting.txt"),
    ] {
        let (calls, last) = play("hello", reject_first("Write", feedback)).await;
        assert_eq!(names(&calls), ["Glob", "Write", "Write", "Edit", "Bash", "Bash"], "{feedback}");
        assert_eq!(calls[2].input["file_path"], path, "{feedback}");
        assert_eq!(calls[2].input["content"], calls[1].input["content"]);
        assert_eq!(calls[3].input["file_path"], path);
        assert!(last.contains("That was the tour"), "{last}");
    }
}

#[tokio::test]
async fn a_rejection_with_another_reason_is_heard() {
    let (calls, _) = play("hello", reject_first("Write", "too cold for my taste")).await;
    assert_eq!(names(&calls), ["Glob", "Write", "Write", "Edit", "Bash", "Bash"]);
    let content = calls[2].input["content"].as_str().unwrap();
    assert!(content.contains("You said: too cold for my taste"), "{content}");
}

#[tokio::test]
async fn a_rejection_without_a_reason_ends_in_a_question() {
    let (calls, last) = play("hello", |call| match call.name.as_str() {
        "Write" => MessageToolResult::error(&call.id, "User rejected"),
        _ => ok(call, "fine"),
    })
    .await;
    assert_eq!(names(&calls), ["Glob", "Write"]);
    assert!(last.contains("What shall I do instead?"), "{last}");
}

#[tokio::test]
async fn whoever_always_says_no_is_not_asked_for_ever() {
    for prompt in ["hello", "create a file called a.txt with 'b'", "run ls", "read a.txt"] {
        for result in ["User rejected", "User rejected: call it b.txt", "Approval timed out"] {
            let (calls, _) = play(prompt, |call| MessageToolResult::error(&call.id, result)).await;
            assert!(calls.len() <= 4, "{prompt}: {}", calls.len());
        }
    }
}

#[tokio::test]
async fn a_rejected_edit_and_a_rejected_command_do_not_stop_the_tour() {
    let (calls, last) = play("hello", |call| match call.name.as_str() {
        "Edit" | "Bash" => MessageToolResult::error(&call.id, "User rejected: no"),
        _ => ok(call, "fine"),
    })
    .await;
    assert_eq!(names(&calls), ["Glob", "Write", "Edit", "Bash", "Bash"]);
    assert!(last.contains("It did not run"), "{last}");
}

#[tokio::test]
async fn a_file_is_created_exactly_as_asked() {
    for (prompt, path, content) in [
        (
            r#"Create a new file called test_sdk.txt with the content "Hello from SDK mode!""#,
            "test_sdk.txt",
            "Hello from SDK mode!",
        ),
        ("Create a file called test.txt with 'hello world'", "test.txt", "hello world"),
        ("please create a file named `a/b.md` containing \"x 'y' z\".", "a/b.md", "x 'y' z"),
        ("Create a file called two.txt with the text 'a\nb\n'", "two.txt", "a\nb\n"),
        (
            "create the file called /tmp/x.txt with content: \"{{i}} $HOME\"",
            "/tmp/x.txt",
            "{{i}} $HOME",
        ),
    ] {
        let (calls, last) = play(prompt, |call| ok(call, "Wrote it")).await;
        let inputs: Vec<&Value> = calls.iter().map(|call| &call.input).collect();
        assert_eq!(inputs, [&json!({"file_path": path, "content": content})], "{prompt}");
        assert!(last.contains("Done") && last.contains(path), "{last}");
    }
}

#[tokio::test]
async fn a_file_that_was_asked_for_can_be_renamed_by_a_rejection() {
    let prompt = "Create a file called test.txt with 'hello world'";
    let (calls, _) = play(prompt, reject_first("Write", "call it better.txt")).await;
    assert_eq!(calls[1].input, json!({"file_path": "better.txt", "content": "hello world"}));
}

#[tokio::test]
async fn files_are_read_and_commands_run() {
    let (calls, _) = play("read src/main.rs", |call| ok(call, "fn main() {}")).await;
    assert_eq!(
        (names(&calls), &calls[0].input),
        (vec!["Read"], &json!({"file_path": "src/main.rs"}))
    );
    let (calls, _) = play("run ls -la | wc -l", |call| ok(call, "3")).await;
    assert_eq!(calls[0].input["command"], "ls -la | wc -l");
    let (calls, last) =
        play("run false", |call| MessageToolResult::error(&call.id, "exit code 1")).await;
    assert_eq!(names(&calls), ["Bash"]);
    assert!(last.contains("exit code 1"), "{last}");
}

#[tokio::test]
async fn a_conversation_goes_on_after_the_tour() {
    let world = World::with_clock(Scenario::demo().unwrap(), Arc::new(Hasty)).await;
    let client = world.client();
    let mut messages = vec![ModelMessage::user("hello")];
    talk(&client, &mut messages, |call| ok(call, "fine")).await;
    messages.push(ModelMessage::user("read a.txt"));
    let calls = talk(&client, &mut messages, |call| ok(call, "text")).await;
    assert_eq!(names(&calls), ["Read"]);
    assert!(world.recorded().all().iter().all(|request| request.status == 200));
}

/// Plays the demo in-process and returns the calls and the last words.
async fn play(
    prompt: &str,
    tool: impl FnMut(&MessageToolUse) -> MessageToolResult,
) -> (Vec<MessageToolUse>, String) {
    static DEMO: LazyLock<Scenario> = LazyLock::new(|| Scenario::demo().unwrap());
    let model = ScriptedModel::new(DEMO.clone(), Arc::new(Hasty));
    let mut messages = vec![ModelMessage::user(prompt)];
    let calls = talk(&model, &mut messages, tool).await;
    (calls, messages.last().unwrap().text())
}

fn reject_first(tool: &str, feedback: &str) -> impl FnMut(&MessageToolUse) -> MessageToolResult {
    let mut reason = Some(format!("User rejected: {feedback}"));
    move |call| match reason.take_if(|_| call.name == tool) {
        Some(reason) => MessageToolResult::error(&call.id, reason),
        None => ok(call, "fine"),
    }
}

fn ok(call: &MessageToolUse, text: &str) -> MessageToolResult {
    MessageToolResult::ok(&call.id, text)
}

fn names(calls: &[MessageToolUse]) -> Vec<&str> {
    calls.iter().map(|call| call.name.as_str()).collect()
}
