use countersign_seal::CommittedWrite;
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::{RehearsalState, VerdictAction, VerdictReason};

#[test]
fn late_consent_is_no_consent() {
    let at = |decided| awaiting(100).settle(approve(), second(decided)).unwrap().status();
    assert_eq!(at(99), ExecutionStatus::Approved);
    assert_eq!(at(100), ExecutionStatus::Timeout);
    assert_eq!(at(101), ExecutionStatus::Timeout);
}

#[test]
fn a_request_expires_at_its_deadline_and_not_before() {
    assert!(awaiting(100).expire(second(99)).is_err());
    assert_eq!(awaiting(100).expire(second(100)).unwrap().status(), ExecutionStatus::Timeout);
}

#[test]
fn only_an_approved_call_yields_a_permit_and_only_one() {
    assert!(new().start(second(1)).is_err());
    assert!(awaiting(100).start(second(1)).is_err());
    let approved = awaiting(100).settle(approve(), second(1)).unwrap();
    let (executing, permit) = commit(approved.start(second(2)).unwrap());
    assert_eq!(permit.approval(), executing.id);
    assert!(executing.start(second(3)).is_err());
}

#[test]
fn the_digest_binds_call_effects_rules_and_preview() {
    let shown = |input| Some(Preview::Generic { input, preimages: vec![] });
    let one = || Execution { preview: shown(json!({"a": 1})), ..new() };
    let digest = one().binding();
    assert_eq!(digest, one().binding());
    let mut elsewhere = one();
    elsewhere.call.cwd = "/other".into();
    let program = Some("/usr/bin/npm".into());
    let runs = Effect::Exec { argv: vec!["npm".into()], program };
    let rules =
        DecisionContext { rules: Some(Digest::for_bytes(b"v2")), ..DecisionContext::default() };
    for other in [
        Execution { preview: shown(json!({"a": 2})), ..one() },
        Execution { preview: None, ..one() },
        Execution { effects: vec![runs], ..one() },
        Execution { basis: rules, ..one() },
        elsewhere,
    ] {
        assert_ne!(digest, other.binding());
    }
    assert_eq!(one().with_updated_binding().digest, digest);
}

#[test]
fn a_rejection_reads_to_the_model_as_the_founding_document_says() {
    let rejected = |feedback: Option<&str>| {
        let decision =
            Decision::Reject { by: ApprovedBy::Callback, feedback: feedback.map(str::to_owned) };
        awaiting(100).settle(decision, second(1)).unwrap().to_tool_output().unwrap()
    };
    assert_eq!(rejected(Some("use X")), ToolOutput::error("User rejected: use X"));
    assert_eq!(rejected(None), ToolOutput::error("User rejected"));
    let expired = awaiting(100).expire(second(100)).unwrap();
    assert_eq!(expired.to_tool_output().unwrap(), ToolOutput::error("Approval timed out"));
    assert_eq!(awaiting(100).to_tool_output(), None);
}

#[test]
fn what_a_person_says_with_a_yes_stays_with_the_call_and_the_model_does_not_hear_it() {
    let by = ApprovedBy::person("ana", Some("as agreed".into()));
    assert_eq!(
        (by.to_string().as_str(), ApprovedBy::person("ana", None)),
        ("ana", ApprovedBy::Person("ana".into()))
    );
    let approved = awaiting(100).settle(Decision::Approve { by }, second(1)).unwrap();
    let (started, _permit) = commit(approved.start(second(2)).unwrap());
    let done = started.complete(ToolOutput::ok("done"), second(3)).unwrap();
    let kept: ExecutionState = serde_json::from_value(json!(done.state)).unwrap();
    assert_eq!(
        (kept.decision_comment(), done.to_tool_output().unwrap().content.as_str()),
        (Some("as agreed"), "done")
    );
}

#[test]
fn every_status_has_a_name_of_its_own() {
    for status in ExecutionStatus::ALL {
        assert_eq!(status.as_str().parse(), Ok(status));
    }
    assert!("SETTLED".parse::<ExecutionStatus>().is_err());
}

