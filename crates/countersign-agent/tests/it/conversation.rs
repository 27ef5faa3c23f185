//! An agent over several prompts: it remembers, is interrupted, and goes on.

use countersign_agent::{Agent, AgentEvent, AgentEventStream, ApprovalCallback, BeginError};
use countersign_core::ToolOutput;
use serde_json::json;
use tokio::sync::mpsc;

use crate::workshop::{Own, Workshop, all, never_answering, results};

const TALK: &str = r#"
[[script]]
prompt = '^write (?<name>\S+)$'
[[script.turn]]
say = "I'll write it."
call = { tool = "Write", input = { file_path = "{{prompt.name}}", content = "one" } }
[[script.turn]]
say = "It said: {{result}}"

[[script]]
prompt = '^own$'
[[script.turn]]
call = { tool = "Own", input = {} }
[[script.turn]]
say = "Own is done."

[[script]]
prompt = '^fail$'
[[script.turn]]
say = "never"
fail = { status = 401, times = 100 }

[[script]]
[[script.turn]]
say = "Hello again."
"#;

#[tokio::test]
async fn the_next_prompt_goes_on_with_what_was_said() {
    let shop = Workshop::playing(TALK);
    let agent = shop.agent(shop.options());
    all(agent.go_on("write a.txt").await.unwrap()).await;
    let events = all(agent.go_on("hello").await.unwrap()).await;
    assert!(events.contains(&AgentEvent::Text("Hello again.".into())), "{events:?}");
    let sent = shop.sent();
    let roles: Vec<_> = sent.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    assert_eq!(sent[0]["content"][0]["text"], "write a.txt");
    assert_eq!(sent[3]["content"][0]["text"], "It said: Wrote 3 characters to a.txt");
    assert_eq!(sent[4]["content"], json!([{"type": "text", "text": "hello"}]));
}

#[tokio::test]
async fn run_begins_anew() {
    let shop = Workshop::playing(TALK);
    let agent = shop.agent(shop.options());
    all(agent.run("write a.txt").await.unwrap()).await;
    all(agent.run("hello").await.unwrap()).await;
    assert_eq!(shop.sent().len(), 1);
    all(agent.go_on("hello").await.unwrap()).await;
    assert_eq!(shop.sent().len(), 3, "it goes on with the latest one");
}

#[tokio::test]
async fn events_tell_the_whole_story_in_order() {
    let shop = Workshop::playing(TALK);
    let agent = shop.agent(shop.attended(ApprovalCallback::new(async |_| true)));
    let mut events = all(agent.run("write a.txt").await.unwrap()).await;
    let Some(AgentEvent::ToolUse { id, .. }) = events.get(1).cloned() else { panic!("{events:?}") };
    let Some(AgentEvent::Done { usage }) = events.pop() else { panic!("{events:?}") };
    assert!(usage.input_tokens > 0 && usage.output_tokens > 0, "{usage:?}");
    let (tool_name, params) = ("Write".to_owned(), json!({"file_path": "a.txt", "content": "one"}));
    assert_eq!(
        events,
        [
            AgentEvent::Text("I'll write it.".into()),
            AgentEvent::ToolUse {
                id: id.clone(),
                tool_name: tool_name.clone(),
                params: params.clone()
            },
            AgentEvent::ToolApproval { id: id.clone(), tool_name, params, approved: true },
            AgentEvent::ToolResult {
                id,
                content: "Wrote 3 characters to a.txt".into(),
                is_error: false
            },
            AgentEvent::Text("It said: Wrote 3 characters to a.txt".into()),
        ]
    );
}

