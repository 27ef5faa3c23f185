//! The bridge from the permission callback to people.

use std::time::Duration;

use countersign_claude::bridge::{ControlMessage, ControlResponseError};
use countersign_claude::{
    ApprovalBridge, BridgeEvent, BridgeOutcome, NotPendingError, Options, PendingApproval,
    PermissionResult,
};
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;

use crate::fake::{Fake, connect};

const WAIT: Duration = Duration::from_mins(5);

#[tokio::test(start_paused = true)]
async fn every_listener_hears_and_the_first_decision_counts() {
    let (bridge, _client, mut fake) = bridged().await;
    let (mut one, mut two) = (bridge.subscribe(), bridge.subscribe());
    ask(&mut fake, "1").await;
    let approval = asked(&mut one).await;
    assert_eq!(asked(&mut two).await, approval);
    assert_eq!(bridge.pending(), std::slice::from_ref(&approval));
    bridge.decide(&approval.id, PermissionResult::allow()).unwrap();
    let late = bridge.decide(&approval.id, PermissionResult::deny("no"));
    assert_eq!(late, Err(NotPendingError(approval.id.clone())));
    assert_eq!(fake.answer().await["response"]["behavior"], "allow");
    let settled = BridgeEvent::Settled { id: approval.id, outcome: BridgeOutcome::Allowed };
    assert_eq!(one.recv().await.unwrap(), settled);
    assert_eq!(two.recv().await.unwrap(), settled);
    assert_eq!(bridge.pending(), []);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_decides_is_denied() {
    let (bridge, _client, mut fake) = bridged().await;
    let mut events = bridge.subscribe();
    ask(&mut fake, "1").await;
    let approval = asked(&mut events).await;
    let answer = fake.answer().await;
    assert_eq!(
        answer["response"],
        json!({ "behavior": "deny", "message": "nobody decided within 300s" })
    );
    let settled = BridgeEvent::Settled { id: approval.id, outcome: BridgeOutcome::TimedOut };
    assert_eq!(events.recv().await.unwrap(), settled);
}

#[tokio::test]
async fn what_the_cli_takes_back_waits_no_more() {
    let (bridge, _client, mut fake) = bridged().await;
    let mut events = bridge.subscribe();
    ask(&mut fake, "1").await;
    let approval = asked(&mut events).await;
    fake.cancel("1").await;
    let settled =
        BridgeEvent::Settled { id: approval.id.clone(), outcome: BridgeOutcome::Cancelled };
    assert_eq!(events.recv().await.unwrap(), settled);
    assert!(bridge.decide(&approval.id, PermissionResult::allow()).is_err());
}

#[tokio::test]
async fn when_the_session_ends_nothing_waits_any_more() {
    let (bridge, client, mut fake) = bridged().await;
    let mut events = bridge.subscribe();
    ask(&mut fake, "1").await;
    let approval = asked(&mut events).await;
    drop(client);
    let settled = BridgeEvent::Settled { id: approval.id, outcome: BridgeOutcome::Cancelled };
    assert_eq!(events.recv().await.unwrap(), settled);
}

#[tokio::test]
async fn an_event_is_json_a_browser_can_read() {
    let (bridge, _client, mut fake) = bridged().await;
    let mut events = bridge.subscribe();
    ask(&mut fake, "1").await;
    let event = serde_json::to_value(events.recv().await.unwrap()).unwrap();
    assert_eq!(event["type"], "asked");
    assert_eq!(event["tool_name"], "Bash");
    assert_eq!(event["input"], json!({ "command": "ls" }));
    assert_eq!(event["remaining_ms"], 300_000);
}

/// The third founding document's broadcast and its control response, to the letter.
#[tokio::test]
async fn a_page_that_knows_only_the_clis_protocol_is_asked_and_decides() {
    let bridge = ApprovalBridge::with_control_messages(WAIT);
    let (_client, mut fake) = connect(Options::new().can_use_tool(bridge.clone())).await;
    let mut events = bridge.subscribe();
    ask(&mut fake, "1").await;
    let asked = events.recv().await.unwrap();
    let message = serde_json::to_value(ControlMessage::from(&asked)).unwrap();
    let id = message["request_id"].clone();
    assert_eq!(
        message,
        json!({
            "type": "control_request",
            "request_id": id,
            "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}},
        })
    );
    for unreadable in [
        json!({"type": "control_response", "response": {"request_id": id, "response": {}}}),
        json!({"type": "asked", "response": {"request_id": id, "response": {"behavior": "allow"}}}),
    ] {
        let refused = bridge.decide_by_control_response(&unreadable);
        assert!(matches!(refused, Err(ControlResponseError::Unreadable(_))), "{refused:?}");
    }
    assert_eq!(bridge.pending().len(), 1, "what cannot be read decides nothing");
    let response = json!({
        "type": "control_response",
        "response": {
            "request_id": id,
            "subtype": "success",
            "response": {"behavior": "allow", "updatedInput": {"command": "pwd"}},
        },
    });
    bridge.decide_by_control_response(&response).unwrap();
    assert_eq!(fake.answer().await["response"]["updatedInput"], json!({"command": "pwd"}));
    let settled = events.recv().await.unwrap();
    assert_eq!(
        serde_json::to_value(ControlMessage::from(&settled)).unwrap(),
        json!({"type": "control_cancel_request", "request_id": id})
    );
    let late = bridge.decide_by_control_response(&response);
    assert!(matches!(late, Err(ControlResponseError::NotPending(_))), "{late:?}");
}

#[tokio::test]
async fn a_control_request_carries_the_calls_id_and_suggestions() {
    let (bridge, _client, mut fake) = bridged().await;
    let mut events = bridge.subscribe();
    let suggestions = json!([{
        "type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{"toolName": "WebFetch", "ruleContent": "domain:example.com"}],
    }]);
    let request = json!({
        "subtype": "can_use_tool",
        "tool_name": "WebFetch",
        "input": {"url": "https://example.com", "prompt": "..."},
        "tool_use_id": "toolu_01VJkFn7jEpDrMc62HpaWMCh",
        "permission_suggestions": suggestions,
    });
    fake.ask("1", request.clone()).await;
    let asked = events.recv().await.unwrap();
    let message = serde_json::to_value(ControlMessage::from(&asked)).unwrap();
    assert_eq!(message["request"], request);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_decides_is_denied_in_the_words_of_the_founding_document() {
    let bridge = ApprovalBridge::with_control_messages(WAIT);
    let (_client, mut fake) = connect(Options::new().can_use_tool(bridge.clone())).await;
    ask(&mut fake, "1").await;
    let message = "Permission request timed out";
    let answer = fake.answer().await;
    assert_eq!(answer["response"], json!({ "behavior": "deny", "message": message }));
}

async fn bridged() -> (ApprovalBridge, countersign_claude::ClaudeClient, Fake) {
    let bridge = ApprovalBridge::new(WAIT);
    let (client, fake) = connect(Options::new().can_use_tool(bridge.clone())).await;
    (bridge, client, fake)
}

async fn ask(fake: &mut Fake, id: &str) {
    let input: Value = json!({ "command": "ls" });
    let request = json!({ "subtype": "can_use_tool", "tool_name": "Bash", "input": input });
    fake.ask(id, request).await;
}

async fn asked(events: &mut Receiver<BridgeEvent>) -> PendingApproval {
    match events.recv().await.unwrap() {
        BridgeEvent::Asked(approval) => *approval,
        other @ BridgeEvent::Settled { .. } => panic!("{other:?}"),
    }
}