#[derive(Clone, Debug)]
enum Step {
    Ask,
    Allow,
    Refuse,
    Settle(bool),
    Expire,
    Cancel,
    Start,
    Complete,
    Fail,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Ask),
        Just(Step::Allow),
        Just(Step::Refuse),
        any::<bool>().prop_map(Step::Settle),
        Just(Step::Expire),
        Just(Step::Cancel),
        Just(Step::Start),
        Just(Step::Complete),
        Just(Step::Fail),
    ]
}

proptest! {
    /// Whatever is tried in whatever order: a terminal state stays, at most one permit is handed
    /// out, and only after an approval that stood.
    #[test]
    fn no_order_of_steps_breaks_the_rules(steps in prop::collection::vec((any_step(), 0_i64..5), 0..40)) {
        let (mut approval, mut now, mut permits) = (new(), 0, 0);
        for (step, passed) in steps {
            now += passed;
            let (before, after, permit) = apply(approval, &step, second(now));
            prop_assert!(!before.is_terminal() || before == after.status(), "{step:?} left {before}");
            prop_assert!(!permit || before == ExecutionStatus::Approved);
            permits += usize::from(permit);
            approval = after;
        }
        prop_assert!(permits <= 1);
    }
}

fn apply(approval: Execution, step: &Step, now: Timestamp) -> (ExecutionStatus, Execution, bool) {
    let before = approval.status();
    let failure = ExecutionFailure::new(FailureKind::ToolError, "no");
    let next = match step {
        Step::Ask => draft(approval).map(|draft| draft.ask(second(50))),
        Step::Allow => draft(approval).map(|draft| draft.allow(now)),
        Step::Refuse => draft(approval).map(|draft| draft.refuse(failure, now)),
        Step::Settle(true) => approval.settle(approve(), now),
        Step::Settle(false) => {
            approval.settle(Decision::Reject { by: ApprovedBy::Callback, feedback: None }, now)
        }
        Step::Expire => approval.expire(now),
        Step::Cancel => approval.cancel(now),
        Step::Start => match approval.start(now) {
            Ok(started) => return (before, commit(started).0, true),
            Err(StartRejection(same)) => return (before, *same, false),
        },
        Step::Complete => approval.complete(ToolOutput::ok("done"), now),
        Step::Fail => approval.fail(failure, now),
    };
    (before, next.unwrap_or_else(|StateConflict(same)| *same), false)
}

pub(super) fn approve() -> Decision {
    Decision::Approve { by: ApprovedBy::Person("ana".into()) }
}

pub(super) fn awaiting(deadline: i64) -> Execution {
    ExecutionDraft(new()).ask(second(deadline))
}

/// A call that nobody has asked for, allowed or refused yet.
fn draft(execution: Execution) -> Result<ExecutionDraft, StateConflict> {
    match execution.state {
        ExecutionState::Pending => Ok(ExecutionDraft(execution)),
        _ => Err(StateConflict(Box::new(execution))),
    }
}

/// What the store does with a start.
pub(super) fn commit(started: StartedExecution) -> (Execution, Permit) {
    let written = started.execution().clone();
    (written, Permit::from_committed(CommittedWrite::after_commit(started)))
}

