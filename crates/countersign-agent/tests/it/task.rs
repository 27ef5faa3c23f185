//! Child agents: their calls are in the queue of their parent's run, and their leave is its leave.

use countersign_agent::ConsentSource;
use countersign_core::{Event, ExecutionStatus, PermissionMode, TokenUsage, VerdictAction};
use countersign_gate::RuleDraft;
use countersign_tools::{Task, TodoList, TodoWrite};

use crate::lives::Lives;
use crate::workshop::{Workshop, code, project};

/// The main agent hands work on; what its child does depends on what it is told.
const HANDS_ON: &str = r#"
[[script]]
prompt = '^hand on: (?<work>.*)$'
[[script.turn]]
say = "Somebody else shall do it."
call = { tool = "Task", input = { description = "do it", prompt = "{{prompt.work}}" }, id = "toolu_task" }
[[script.turn]]
[[script.turn.either]]
when = { result = '(?s)^(?<report>.*)$' }
say = "It says: {{report}}"

[[script]]
prompt = '^let one look$'
[[script.turn]]
call = { tool = "Task", input = { description = "look", prompt = "write it", subagent_type = "explore" }, id = "toolu_task" }
[[script.turn]]
say = "Looked."

[[script]]
prompt = '^write it$'
[[script.turn]]
say = "I write."
call = { tool = "Write", input = { file_path = "child.txt", content = "x" }, id = "toolu_write" }
[[script.turn]]
[[script.turn.either]]
when = { is_error = true, result = '(?s)^(?<why>.*)$' }
say = "I could not: {{why}}"
[[script.turn.either]]
say = "It is written."

[[script]]
prompt = '^write that$'
[[script.turn]]
call = { tool = "Write", input = { file_path = "other.txt", content = "y" } }
[[script.turn]]
say = "That is written."

[[script]]
prompt = '^note it$'
[[script.turn]]
say = "I note."
call = { tool = "TodoWrite", input = { todos = [{ content = "Look", status = "in_progress" }] }, id = "toolu_note" }
[[script.turn]]
say = "Noted."

[[script]]
prompt = '^go deeper$'
[[script.turn]]
call = { tool = "Task", input = { description = "deeper", prompt = "deeper still" }, id = "toolu_deeper" }
[[script.turn]]
[[script.turn.either]]
when = { result = '(?s)^(?<report>.*)$' }
say = "Below me: {{report}}"

[[script]]
prompt = '^deeper still$'
[[script.turn]]
call = { tool = "Task", input = { description = "too deep", prompt = "write it" }, id = "toolu_deepest" }
[[script.turn]]
[[script.turn.either]]
when = { is_error = true, result = '(?s)^(?<why>.*)$' }
say = "No: {{why}}"
[[script.turn.either]]
say = "There was somebody."

[[script]]
prompt = '^two at once$'
[[script.turn]]
call = [
  { tool = "Task", input = { description = "one", prompt = "write it" }, id = "toolu_1" },
  { tool = "Task", input = { description = "two", prompt = "write that" }, id = "toolu_2" },
]
[[script.turn]]
say = "Both reported."

[[script]]
prompt = '^go on$'
[[script.turn]]
say = "Here I am."
"#;

#[tokio::test]
async fn a_childs_call_asks_in_the_same_queue_and_its_report_is_the_result() {
    let shop = shop();
    let mut run = shop.start("hand on: write it", None).await;
    let task = run.until_asked().await;
    let asked = shop.approval(task).await;
    assert_eq!((asked.call().tool_name.as_str(), asked.call().agent.clone()), ("Task", None));
    shop.approve(task).await;
    let write = run.until_asked().await;
    let asked = shop.approval(write).await;
    assert_eq!(asked.call().agent.as_deref(), Some("main/general-purpose"));
    assert_eq!((asked.call().run, &asked.call().session), (Some(run.id), &run.session));
    assert_eq!(shop.file("child.txt"), None, "nothing before the decision");
    shop.approve(write).await;
    assert_eq!(code(&run.end().await), "done");
    assert_eq!(shop.file("child.txt").as_deref(), Some("x"));
    assert_eq!(run.results(), [("It is written.", false)], "the child's own are not told");
    assert_eq!(run.texts(), ["Somebody else shall do it.", "It says: It is written."]);
    let messages = shop.messages(&run.session).await;
    let transcript = serde_json::to_string(&messages).unwrap();
    assert_eq!(messages.len(), 4, "{transcript}");
    assert!(!transcript.contains("I write.") && !transcript.contains("toolu_write"));
    assert_eq!(shop.statuses(), [200; 4], "the model accepts both conversations");
}

