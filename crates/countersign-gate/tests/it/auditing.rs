//! The audit: every decision is in it, and nothing in it can be changed unnoticed.

use countersign_core::ToolOutput;
use countersign_gate::{AuditAction, AuditChainBreak, RuleDraft};

use crate::world::World;

/// A world with a call that ran, one that was rejected, one that waits, and a rule.
async fn with_a_history() -> World {
    let world = World::new().await;
    let ran = world.ask("Bash").await.id();
    world.approve(ran, "ana").await.unwrap();
    world.gate.start(ran).await.unwrap().unwrap();
    world.gate.finish(ran, Ok(ToolOutput::ok("done"))).await.unwrap();
    let rejected = world.ask("Write").await.id();
    world.reject(rejected, "not this way").await.unwrap();
    world.ask("Edit").await;
    let rule = RuleDraft {
        id: None,
        effect: countersign_core::VerdictAction::Deny,
        rule: "Bash(rm *)".into(),
        why: None,
        expires_at: None,
    };
    world.gate.replace_rules(&"p".into(), None, vec![rule], "ana").await.unwrap();
    world
}

async fn broken(world: &World) -> Option<AuditChainBreak> {
    world.gate.store().verify_audit().await.unwrap().broken
}

#[tokio::test]
async fn the_audit_tells_who_decided_what_on_what_they_saw_and_what_ran() {
    let world = with_a_history().await;
    let report = world.gate.store().verify_audit().await.unwrap();
    assert_eq!((report.rows, report.broken), (8, None));
    let rows = world.gate.store().audit_rows(None, None, 100).await.unwrap();
    let acts: Vec<AuditAction> =
        rows.iter().map(|it| serde_json::from_str(&it.body).unwrap()).collect();
    let told = acts.iter().map(|act| match act {
        AuditAction::Call(act) => format!(
            "{} {} by {} {}",
            act.tool_name,
            act.status,
            act.who.as_deref().unwrap_or("nobody"),
            act.how
        ),
        AuditAction::Rules { who, kept, .. } => format!("rules by {who}: {}", kept.len()),
        AuditAction::Settings { who, .. } => format!("settings by {who}"),
        AuditAction::ResultRefused { reason, .. } => format!("refused: {reason}"),
        AuditAction::Masked { calls } => format!("{} calls masked", calls.len()),
        AuditAction::Undone { who, files, .. } => format!("{files} files put back by {who}"),
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "Bash AWAITING_APPROVAL by nobody policy",
            "Bash APPROVED by ana person",
            "Bash EXECUTING by ana person",
            "Bash COMPLETED by ana person",
            "Write AWAITING_APPROVAL by nobody policy",
            "Write REJECTED by bo person",
            "Edit AWAITING_APPROVAL by nobody policy",
            "rules by ana: 1",
        ]
    );
    let AuditAction::Call(decided) = &acts[1] else { panic!("{:?}", acts[1]) };
    let AuditAction::Call(ran) = &acts[3] else { panic!("{:?}", acts[3]) };
    let stands = world.gate.store().approval(decided.approval_id).await.unwrap().unwrap();
    assert_eq!(decided.saw, *stands.digest());
    assert_eq!(ran.input, decided.input, "what ran is what was decided on");
    assert!(ran.result.is_some());
    assert!(!rows.iter().any(|row| row.body.contains("hunter2")), "no secret is in it");
}

#[tokio::test]
async fn any_row_that_is_changed_removed_or_moved_is_found() {
    let damages = [
        ("UPDATE audit SET body = replace(body, 'ana', 'eve') WHERE seq = 2", 2),
        ("UPDATE audit SET at = '2001-01-01T00:00:00.000Z' WHERE seq = 3", 3),
        ("DELETE FROM audit WHERE seq = 4", 4),
        ("DELETE FROM audit WHERE seq = 1", 1),
        ("DELETE FROM audit WHERE seq = 8", 8),
        ("DELETE FROM audit WHERE seq > 5", 6),
        ("DELETE FROM audit", 1),
        (
            "UPDATE audit SET seq = 100 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 6;
          UPDATE audit SET seq = 6 WHERE seq = 100",
            5,
        ),
    ];
    for (damage, first) in damages {
        let world = with_a_history().await;
        assert_eq!(broken(&world).await, None);
        world.database.sql(damage);
        let found = broken(&world).await.unwrap_or_else(|| panic!("not found: {damage}"));
        assert_eq!(found.seq, first, "{damage}: {}", found.why);
    }
}

#[tokio::test]
async fn a_call_that_is_not_what_its_chain_tells_is_found() {
    for (damage, word) in [
        ("UPDATE tool_executions SET status = 'APPROVED' WHERE status = 'REJECTED'", "REJECTED"),
        ("UPDATE clear_calls SET request = replace(request, 'hunter2', 'hunter3')", "input"),
        ("UPDATE tool_executions SET request = replace(request, '\"a\"', '\"b\"')", "input"),
        ("UPDATE tool_executions SET state = replace(state, 'done', 'gone')", "left of"),
        ("UPDATE tool_executions SET digest = 'x' WHERE status = 'COMPLETED'", "bound"),
        ("DELETE FROM tool_executions WHERE status = 'REJECTED'", "gone"),
    ] {
        let world = with_a_history().await;
        world.database.sql(damage);
        let found = broken(&world).await.unwrap_or_else(|| panic!("not found: {damage}"));
        assert!(found.why.contains(word), "{damage}: {}", found.why);
    }
}