pub(super) fn second(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

pub(super) fn new() -> Execution {
    let call = ToolCall {
        id: Uuid::nil().into(),
        project: "p".into(),
        session: "s".into(),
        run: None,
        tool_use_id: "toolu_1".into(),
        tool_name: "Write".into(),
        input: json!({"file_path": "a"}),
        cwd: "/ws".into(),
        executor: crate::Executor::Local,
        agent: None,
    };
    Execution {
        canonical: None,
        id: Uuid::nil().into(),
        digest: Digest::for_bytes(b""),
        call,
        effects: vec![],
        commands: vec![],
        basis: DecisionContext::default(),
        summary: "Create `a`".into(),
        risk: Risk::Medium,
        verdict: Verdict::from_reasons(vec![VerdictReason::new(VerdictAction::Ask, "asks")]),
        preview: None,
        created_at: second(0),
        state: ExecutionState::Pending,
    }
}

#[test]
fn a_result_without_anything_beside_it_is_written_as_it_always_was() {
    let read = ExecutionState::Completed {
        by: ApprovedBy::Policy,
        approved_at: Timestamp::UNIX_EPOCH,
        since: Timestamp::UNIX_EPOCH,
        at: Timestamp::UNIX_EPOCH,
        is_error: false,
        result: "done".into(),
        attachments: Vec::new(),
        reported: false,
    };
    let written = serde_json::to_value(&read).unwrap();
    assert_eq!(written.get("attachments"), None);
    assert_eq!(serde_json::from_value::<ExecutionState>(written).unwrap(), read);
}

#[test]
fn a_yes_is_bound_to_a_rehearsal_only_where_it_keeps_it_and_only_if_it_was_seen() {
    let command = Preview::Command(crate::CommandPreview {
        canonical: None,
        command: "cargo fmt".into(),
        cwd: "/w".into(),
        description: None,
        timeout_ms: 1,
        warnings: vec![],
        parts: vec![],
        rehearsal: None,
    });
    let asked = Execution { preview: Some(command), ..awaiting(100) }.with_updated_binding();
    let before = asked.digest.clone();
    let running = asked.record_rehearsal(RehearsalState::Running).unwrap();
    assert_eq!(running.digest, before);
    let failed = running.clone().record_rehearsal(rehearsed(Some("it did not end"))).unwrap();
    assert_eq!((&failed.digest, failed.kept_rehearsal()), (&before, None));
    let done = running.record_rehearsal(rehearsed(None)).unwrap();
    assert_ne!(done.digest, before);
    let rehearsal_of = |seen: &Digest| {
        let seen = done.clone().restore_seen_version(seen).unwrap();
        let approved = seen.settle(approve(), second(1)).unwrap();
        commit(approved.start(second(2)).unwrap()).1.rehearsal().cloned()
    };
    assert_eq!(rehearsal_of(&done.digest), Some(Digest::for_bytes(b"all of it")));
    assert_eq!(rehearsal_of(&before), None, "who saw none keeps none");
    assert!(done.clone().restore_seen_version(&Digest::for_bytes(b"something else")).is_err());
    let settled = done.settle(approve(), second(1)).unwrap();
    assert!(settled.record_rehearsal(RehearsalState::Running).is_err());
}

fn rehearsed(runs_again: Option<&str>) -> RehearsalState {
    RehearsalState::Done(Box::new(crate::RehearsalResult {
        end: crate::RehearsalEnd::Exited { code: 0 },
        output: String::new(),
        files: vec![],
        more_files: 0,
        folders: vec![],
        took_ms: 1,
        runs_again: runs_again.map(str::to_owned),
        digest: Digest::for_bytes(b"all of it"),
    }))
}

#[test]
fn the_canonical_form_of_a_command_with_a_secret_is_not_shown() {
    let shown = |command: &str, canonical: &str| {
        let preview = Preview::Command(crate::CommandPreview {
            canonical: Some(canonical.into()),
            command: command.into(),
            cwd: "/w".into(),
            description: None,
            timeout_ms: 1,
            warnings: vec![],
            parts: vec![],
            rehearsal: None,
        });
        let Preview::Command(preview) = preview.mask_secrets() else { panic!("another kind") };
        preview.canonical
    };
    assert_eq!(shown("ls 'a'", "'ls' 'a'").as_deref(), Some("'ls' 'a'"));
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let (command, canonical) =
        (format!("curl -u x:{token} h"), format!("'curl' '-u' 'x:{token}' 'h'"));
    assert_eq!(shown(&command, &canonical), None);
}
