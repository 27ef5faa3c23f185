use proptest::prelude::*;
use serde_json::json;

use super::super::tests::{approve, awaiting, new, second};
use super::*;
use crate::{ExecutionReport, ExecutionStatus};

#[test]
fn what_nobody_comes_for_lapses() {
    for (executor, waits, kind) in
        [(Executor::Client, 300, "no_client"), (Executor::Caller, 3600, "no_result")]
    {
        let approved = || approved(executor);
        assert_eq!(approved().lapses_at(), Some(second(1 + waits)));
        assert!(approved().expire(second(waits)).is_err());
        assert_eq!(kind_of(&approved().expire(second(1 + waits)).unwrap()), kind);
        assert_eq!(kind_of(&approved().lend(lease("t", 9999), second(1 + waits)).unwrap()), kind);
    }
    assert_eq!(approved(Executor::Local).lapses_at(), None);
}

#[test]
fn a_call_is_lent_once_and_yields_no_permit() {
    let lent = lent();
    assert_eq!(lent.status(), ExecutionStatus::Executing);
    assert!(lent.lend(lease("u", 20), second(3)).is_err());
    assert!(approved(Executor::Client).start(second(2)).is_err());
    assert!(approved(Executor::Local).lend(lease("t", 20), second(2)).is_err());
    assert!(awaiting(100).lend(lease("t", 20), second(2)).is_err());
}

#[test]
fn who_does_not_renew_in_time_is_lost() {
    let renewed = lent().renew("t", second(40), second(9)).unwrap();
    assert_eq!(renewed.lapses_at(), Some(second(40)));
    assert_eq!(renewed.clone().renew("t", second(30), second(10)).unwrap(), renewed);
    assert_eq!(kind_of(&lent().renew("t", second(40), second(10)).unwrap()), "client_lost");
    assert!(matches!(lent().renew("u", second(40), second(9)), Err(ReportRejection::Foreign(_))));
    let never = approved(Executor::Client).renew("t", second(40), second(9));
    assert!(matches!(never, Err(ReportRejection::NotStarted(_))));
}

#[test]
fn a_result_is_taken_from_its_holder_in_time() {
    let taken = |token, at| lent().report(&done(), token, second(at));
    assert_eq!(taken(Some("t"), 9).unwrap().status(), ExecutionStatus::Completed);
    assert_eq!(taken(None, 9).unwrap().status(), ExecutionStatus::Completed);
    assert!(matches!(taken(Some("u"), 9), Err(ReportRejection::Foreign(_))));
    assert_eq!(kind_of(&taken(Some("t"), 10).unwrap()), "client_lost");
    let told = taken(Some("t"), 9).unwrap().to_tool_output().unwrap();
    assert_eq!(told.content, "ok");
    let failed =
        lent().report(&ReportedOutcome::Failed("no npm".into()), Some("t"), second(9)).unwrap();
    assert_eq!(kind_of(&failed), "tool_error");
}

#[test]
fn who_handed_a_call_in_may_report_without_a_lease() {
    let report = |executor| approved(executor).report(&done(), None, second(5));
    assert_eq!(report(Executor::Caller).unwrap().status(), ExecutionStatus::Completed);
    assert!(matches!(report(Executor::Client), Err(ReportRejection::NotStarted(_))));
    assert!(matches!(report(Executor::Local), Err(ReportRejection::NotElsewhere(_))));
    assert!(matches!(report(Executor::ClaudeCli), Err(ReportRejection::NotElsewhere(_))));
}

#[test]
fn the_same_report_is_known_again() {
    let completed = lent().report(&done(), None, second(5)).unwrap();
    assert!(completed.was_reported_as(&done()));
    let other = ExecutionReport::from_json(&json!({"stdout": "other"})).unwrap();
    assert!(!completed.was_reported_as(&ReportedOutcome::Done(other)));
    let no = ReportedOutcome::Failed("no npm".into());
    assert!(!completed.was_reported_as(&no));
    let failed = lent().report(&no, None, second(5)).unwrap();
    assert!(failed.was_reported_as(&no) && !failed.was_reported_as(&done()));
    // What lapsed was not reported, whatever somebody says now.
    assert!(!lent().expire(second(10)).unwrap().was_reported_as(&no));
}

#[test]
fn a_stopped_run_gives_up_what_runs_elsewhere() {
    let given_up = lent().cancel(second(5)).unwrap();
    assert_eq!(kind_of(&given_up), "interrupted");
    assert!(matches!(
        given_up.report(&done(), Some("t"), second(6)),
        Err(ReportRejection::Settled(_))
    ));
}

#[test]
fn where_a_call_runs_is_part_of_what_was_decided() {
    assert_ne!(new().binding(), elsewhere(new(), Executor::Client).binding());
}

proptest! {
    /// Whoever tries what, in whatever order: a call is lent at most once, and ends at most once.
    #[test]
    fn no_order_of_clients_runs_a_call_twice(
        steps in prop::collection::vec((0_u8..6, 0_i64..8, any::<bool>()), 0..40),
    ) {
        let (mut approval, mut now, mut lent, mut ended) = (approved(Executor::Client), 1, 0, 0);
        for (step, passed, own) in steps {
            now += passed;
            let at = second(now);
            let token = if own { "t" } else { "u" };
            let before = approval.clone();
            let next = match step {
                0 => approval.lend(lease("t", now + 9), at).ok(),
                1 => approval.renew(token, second(now + 9), at).ok(),
                2 => approval.report(&done(), Some(token), at).ok(),
                3 => approval.report(&done(), None, at).ok(),
                4 => approval.expire(at).ok(),
                _ => approval.cancel(at).ok(),
            };
            approval = next.unwrap_or_else(|| before.clone());
            lent += usize::from(
                before.status() == ExecutionStatus::Approved && approval.status() == ExecutionStatus::Executing,
            );
            ended += usize::from(!before.status().is_terminal() && approval.status().is_terminal());
            prop_assert!(!before.status().is_terminal() || before == approval);
            prop_assert!(approval.status() != ExecutionStatus::Completed || lent == 1);
        }
        prop_assert!(lent <= 1 && ended <= 1);
    }
}

fn lent() -> Execution {
    approved(Executor::Client).lend(lease("t", 10), second(2)).unwrap()
}

fn approved(executor: Executor) -> Execution {
    elsewhere(awaiting(100), executor).settle(approve(), second(1)).unwrap()
}

fn elsewhere(mut approval: Execution, executor: Executor) -> Execution {
    approval.call.executor = executor;
    approval
}

fn lease(token: &str, until: i64) -> CallLease {
    CallLease { token: token.into(), holder: "c".into(), until: second(until) }
}

fn done() -> ReportedOutcome {
    ReportedOutcome::Done(
        ExecutionReport::from_json(&json!({"success": true, "stdout": "ok"})).unwrap(),
    )
}

#[track_caller]
fn kind_of(approval: &Execution) -> &str {
    match &approval.state {
        ExecutionState::Failed { failure, .. } => failure.kind.as_str(),
        other => panic!("{other:?}"),
    }
}