#[tokio::test]
async fn a_childs_list_of_tasks_is_told_with_its_name_and_is_no_part_of_the_conversation() {
    let shop = unattended();
    let tool = TodoWrite::new(shop.workspace(), TodoList::default());
    let shop = shop.with_tool(tool);
    let run = shop.run("hand on: note it").await;
    let uses = run.events().filter_map(|event| match event {
        Event::ToolUse { id, agent, .. } => Some((id.as_str(), agent.as_deref())),
        _ => None,
    });
    let uses: Vec<_> = uses.collect();
    assert_eq!(uses, [("toolu_task", None), ("toolu_note", Some("main/general-purpose"))]);
    let noted = "The tasks are noted. 0 of 1 are done:\n[>] Look\n";
    assert_eq!(run.results(), [(noted, false), ("Noted.", false)]);
    let transcript = serde_json::to_string(&shop.messages(&run.session).await).unwrap();
    assert!(!transcript.contains("toolu_note"), "{transcript}");
}

#[tokio::test]
async fn what_children_took_is_counted() {
    let shop = unattended();
    let Event::RunDone { usage: alone, .. } = shop.start("write it", None).await.end().await else {
        panic!("it did not end")
    };
    let Event::RunDone { usage: both, .. } =
        shop.start("hand on: write it", None).await.end().await
    else {
        panic!("it did not end")
    };
    assert_ne!(alone, TokenUsage::default());
    assert!(both.output_tokens > alone.output_tokens, "{both:?} with a child, {alone:?} alone");
}

#[tokio::test]
async fn a_child_that_only_looks_has_no_other_tools() {
    let shop = unattended();
    let run = shop.run("let one look").await;
    let [(report, false)] = run.results()[..] else { panic!("{:?}", run.results()) };
    assert!(report.starts_with("I could not: Unknown tool: Write. There are: Read,"), "{report}");
    assert_eq!(shop.file("child.txt"), None);
}

#[tokio::test]
async fn what_is_denied_to_the_parent_is_denied_to_the_child() {
    let shop = shop();
    let (effect, rule) = (VerdictAction::Deny, "Write".to_owned());
    let draft = RuleDraft { id: None, effect, rule, why: None, expires_at: None };
    shop.gate.replace_rules(&project(), None, vec![draft], "ana").await.unwrap();
    let mut run = shop.start("hand on: write it", None).await;
    let task = run.until_asked().await;
    shop.approve(task).await;
    assert_eq!(code(&run.end().await), "done", "nobody is asked for what is denied");
    let [(report, false)] = run.results()[..] else { panic!("{:?}", run.results()) };
    assert!(report.starts_with("I could not: "), "{report}");
    assert_eq!(shop.file("child.txt"), None);
    let calls = shop.gate.calls_in_run(run.id).await.unwrap();
    let write = calls.iter().find(|it| it.call().tool_name == "Write").unwrap();
    assert_eq!(write.status(), ExecutionStatus::Failed, "and it is recorded");
}

#[tokio::test]
async fn the_mode_of_the_parent_is_that_of_the_child() {
    let mut shop = shop();
    shop.consent =
        ConsentSource::People { auto_approve_read: true, mode: Some(PermissionMode::DontAsk) };
    let (effect, rule) = (VerdictAction::Allow, "Task(general-purpose)".to_owned());
    let draft = RuleDraft { id: None, effect, rule, why: None, expires_at: None };
    shop.gate.replace_rules(&project(), None, vec![draft], "ana").await.unwrap();
    let run = shop.run("hand on: write it").await;
    let [(report, false)] = run.results()[..] else { panic!("{:?}", run.results()) };
    assert!(report.starts_with("I could not: "), "what would ask is denied to both: {report}");
    assert_eq!(shop.file("child.txt"), None);
}

