//! The library asks, or does not (S5).

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_agent::{AgentEvent, AgentOptions, ApprovalCallback, ToolApprovalRequest};
use countersign_core::ToolOutput;
use countersign_tools::{Bash, Edit, Environment, NeedsApproval, Read, Write};
use serde_json::{Value, json};

use crate::workshop::{Own, Workshop, all, decisions, never_answering, results};

/// One call of each tool, one after the other.
const ALL_SIX: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Glob", input = { pattern = "*" } }
[[script.turn]]
call = { tool = "Write", input = { file_path = "a.txt", content = "one\n" } }
[[script.turn]]
call = { tool = "Read", input = { file_path = "a.txt" } }
[[script.turn]]
call = { tool = "Edit", input = { file_path = "a.txt", old_string = "one", new_string = "two" } }
[[script.turn]]
call = { tool = "Grep", input = { pattern = "two" } }
[[script.turn]]
call = { tool = "Bash", input = { command = "cat a.txt > b.txt" } }
[[script.turn]]
say = "Done."
"#;

const WRITE: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Write", input = { file_path = "a.txt", content = "one" } }
[[script.turn]]
say = "It said: {{result}}"
"#;

#[tokio::test]
async fn by_default_everything_runs_and_nobody_is_asked() {
    let shop = Workshop::playing(ALL_SIX);
    let events = all(shop.agent(shop.options()).run("go").await.unwrap()).await;
    assert_eq!(decisions(&events), []);
    assert_eq!(events.iter().filter(|event| matches!(event, AgentEvent::Warning(_))).count(), 0);
    assert!(results(&events).iter().all(|(_, is_error)| !is_error), "{events:?}");
    assert_eq!(shop.file("b.txt").as_deref(), Some("two\n"));
    assert!(matches!(events.last(), Some(AgentEvent::Done { .. })));
}

#[tokio::test]
async fn bash_write_and_edit_ask_and_reading_never_does() {
    let shop = Workshop::playing(ALL_SIX);
    let (callback, asked) = answering(true);
    let events = all(shop.agent(shop.attended(callback)).run("go").await.unwrap()).await;
    assert_eq!(names(&asked), ["Write", "Edit", "Bash"]);
    assert_eq!(decisions(&events), [("Write", true), ("Edit", true), ("Bash", true)]);
    assert_eq!(shop.file("b.txt").as_deref(), Some("two\n"));
}

#[tokio::test]
async fn true_runs_the_tool_with_the_parameters_that_were_shown() {
    let shop = Workshop::playing(WRITE);
    let (callback, asked) = answering(true);
    let events = all(shop.agent(shop.attended(callback)).run("go").await.unwrap()).await;
    let params = json!({"file_path": "a.txt", "content": "one"});
    let ids = events.iter().filter_map(|event| match event {
        AgentEvent::ToolUse { id, .. } => Some(id.clone()),
        _ => None,
    });
    let [id] = ids.collect::<Vec<_>>().try_into().unwrap();
    let tool_name = "Write".to_owned();
    let request = ToolApprovalRequest {
        id: id.clone(),
        tool_name: tool_name.clone(),
        params: params.clone(),
    };
    assert_eq!(*asked.lock().unwrap(), [request]);
    let decided = AgentEvent::ToolApproval { id, tool_name, params, approved: true };
    assert!(events.contains(&decided), "{events:?}");
    assert_eq!(shop.file("a.txt").as_deref(), Some("one"));
}

#[tokio::test]
async fn false_stops_the_tool_and_the_model_is_told() {
    let shop = Workshop::playing(WRITE);
    let (callback, _) = answering(false);
    let events = all(shop.agent(shop.attended(callback)).run("go").await.unwrap()).await;
    assert_eq!(shop.file("a.txt"), None);
    assert_eq!(decisions(&events), [("Write", false)]);
    assert_eq!(results(&events), [("User rejected", true)]);
    assert!(events.contains(&AgentEvent::Text("It said: User rejected".into())));
}

#[tokio::test]
async fn each_call_is_decided_by_itself() {
    let shop = Workshop::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Write", input = { file_path = "{{i}}.txt", content = "x" }, repeat = 3 }
        [[script.turn]]
        expect = { result = '^User rejected$', count = 1 }
        say = "Done."
        "#,
    );
    let callback = ApprovalCallback::new(async |request| request.params["file_path"] != "2.txt");
    let events = all(shop.agent(shop.attended(callback)).run("go").await.unwrap()).await;
    assert_eq!(decisions(&events).iter().filter(|(_, approved)| *approved).count(), 2);
    assert_eq!((shop.file("2.txt"), shop.file("3.txt")), (None, Some("x".into())));
    assert!(matches!(events.last(), Some(AgentEvent::Done { .. })), "{events:?}");
}

