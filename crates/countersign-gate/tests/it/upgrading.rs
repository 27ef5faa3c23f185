//! A record of before: brought up to date, it has no secrets, and its audit still holds.

use countersign_core::{ApprovedBy, Decision, Execution, ProjectId, ToolOutput};
use countersign_gate::{AuditAction, ExecutionFilter, RunEnd};

use crate::database::Database;
use crate::world::World;

/// The id that the project of the record had.
const BEFORE: &str = "5f89066c23b42276";
const NOW: &str = "5f89066c-23b4-8227-8600-000000000000";

const SETTLED: [&str; 3] = [
    "ghp_0123456789abcdefghijOLD1",
    "ghp_0123456789abcdefghijOLD3",
    "ghp_0123456789abcdefghijOLD4",
];
const WAITING: &str = "ghp_0123456789abcdefghijOLD2";

#[tokio::test]
async fn secrets_of_before_are_masked_and_the_audit_tells_so_and_holds() {
    let before = Database::of_before();
    assert!(SETTLED.iter().chain([&WAITING]).all(|secret| before.holds(secret)));
    let mut world = World::on(before).await;
    for _ in 0..2 {
        for secret in SETTLED {
            assert!(!world.database.holds(secret), "{secret} in {}", world.database.dump());
        }
        let report = world.gate.store().verify_audit().await.unwrap();
        assert_eq!((report.rows, report.broken), (11, None));
        let rows = world.gate.store().audit_rows(None, None, 100).await.unwrap();
        let acts = rows.iter().map(|row| serde_json::from_str(&row.body).unwrap());
        let masked: Vec<_> = acts
            .filter_map(
                |act| if let AuditAction::Masked { calls } = act { Some(calls) } else { None },
            )
            .collect();
        assert_eq!(masked.iter().map(Vec::len).collect::<Vec<_>>(), [3], "told once");
        world = world.reopened().await;
    }
    world.database.sql("UPDATE tool_executions SET request = replace(request, 'curl', 'wget')");
    let broken = world.gate.store().verify_audit().await.unwrap().broken.unwrap();
    assert!(broken.why.contains("left of the call"), "{}", broken.why);
}

#[tokio::test]
async fn what_waited_before_waits_whole_and_is_masked_when_it_is_settled() {
    let world = World::on(Database::of_before()).await;
    let project = ProjectId::from(BEFORE);
    let [waiting] =
        world.gate.store().waiting_requests(&project, None, 9).await.unwrap().try_into().unwrap();
    assert_eq!(waiting.call().input["content"], format!("TOKEN={WAITING}\n"));
    assert_eq!(*waiting.digest(), waiting.binding());
    let no = Decision::Reject { by: ApprovedBy::Person("ana".into()), feedback: None };
    world.gate.decide(waiting.id(), no, None).await.unwrap();
    let left = world.gate.take_over_runs(std::slice::from_ref(&project)).await.unwrap();
    assert_eq!(left[0].project, project);
    let journal = world.gate.resume_run(&left[0]).await.unwrap().unwrap();
    let said = world.gate.store().messages(&project, &left[0].session).await.unwrap();
    assert!(said[1].to_string().contains(WAITING), "the run goes on with what was said: {said:?}");
    journal.end(RunEnd::Done, Vec::new(), Vec::new()).await.unwrap();
    assert!(!world.database.holds(WAITING), "{}", world.database.dump());
    assert_eq!(world.gate.store().verify_audit().await.unwrap().broken, None);
}

#[tokio::test]
async fn a_project_of_before_has_a_uuid_and_is_found_by_its_old_id() {
    let world = World::on(Database::of_before()).await;
    let [kept] = world.gate.store().projects().await.unwrap().try_into().unwrap();
    assert_eq!(kept.project.id.as_str(), NOW);
    assert_eq!(kept.project, countersign_gate::Project::from_root("/srv/shop"));
    for id in [BEFORE, NOW].map(ProjectId::from) {
        let found = world.gate.store().project(&id).await.unwrap();
        assert_eq!(found.as_ref(), Some(&kept));
        let calls = calls(&world, &id).await;
        assert_eq!(calls.len(), 4);
        assert!(calls.iter().all(|call| call.call().project.as_str() == NOW));
    }
    let dump = world.database.dump();
    let rows: Vec<_> = dump.lines().filter(|row| row.starts_with("tool_executions: ")).collect();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        assert!(row.contains(NOW) && row.contains("00000000-0000-8000-8000-000000000001"), "{row}");
    }
    // Alone in its column, and without quotes of JSON.
    let alone = [r#"Ok("toolu_old")"#, ",toolu_old,"];
    assert!(rows.iter().any(|row| alone.iter().any(|text| row.contains(text))), "{dump}");
    let calls = calls(&world, &NOW.into()).await;
    let mut answers = calls.iter().filter_map(Execution::to_tool_output);
    assert!(answers.any(|it| it == ToolOutput::error("User rejected: keep ***")));
}

async fn calls(world: &World, project: &ProjectId) -> Vec<Execution> {
    let all = ExecutionFilter::default();
    world.gate.store().executions(project, all, None, 9).await.unwrap()
}