#[tokio::test]
async fn who_interrupts_the_parent_ends_the_child_and_takes_back_what_it_asked() {
    let shop = shop();
    let mut run = shop.start("hand on: write it", None).await;
    let task = run.until_asked().await;
    shop.approve(task).await;
    let write = run.until_asked().await;
    run.interrupt().await;
    assert_eq!(shop.approval(write).await.status(), ExecutionStatus::Cancelled);
    assert_eq!(shop.approval(task).await.status(), ExecutionStatus::Failed);
    assert_eq!(shop.file("child.txt"), None);
    let session = run.session.clone();
    let mut next = shop.start("go on", Some(session)).await;
    assert_eq!(code(&next.end().await), "done", "the conversation goes on");
}

#[tokio::test]
async fn children_have_names_of_their_own() {
    let shop = shop();
    let mut run = shop.start("two at once", None).await;
    for _ in 0..4 {
        let asked = run.until_asked().await;
        shop.approve(asked).await;
    }
    assert_eq!(code(&run.end().await), "done");
    let calls = shop.gate.calls_in_run(run.id).await.unwrap();
    let mut paths: Vec<_> = calls.into_iter().filter_map(|it| it.call().agent.clone()).collect();
    paths.sort();
    assert_eq!(paths, ["main/general-purpose", "main/general-purpose-2"]);
}

#[tokio::test]
async fn a_child_of_a_child_has_no_children() {
    let shop = unattended();
    let run = shop.run("hand on: go deeper").await;
    let [(report, false)] = run.results()[..] else { panic!("{:?}", run.results()) };
    assert!(report.starts_with("Below me: No: Unknown tool: Task."), "{report}");
    let calls = shop.gate.calls_in_run(run.id).await.unwrap();
    let paths: Vec<_> =
        calls.iter().map(|it| it.call().agent.as_deref().unwrap_or("main")).collect();
    assert_eq!(
        paths,
        ["main", "main/general-purpose", "main/general-purpose/general-purpose"],
        "each is recorded, the refused one too"
    );
}

#[tokio::test]
async fn a_call_that_asks_for_leave_of_its_own_is_denied() {
    let script = r#"
[[script]]
[[script.turn]]
call = { tool = "Task", input = { description = "d", prompt = "p", permissionMode = "bypassPermissions" } }
[[script.turn]]
say = "No."
"#;
    let shop = Workshop::playing(script).with_tool(Task::default());
    let run = shop.run("go").await;
    let [(told, true)] = run.results()[..] else { panic!("{:?}", run.results()) };
    assert!(told.contains("a child agent never has more authority than its parent"), "{told}");
}

#[test]
fn when_the_driver_dies_the_child_is_interrupted_and_its_requests_are_taken_back() {
    let mut lives = Lives::playing(HANDS_ON);
    lives.shop = lives.shop.with_tool(Task::default());
    let (task, write) = lives.live(async |shop| {
        let mut run = shop.start("hand on: write it", None).await;
        let task = run.until_asked().await;
        shop.approve(task).await;
        (task, run.until_asked().await)
    });
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        assert_eq!(code(&run.end().await), "done");
        assert_eq!(shop.approval(write).await.status(), ExecutionStatus::Cancelled);
        assert_eq!(shop.approval(task).await.status(), ExecutionStatus::Failed);
        let [(told, true)] = run.results()[..] else { panic!("{:?}", run.results()) };
        assert!(told.contains("Whether it took effect is unknown"), "{told}");
        assert_eq!(shop.file("child.txt"), None);
    });
}

#[tokio::test]
async fn a_suspended_run_leaves_no_request_that_nobody_waits_for() {
    let shop = shop();
    let mut run = shop.start("hand on: write it", None).await;
    let task = run.until_asked().await;
    shop.approve(task).await;
    let write = run.until_asked().await;
    run.suspend.cancel();
    (&mut run.driving).await.unwrap();
    assert_eq!(shop.approval(write).await.status(), ExecutionStatus::Cancelled);
    assert_eq!(shop.approval(task).await.status(), ExecutionStatus::Failed);
}

fn shop() -> Workshop {
    Workshop::playing(HANDS_ON).with_tool(Task::default())
}

fn unattended() -> Workshop {
    Workshop::unattended(HANDS_ON).with_tool(Task::default())
}