#[tokio::test]
async fn the_pieces_of_a_text_make_the_text() {
    let shop = Workshop::playing("chunk = 3\n[[script]]\n[[script.turn]]\nsay = 'Grüße, alle!'");
    let mut events = shop.agent(shop.options()).run("go").await.unwrap();
    let mut pieces = String::new();
    loop {
        match events.next().await.unwrap() {
            AgentEvent::TextDelta(piece) => pieces.push_str(&piece),
            AgentEvent::Text(text) => break assert_eq!(text, "Grüße, alle!"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(pieces, "Grüße, alle!");
    assert!(matches!(events.next().await, Some(AgentEvent::Done { .. })));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_prompt_in_the_middle_of_another_is_refused() {
    let (shop, mut started) = with_endless_tool();
    let agent = shop.agent(shop.options());
    let events = agent.run("own").await.unwrap();
    let release = started.recv().await.unwrap();
    assert!(matches!(agent.go_on("hello").await, Err(BeginError::Busy)));
    release.send(()).await.unwrap();
    let events = all(events).await;
    assert!(events.contains(&AgentEvent::Text("Own is done.".into())), "{events:?}");
}

#[tokio::test]
async fn an_empty_prompt_is_refused() {
    let shop = Workshop::playing(TALK);
    let agent = shop.agent(shop.options());
    assert!(matches!(agent.run(" \n").await, Err(BeginError::EmptyPrompt)));
    assert!(shop.model.recorded().is_empty());
}

#[tokio::test]
async fn dropping_the_events_interrupts_the_run_and_the_conversation_goes_on() {
    let shop = Workshop::playing(TALK);
    let (callback, mut asked) = never_answering();
    let agent = shop.agent(shop.attended(callback));
    let reading = tokio::spawn(all(agent.run("write a.txt").await.unwrap()));
    let asking = asked.recv().await.unwrap();
    reading.abort();
    // The callback goes with it.
    asking.closed().await;
    // No `Busy`, though the run may still be on its way out.
    let events = all(agent.go_on("hello").await.unwrap()).await;
    assert!(events.contains(&AgentEvent::Text("Hello again.".into())), "{events:?}");
    assert_eq!((shop.file("a.txt"), shop.statuses()), (None, vec![200, 200]));
    let result = &shop.sent()[2]["content"][0];
    assert_eq!(result["content"], "Cancelled: the run was interrupted before this ran");
}

#[tokio::test]
async fn events_that_nobody_reads_do_not_hold_up_the_run() {
    let shop = Workshop::playing(TALK);
    let (tell, mut done) = mpsc::unbounded_channel();
    let shop = shop.with_tool(Own::new(move |_| {
        tell.send(()).unwrap();
        std::future::ready(ToolOutput::ok("done"))
    }));
    let events = shop.agent(shop.options()).run("own").await.unwrap();
    done.recv().await.unwrap();
    assert_eq!(results(&all(events).await), [("done", false)]);
}

#[tokio::test]
async fn the_events_outlive_the_agent_and_may_go_elsewhere() {
    let shop = Workshop::playing(TALK);
    let events = shop.agent(shop.options()).run("write a.txt").await.unwrap();
    let events = tokio::spawn(all(events)).await.unwrap();
    assert!(matches!(events.last(), Some(AgentEvent::Done { .. })), "{events:?}");
}

#[tokio::test]
async fn a_failure_says_what_to_do_and_the_conversation_goes_on() {
    let shop = Workshop::playing(TALK);
    let agent = shop.agent(shop.options());
    let failed = all(agent.run("fail").await.unwrap()).await.pop().unwrap();
    let AgentEvent::Failed { code, message, hint } = failed else { panic!("{failed:?}") };
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("bad_api_key", "the model's server refused the API key")
    );
    assert!(hint.unwrap().contains("ANTHROPIC_API_KEY"));
    let events = all(agent.go_on("hello").await.unwrap()).await;
    assert!(events.contains(&AgentEvent::Text("Hello again.".into())), "{events:?}");
    assert_eq!(shop.sent().len(), 2, "the prompt that failed is still there");
}

#[tokio::test]
async fn two_agents_know_nothing_of_each_other() {
    let shop = Workshop::playing(TALK);
    let (one, other) = (shop.agent(shop.options()), shop.agent(shop.options()));
    let (first, second) = tokio::join!(told(&one, "write a.txt"), told(&other, "hello"));
    assert_eq!(first, ["I'll write it.", "It said: Wrote 3 characters to a.txt"]);
    assert_eq!(second, ["Hello again."]);
    all(other.go_on("hello").await.unwrap()).await;
    assert_eq!(shop.sent().len(), 3);
}

async fn told(agent: &Agent, prompt: &str) -> Vec<String> {
    let events: AgentEventStream = agent.run(prompt).await.unwrap();
    let texts = all(events).await.into_iter().filter_map(|event| match event {
        AgentEvent::Text(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

/// Returns a workshop whose own tool runs until it is released.
fn with_endless_tool() -> (Workshop, mpsc::UnboundedReceiver<mpsc::Sender<()>>) {
    let (tell, started) = mpsc::unbounded_channel();
    let shop = Workshop::playing(TALK).with_tool(Own::new(move |_| {
        let (release, mut released) = mpsc::channel(1);
        tell.send(release).unwrap();
        async move {
            released.recv().await;
            ToolOutput::ok("released")
        }
    }));
    (shop, started)
}