#[tokio::test]
async fn a_tool_may_look_at_the_parameters_to_say_whether_it_asks() {
    let shop = Workshop::playing(ALL_SIX);
    let (workspace, environment) = (shop.workspace(), Environment::default());
    let bash = Bash::new(workspace.clone(), environment);
    let is_risky = |params: &Value| params["command"].as_str().is_some_and(|it| it.contains("rm"));
    let shop = shop
        .with_tool(bash.with_needs_approval(NeedsApproval::when(is_risky)))
        .with_tool(Write::new(workspace.clone()).with_needs_approval(false))
        .with_tool(Edit::new(workspace.clone()).with_needs_approval(NeedsApproval::when_async(
            async |params: Value| {
                tokio::task::yield_now().await;
                params["new_string"] == "two"
            },
        )))
        .with_tool(Read::new(workspace).with_needs_approval(true));
    let (callback, asked) = answering(true);
    let events = all(shop.agent(shop.attended(callback)).run("go").await.unwrap()).await;
    assert_eq!(names(&asked), ["Read", "Edit"]);
    assert!(results(&events).iter().all(|(_, is_error)| !is_error), "{events:?}");
}

#[tokio::test]
async fn a_tool_that_panics_over_the_question_asks() {
    let shop = Workshop::playing(WRITE);
    let write = Write::new(shop.workspace());
    let rule = NeedsApproval::when(|params| params["no such field"].as_bool().unwrap());
    let shop = shop.with_tool(write.with_needs_approval(rule));
    let (callback, asked) = answering(false);
    all(shop.agent(shop.attended(callback)).run("go").await.unwrap()).await;
    assert_eq!((names(&asked), shop.file("a.txt")), (vec!["Write".to_owned()], None));
}

#[tokio::test]
async fn a_callback_that_panics_has_not_said_yes() {
    for callback in [
        ApprovalCallback::new(async |_| panic!("the dialog crashed")),
        ApprovalCallback::new(|_| -> std::future::Ready<bool> { panic!("it could not even open") }),
    ] {
        let shop = Workshop::playing(WRITE);
        let events = all(shop.agent(shop.attended(callback)).run("go").await.unwrap()).await;
        assert_eq!((decisions(&events), shop.file("a.txt")), (vec![("Write", false)], None));
        let told = "User rejected: the program that decides broke, so nobody said yes";
        assert_eq!(results(&events), [(told, true)]);
        assert!(matches!(events.last(), Some(AgentEvent::Done { .. })), "{events:?}");
    }
}

#[tokio::test]
async fn a_callback_that_takes_too_long_has_not_said_yes() {
    let shop = Workshop::playing(WRITE);
    let (callback, mut asked) = never_answering();
    let options =
        AgentOptions { approval_timeout: Duration::from_secs(30), ..shop.attended(callback) };
    let reading = tokio::spawn(all(shop.agent(options).run("go").await.unwrap()));
    let asking = asked.recv().await.unwrap();
    shop.clock.advance(Duration::from_secs(30));
    let events = reading.await.unwrap();
    assert_eq!((decisions(&events), shop.file("a.txt")), (vec![("Write", false)], None));
    assert_eq!(results(&events), [("Approval timed out", true)]);
    assert!(matches!(events.last(), Some(AgentEvent::Done { .. })), "{events:?}");
    // Nobody waits for it any more: it has been dropped.
    asking.closed().await;
}

#[tokio::test]
async fn a_yes_after_the_deadline_is_too_late() {
    let shop = Workshop::playing(WRITE);
    let clock = shop.clock.clone();
    let callback = ApprovalCallback::new(move |_| {
        clock.advance(Duration::from_secs(30));
        std::future::ready(true)
    });
    let options =
        AgentOptions { approval_timeout: Duration::from_secs(30), ..shop.attended(callback) };
    let events = all(shop.agent(options).run("go").await.unwrap()).await;
    assert_eq!((decisions(&events), shop.file("a.txt")), (vec![("Write", false)], None));
}

#[tokio::test]
async fn with_nobody_to_ask_it_approves_and_warns_loudly() {
    let shop = Workshop::playing(WRITE);
    let log = Log::default();
    let _listening = log.listen();
    let agent = shop.agent(AgentOptions { auto_approve: false, ..shop.options() });
    let events = all(agent.run("go").await.unwrap()).await;
    let warning = "auto_approve is false but there is no on_tool_approval callback: every tool call \
                   is approved without anybody being asked";
    assert_eq!(events.first(), Some(&AgentEvent::Warning(warning.into())));
    assert_eq!(decisions(&events), [("Write", true)]);
    assert_eq!(shop.file("a.txt").as_deref(), Some("one"));
    let warned: Vec<_> = log.lines().into_iter().filter(|line| line.contains(warning)).collect();
    assert_eq!(warned.len(), 2, "once when it is made, once for each call: {warned:?}");
    assert!(warned.iter().all(|line| line.contains("WARN")), "{warned:?}");
    assert!(warned[1].contains("tool=\"Write\""), "{warned:?}");
}

#[tokio::test]
async fn a_callback_that_will_never_be_asked_is_warned_of() {
    let shop = Workshop::playing(WRITE);
    let (callback, asked) = answering(false);
    let options = AgentOptions { on_tool_approval: Some(callback), ..shop.options() };
    let events = all(shop.agent(options).run("go").await.unwrap()).await;
    let Some(AgentEvent::Warning(warning)) = events.first() else { panic!("{events:?}") };
    assert!(warning.contains("never asked"), "{warning}");
    assert_eq!((names(&asked).len(), shop.file("a.txt").as_deref()), (0, Some("one")));
}

#[tokio::test]
async fn an_unknown_tool_is_a_clear_error_and_nobody_is_asked() {
    let shop = Workshop::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Teleport", input = { to = "home" } }
        [[script.turn]]
        say = "Then not."
        "#,
    );
    let (callback, asked) = answering(true);
    let events = all(shop.agent(shop.attended(callback)).run("go").await.unwrap()).await;
    let told = "Unknown tool: Teleport. There are: Read, Write, Edit, Bash, Glob, Grep";
    assert_eq!((results(&events), names(&asked).len()), (vec![(told, true)], 0));
}

#[tokio::test]
async fn a_wrong_input_is_a_clear_error_and_nobody_is_asked() {
    let shop = Workshop::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = [
            { tool = "Write", input = { file_path = "a.txt" } },
            { tool = "Bash", input = { command = 7 } },
        ]
        [[script.turn]]
        expect = { is_error = true, count = 2 }
        say = "Then not."
        "#,
    );
    let (callback, asked) = answering(true);
    let events = all(shop.agent(shop.attended(callback)).run("go").await.unwrap()).await;
    let told: Vec<_> = results(&events).iter().map(|(text, _)| (*text).to_owned()).collect();
    assert!(told.iter().any(|text| text.contains("missing field `content`")), "{told:?}");
    assert!(told.iter().any(|text| text.starts_with("`command`: expected a string")), "{told:?}");
    assert_eq!((names(&asked).len(), shop.file("a.txt")), (0, None));
}

#[tokio::test]
async fn a_tool_that_panics_is_an_error_and_the_others_go_on() {
    let shop = Workshop::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = [
            { tool = "Own", input = {} },
            { tool = "Write", input = { file_path = "a.txt", content = "one" } },
        ]
        [[script.turn]]
        expect = { result = 'the tool broke', is_error = true, count = 1 }
        say = "One of two."
        "#,
    )
    .with_tool(Own::new(async |input: Value| ToolOutput::ok(input["x"].as_str().unwrap())));
    let events = all(shop.agent(shop.options()).run("go").await.unwrap()).await;
    assert!(events.contains(&AgentEvent::Text("One of two.".into())), "{events:?}");
    assert_eq!(shop.file("a.txt").as_deref(), Some("one"));
}

type Asked = Arc<Mutex<Vec<ToolApprovalRequest>>>;

/// Returns a callback that always says the same, and what it was asked.
fn answering(answer: bool) -> (ApprovalCallback, Asked) {
    let asked = Asked::default();
    let asking = asked.clone();
    let callback = ApprovalCallback::new(move |request| {
        asking.lock().unwrap().push(request);
        std::future::ready(answer)
    });
    (callback, asked)
}

fn names(asked: &Asked) -> Vec<String> {
    asked.lock().unwrap().iter().map(|request| request.tool_name.clone()).collect()
}

/// What is logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn listen(&self) -> tracing::subscriber::DefaultGuard {
        let log = self.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || log.clone()).finish();
        tracing::subscriber::set_default(subscriber)
    }

    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
