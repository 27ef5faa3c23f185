//! Rules at the gate: from files that change under it, from the project, from a conversation.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::rule::RuleSource;
use countersign_core::{
    ApprovedBy, CallPlan, Decision, Digest, Effect, EffectTarget, Execution, InvalidCall,
    PathClass, PermissionMode, Planner, Preview, Rule, RuleId, SessionId, Supervision, ToolCall,
    VerdictAction, WorkspaceSide,
};
use countersign_gate::{
    Admission, ApprovalWithGrant, CallTerms, Clock, DecideError, DecisionTimeouts, Gate,
    GateSettings, GrantScope, LocalSubmission, ManualClock, PastDecision, RuleDraft, Rulebook,
    RulebookFiles, RulesError, StoredRule, StoredRuleOrigin, SubmitOptions, TrustError,
    VerdictTally, new_id,
};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use crate::database::Database;
use crate::world::wait_for_admission;

use VerdictAction::{Allow, Ask, Deny};

#[tokio::test]
async fn a_denial_that_is_written_down_holds_at_once() {
    let world = World::new().await;
    assert_eq!(world.says("src/a.rs").await, Ask);
    world.user("[permissions]\ndeny = ['Edit(/src/**)']");
    assert_eq!(world.says("src/a.rs").await, Deny);
    let elsewhere = ToolCall { project: "q".into(), ..call("s", "src/a.rs") };
    let elsewhere = ToolCall { cwd: "/".into(), ..elsewhere };
    let denied = world
        .gate
        .submit_local(elsewhere, &CallTerms::new(Arc::new(Writes), attended()))
        .await
        .unwrap();
    assert!(matches!(denied, LocalSubmission::Refused(_)), "in projects without a folder too");
    // The same length, in the same moment: no time of the disk would tell.
    world.user("[permissions]\ndeny = ['Edit(/srv/**)']");
    assert_eq!(world.says("src/a.rs").await, Ask);
    world.workspace("[permissions]\ndeny = ['Edit(/src/**)']");
    assert_eq!(world.says("src/a.rs").await, Deny);
    std::fs::remove_file(world.path("ws/countersign.toml")).unwrap();
    assert_eq!(world.says("src/a.rs").await, Ask);
}

#[tokio::test]
async fn a_broken_file_asks_for_everything_and_keeps_its_denials_until_it_is_mended() {
    let world = World::new().await;
    let rules = "[permissions]\nallow = ['Edit(/src/**)']\ndeny = ['Edit(/keys/**)']";
    world.user(rules);
    assert_eq!(world.says("src/a.rs").await, Allow);
    assert_eq!(world.says("keys/a").await, Deny);
    world.user("[permissions\nallow = [");
    assert_eq!(world.says("src/a.rs").await, Ask);
    assert_eq!(world.says("keys/a").await, Deny);
    let broken = world.gate.rulebook().files(&"p".into());
    assert!(broken[0].broken.as_ref().unwrap().contains("not valid TOML"), "{broken:?}");
    world.user(rules);
    assert_eq!(world.says("src/a.rs").await, Allow);
}

#[tokio::test]
async fn what_cannot_be_read_asks_whatever_it_is() {
    let world = World::new().await;
    let file = world.path("config.toml");
    world.user("[permissions]\nallow = ['Edit(/src/**)']");
    assert_eq!(world.says("src/a.rs").await, Allow);
    for (what, make) in [
        ("a folder", Box::new(|| std::fs::create_dir(&file).unwrap()) as Box<dyn Fn()>),
        ("no text", Box::new(|| std::fs::write(&file, [0xff, 0xfe]).unwrap())),
        ("too long", Box::new(|| std::fs::write(&file, vec![b'#'; 1024 * 1024 + 1]).unwrap())),
        ("a link to nowhere", Box::new(|| symlink("/not/there", &file).unwrap())),
        ("a device", Box::new(|| symlink("/dev/zero", &file).unwrap())),
    ] {
        std::fs::remove_file(&file).or_else(|_| std::fs::remove_dir(&file)).unwrap();
        make();
        assert_eq!(world.says("src/a.rs").await, Ask, "{what}");
    }
}

#[tokio::test]
async fn a_workspace_only_tightens_until_exactly_this_content_is_trusted() {
    let world = World::new().await;
    let rules = "[permissions]\nallow = ['Edit(/src/**)']\ndeny = ['Edit(/keys/**)']";
    world.workspace(rules);
    assert_eq!((world.says("src/a.rs").await, world.says("keys/a").await), (Ask, Deny));
    let book = world.gate.rulebook();
    let file = || book.files(&"p".into()).pop().unwrap();
    let digest = file().digest.unwrap();
    assert!(!file().trusted && file().allows);
    let other = Digest::for_bytes(b"other");
    assert!(matches!(book.trust(&"p".into(), &other), Err(TrustError::Changed)));
    book.trust(&"p".into(), &digest).unwrap();
    assert!(file().trusted);
    assert_eq!((world.says("src/a.rs").await, world.says("keys/a").await), (Allow, Deny));
    let mode = world.path("trust.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "for its owner alone");
    world.workspace(&rules.replace("/src/", "/sr*/"));
    assert_eq!(world.says("src/a.rs").await, Ask, "other content");
    assert!(matches!(book.trust(&"p".into(), &digest), Err(TrustError::Changed)));
    world.workspace(rules);
    assert_eq!(world.says("src/a.rs").await, Allow, "the content that was trusted");
    std::fs::write(world.path("trust.json"), "{").unwrap();
    assert_eq!(world.says("src/a.rs").await, Ask, "a broken file trusts nothing");
}

#[tokio::test]
async fn what_is_imported_counts_as_the_workspaces_and_stays_in_it() {
    let world = World::new().await;
    let import = |file: &str| world.workspace(&format!("[permissions]\nimport = ['{file}']"));
    std::fs::create_dir(world.path("ws/.claude")).unwrap();
    let settings = world.path("ws/.claude/settings.json");
    std::fs::write(&settings, r#"{"permissions": {"deny": ["Edit(/src/**)"]}}"#).unwrap();
    import(".claude/settings.json");
    assert_eq!(world.says("src/a.rs").await, Deny);
    let digest = || world.gate.rulebook().files(&"p".into()).pop().unwrap().digest;
    let before = digest();
    std::fs::write(&settings, r#"{"permissions": {"deny": ["Edit(/srv/**)"]}}"#).unwrap();
    assert_eq!(world.says("src/a.rs").await, Ask);
    assert_ne!(digest(), before, "trust covers what is imported");
    std::fs::write(world.path("out.toml"), "[permissions]\nallow = ['Edit']").unwrap();
    symlink(world.path("out.toml"), world.path("ws/link.toml")).unwrap();
    for bad in ["missing.toml", "../out.toml", "link.toml", ".claude"] {
        import(bad);
        assert_eq!(world.says("src/a.rs").await, Ask, "{bad}");
        let file = world.gate.rulebook().files(&"p".into()).pop().unwrap();
        assert!(file.broken.is_some(), "{bad}");
    }
}

#[tokio::test]
async fn a_projects_rules_hold_for_all_its_conversations() {
    let world = World::new().await;
    world.put(&[(Allow, "Edit(/src/**)"), (Deny, "Edit(/src/gen/**)")]).await;
    assert_eq!(world.says("src/a.rs").await, Allow);
    assert_eq!(world.says("src/gen/a.rs").await, Deny);
    assert_eq!(world.says_in("other", "src/a.rs").await, Allow);
    world.put(&[]).await;
    assert_eq!(world.says("src/a.rs").await, Ask);
}

#[tokio::test]
async fn a_grant_holds_in_its_conversation_until_it_is_revoked() {
    let world = World::new().await;
    let granted = world.grant("s", "Edit(/src/**)", None).await;
    assert_eq!(world.says_in("s", "src/a.rs").await, Allow);
    assert_eq!(world.says_in("other", "src/a.rs").await, Ask);
    world.gate.revoke_rule(&"p".into(), granted, "ana").await.unwrap();
    assert_eq!(world.says_in("s", "src/a.rs").await, Ask);
    let again = world.gate.revoke_rule(&"p".into(), granted, "ana").await;
    assert!(matches!(again, Err(RulesError::Unknown(_))), "{again:?}");
}

#[tokio::test]
async fn a_rule_ends_when_its_time_has_come() {
    let world = World::new().await;
    let in_a_minute = world.clock.now() + Duration::from_mins(1);
    world.grant("s", "Edit(/src/**)", Some(in_a_minute)).await;
    assert_eq!(world.says("src/a.rs").await, Allow);
    world.clock.advance(Duration::from_secs(59));
    assert_eq!(world.says("src/a.rs").await, Allow);
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(world.says("src/a.rs").await, Ask);
}

#[tokio::test]
async fn what_ran_because_of_a_rule_is_counted_with_it() {
    let world = World::new().await;
    world.put(&[(Allow, "Edit(/src/**)"), (Deny, "Edit(/keys/**)")]).await;
    for path in ["src/a.rs", "src/b.rs", "keys/a", "other"] {
        world.says(path).await;
    }
    let uses: Vec<_> = world.kept().await.iter().map(|rule| rule.uses).collect();
    assert_eq!(uses, [2, 0]);
    assert_eq!(world.kept().await[0].last_used_at, Some(world.clock.now()));
}

#[tokio::test]
async fn rules_that_changed_meanwhile_are_not_written_over() {
    let world = World::new().await;
    let version = async || world.gate.rules(&"p".into(), None).await.unwrap().version().clone();
    let read = version().await;
    let put = async |version, rule: &str| {
        world.gate.replace_rules(&"p".into(), version, vec![draft(Allow, rule)], "ana").await
    };
    put(Some(read.clone()), "Edit(/a)").await.unwrap();
    assert!(matches!(put(Some(read), "Edit(/b)").await, Err(RulesError::Changed)));
    let read = version().await;
    world.user("[permissions]\ndeny = ['Edit(/keys/**)']");
    assert!(matches!(put(Some(read), "Edit(/b)").await, Err(RulesError::Changed)), "a file too");
    put(Some(version().await), "Edit(/b)").await.unwrap();
    put(None, "Edit(/c)").await.unwrap();
    assert_eq!(world.kept().await[0].rule, "Edit(/c)");
}

#[tokio::test]
async fn a_rule_that_is_kept_keeps_its_id_its_uses_and_its_origin() {
    let world = World::new().await;
    let origin = StoredRuleOrigin::Approval(new_id());
    let drafts = vec![draft(Allow, "Edit(/src/**)")];
    world.gate.grant(&"p".into(), None, origin, drafts, "ana").await.unwrap();
    world.says("src/a.rs").await;
    let before = world.kept().await.remove(0);
    let changed = RuleDraft { id: Some(before.id), ..draft(Allow, "Edit(/src/*.rs)") };
    let new = draft(Deny, "Edit(/keys/**)");
    let put = world.gate.replace_rules(&"p".into(), None, vec![new, changed], "bo").await;
    put.unwrap();
    let [new, kept] = world.kept().await.try_into().unwrap();
    assert_eq!(kept, StoredRule { rule: "Edit(/src/*.rs)".into(), ..before.clone() });
    assert_eq!((new.created_by.as_str(), new.uses), ("bo", 0));
    world.put(&[]).await;
    let gone = RuleDraft { id: Some(before.id), ..draft(Allow, "Edit(/a)") };
    let put = world.gate.replace_rules(&"p".into(), None, vec![gone], "bo").await;
    assert!(matches!(put, Err(RulesError::Unknown(id)) if id == before.id), "{put:?}");
}

#[tokio::test]
async fn a_rule_that_is_none_is_not_kept() {
    let world = World::new().await;
    for (effect, bad) in [(Allow, "*"), (Deny, "Bash("), (Ask, "")] {
        let drafts = vec![draft(Allow, "Edit(/a)"), draft(effect, bad)];
        let put = world.gate.replace_rules(&"p".into(), None, drafts, "ana").await;
        assert!(matches!(&put, Err(RulesError::Bad { rule, .. }) if rule == bad), "{put:?}");
        assert!(world.kept().await.is_empty(), "nothing was kept");
    }
}

#[tokio::test]
async fn a_request_tells_by_which_rules_it_asks_and_what_always_could_mean() {
    let world = World::new().await;
    for path in ["src/a.rs", "src/b.rs", "docs/a.md"] {
        world.says(path).await;
    }
    let asked = world.ask("src/a.rs").await;
    let version = world.gate.rules(&"p".into(), Some(&"s".into())).await.unwrap();
    assert_eq!(asked.basis().rules.as_ref(), Some(version.version()));
    let found = asked.basis().proposals.iter().map(|it| (&*it.rules[0], it.matched_before));
    let found: Vec<_> = found.collect();
    assert_eq!(found, [("Edit(/src/a.rs)", 1), ("Edit(/src/*.rs)", 2), ("Edit(/src/**)", 2)]);
    assert_eq!(*asked.digest(), asked.binding(), "a decision is bound to them");
    let again = world.ask("src/a.rs").await;
    assert_eq!(again.basis().proposals[0].matched_before, 2, "and the one before");
    world.put(&[(Ask, "Edit(/src/**)")]).await;
    assert!(world.ask("src/a.rs").await.basis().proposals.is_empty(), "no rule would help");
}

#[tokio::test]
async fn a_program_that_decides_by_itself_has_no_rules() {
    let world = World::new().await;
    world.put(&[(Deny, "Edit")]).await;
    let says = async |stance: Supervision| world.submit("s", "src/a.rs", stance.into()).await;
    assert_eq!(says(Supervision::Unattended).await.0, Allow);
    let (asked, request) = says(Supervision::ToolDecides { needs_approval: true }).await;
    assert_eq!((asked, request.unwrap().basis().rules.clone()), (Ask, None));
}

#[tokio::test]
async fn the_mode_is_the_runs_or_else_the_rules() {
    let world = World::new().await;
    world.user("[permissions]\ndefaultMode = 'acceptEdits'");
    assert_eq!(world.says("src/a.rs").await, Allow);
    let terms = SubmitOptions { mode: Some(PermissionMode::Default), ..attended() };
    assert_eq!(world.submit("s", "src/a.rs", terms).await.0, Ask);
}

#[tokio::test]
async fn a_simulation_tells_what_changes_and_where_people_had_decided_otherwise() {
    let world = World::new().await;
    for (path, yes) in [("src/a.rs", true), ("src/b.rs", false), ("docs/a", true), ("x", true)] {
        let asked = world.ask(path).await;
        world.decide(&asked, yes).await;
    }
    let invalid = world
        .gate
        .submit_local(call("s", ""), &CallTerms::new(Arc::new(Writes), attended()))
        .await
        .unwrap();
    assert!(matches!(invalid, LocalSubmission::Refused(_)));
    let rules = [(Allow, "Edit(/src/**)"), (Deny, "Edit(/docs/**)")];
    let rules = rules.map(|(effect, rule)| Rule::parse(effect, rule).unwrap());
    let found = world.gate.simulate(&"p".into(), rules.to_vec(), 500).await.unwrap();
    assert_eq!(found.replayed, 4);
    assert_eq!(found.before, VerdictTally { allow: 0, ask: 4, deny: 0 });
    assert_eq!(found.after, VerdictTally { allow: 2, ask: 1, deny: 1 });
    let changed = found.changed.iter().map(|it| {
        (it.summary.as_str(), it.after, it.decided.unwrap(), it.contradicts, it.rules.join(" "))
    });
    let (yes, no) = (PastDecision::Approved, PastDecision::Rejected);
    let (src, docs) = ("Edit(/src/**)".to_owned(), "Edit(/docs/**)".to_owned());
    assert_eq!(
        changed.collect::<Vec<_>>(),
        [
            ("Write `docs/a`", Deny, yes, true, docs),
            ("Write `src/b.rs`", Allow, no, true, src.clone()),
            ("Write `src/a.rs`", Allow, yes, false, src),
        ]
    );
    let newest = world.gate.simulate(&"p".into(), rules.to_vec(), 2).await.unwrap();
    assert_eq!(newest.replayed, 1, "of the newest two one could not be planned");
}

#[tokio::test]
async fn always_keeps_the_rule_that_was_picked_where_it_was_said() {
    let world = World::new().await;
    let asked = world.ask("src/a.rs").await;
    let picked = asked.basis().proposals.last().unwrap().clone();
    let always = |scope, rules| ApprovalWithGrant {
        scope,
        rules,
        by: ApprovedBy::Person("ana".into()),
        seen: None,
    };
    let wide = Some(vec!["Edit(/**)".to_owned()]);
    let refused =
        world.gate.approve_with_grant(asked.id(), always(GrantScope::Project, wide)).await;
    assert!(matches!(refused, Err(DecideError::NotAlways(_))), "{refused:?}");
    assert_eq!(world.says("src/b.rs").await, Ask);
    let rules = Some(picked.rules.clone());
    world.gate.approve_with_grant(asked.id(), always(GrantScope::Session, rules)).await.unwrap();
    assert_eq!(world.says("src/b.rs").await, Allow);
    assert_eq!(world.says_in("another", "src/b.rs").await, Ask);
    let kept = world.kept_in("s").await;
    assert_eq!(kept.iter().map(|rule| rule.rule.clone()).collect::<Vec<_>>(), picked.rules);
    assert!(kept.iter().all(|rule| rule.origin == StoredRuleOrigin::Approval(asked.id())));
    // Nobody remembers for ever what they once allowed.
    world.clock.advance(Duration::from_hours(24));
    assert_eq!(world.says("src/b.rs").await, Ask);
}

#[tokio::test]
async fn an_always_that_loses_leaves_no_rule_behind() {
    for _ in 0..20 {
        let world = World::new().await;
        let asked = world.ask("src/a.rs").await;
        let by = ApprovedBy::Person("ana".into());
        let always = ApprovalWithGrant {
            scope: GrantScope::Project,
            rules: None,
            by: by.clone(),
            seen: None,
        };
        let no = Decision::Reject { by, feedback: None };
        let (yes, no) = tokio::join!(
            world.gate.approve_with_grant(asked.id(), always),
            world.gate.decide(asked.id(), no, None)
        );
        assert_ne!(yes.is_ok(), no.is_ok());
        assert_eq!(world.kept().await.len(), usize::from(yes.is_ok()));
    }
}

#[tokio::test]
async fn what_is_denied_between_the_yes_and_the_start_does_not_run() {
    let world = World::new().await;
    let asked = world.ask("a").await;
    world.decide(&asked, true).await;
    world.put(&[(Deny, "Edit(/a)")]).await;
    let Admission::Refused(refused) = wait_for_admission(&world.gate, asked.id()).await else {
        panic!("it runs")
    };
    let told = refused.to_tool_output().unwrap().content;
    assert!(told.starts_with("Denied: ") && told.contains("Edit(/a)"), "{told}");
    // What only asks was answered already.
    let asked = world.ask("b").await;
    world.decide(&asked, true).await;
    world.put(&[(Ask, "Edit(/b)")]).await;
    let passage = wait_for_admission(&world.gate, asked.id()).await;
    assert!(matches!(passage, Admission::Ran(_)), "{passage:?}");
}

#[tokio::test]
async fn a_check_says_what_would_be_said_and_leaves_no_trace() {
    let world = World::new().await;
    let check = async |path: &str, own| {
        let call = ToolCall { cwd: world.path("ws"), ..call("s", path) };
        world.gate.check(call, Arc::new(Writes), attended(), own).await.unwrap()
    };
    assert_eq!(check("src/a.rs", None).await.verdict.outcome, Ask);
    let own = vec![Rule::parse(Allow, "Edit(/src/**)").unwrap()];
    let checked = check("src/a.rs", Some(own)).await;
    assert_eq!(checked.verdict.rules()[0].source, RuleSource::Project);
    assert_eq!(checked.verdict.outcome, Allow);
    assert_eq!(check("", None).await.verdict.outcome, Deny);
    let replayed = world.gate.simulate(&"p".into(), vec![], 10).await.unwrap().replayed;
    assert_eq!((replayed, world.kept().await.len()), (0, 0));
}

#[tokio::test]
async fn kept_rules_that_are_not_understood_never_loosen_anything() {
    let world = World::new().await;
    world.put(&[(Allow, "Edit(/src/**)"), (Deny, "Edit(/keys/**)")]).await;
    assert_eq!((world.says("src/a.rs").await, world.says("keys/a").await), (Allow, Deny));
    world.sql("UPDATE rules SET rule = 'Edit(' WHERE effect = 'allow'");
    assert_eq!((world.says("src/a.rs").await, world.says("keys/a").await), (Ask, Deny));
    world.sql("UPDATE rules SET rule = 'Edit(/src/**)' WHERE effect = 'allow'");
    world.sql("UPDATE rules SET rule = 'Edit(' WHERE effect = 'deny'");
    assert_eq!((world.says("src/a.rs").await, world.says("keys/a").await), (Ask, Ask));
}

#[tokio::test]
async fn rules_that_cannot_be_loaded_ask_for_everything_and_keep_the_denials_that_were_known() {
    let world = World::new().await;
    world.put(&[(Allow, "Edit(/src/**)"), (Deny, "Edit(/keys/**)")]).await;
    assert_eq!((world.says("src/a.rs").await, world.says("keys/a").await), (Allow, Deny));
    world.sql("UPDATE rules SET approval_id = 'of nobody'");
    assert_eq!((world.says("src/a.rs").await, world.says("keys/a").await), (Ask, Deny));
    assert!(world.gate.rules(&"p".into(), None).await.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// What is put is what is listed, in the same order.
    #[test]
    fn replace_then_list_is_identity(drafts in prop::collection::vec(any_draft(), 0..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let clock = Arc::new(ManualClock::starting_at(Timestamp::UNIX_EPOCH));
            let book = Arc::new(Rulebook::none());
            let gate = Gate::in_memory(clock, DecisionTimeouts::default(), book).unwrap();
            for _ in 0..2 {
                gate.replace_rules(&"p".into(), None, drafts.clone(), "ana").await.unwrap();
                let listed = gate.store().rules(&"p".into()).await.unwrap();
                let listed = listed.into_iter().map(|it| {
                    let StoredRule { effect, rule, why, expires_at, .. } = it;
                    RuleDraft { id: None, effect, rule, why, expires_at }
                });
                assert_eq!(listed.collect::<Vec<_>>(), drafts);
            }
        });
    }
}

fn any_draft() -> impl Strategy<Value = RuleDraft> {
    let effect = prop::sample::select(vec![Allow, Ask, Deny]);
    let why = prop::option::of("\\PC{0,20}");
    let expires = prop::option::of(0_i64..4_000_000_000_000);
    (effect, "Edit\\(/[a-z]{1,8}/\\*\\*\\)", why, expires).prop_map(|(effect, rule, why, at)| {
        let expires_at = at.map(|at| Timestamp::from_millisecond(at).unwrap());
        RuleDraft { id: None, effect, rule, why, expires_at }
    })
}

struct World {
    gate: Gate,
    clock: Arc<ManualClock>,
    database: Database,
}

impl World {
    async fn new() -> Self {
        let database = Database::new();
        std::fs::create_dir(database.path("ws")).unwrap();
        let book = Arc::new(Rulebook::new(RulebookFiles {
            user: Some(database.path("config.toml")),
            trust: Some(database.path("trust.json")),
            home: None,
        }));
        book.add_project("p".into(), database.path("ws"));
        let clock = Arc::new(ManualClock::starting_at(Timestamp::UNIX_EPOCH));
        let settings = GateSettings::for_database(database.url.clone());
        let gate = Gate::open(settings, clock.clone(), book).await.unwrap();
        Self { gate, clock, database }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.database.path(name)
    }

    fn user(&self, text: &str) {
        std::fs::write(self.path("config.toml"), text).unwrap();
    }

    fn workspace(&self, text: &str) {
        std::fs::write(self.path("ws/countersign.toml"), text).unwrap();
    }

    fn sql(&self, sql: &str) {
        self.database.sql(sql);
    }

    async fn put(&self, rules: &[(VerdictAction, &str)]) {
        let drafts = rules.iter().map(|(effect, rule)| draft(*effect, rule)).collect();
        self.gate.replace_rules(&"p".into(), None, drafts, "ana").await.unwrap();
    }

    async fn grant(&self, session: &str, rule: &str, expires_at: Option<Timestamp>) -> RuleId {
        let drafts = vec![RuleDraft { expires_at, ..draft(Allow, rule) }];
        let session = SessionId::from(session);
        let origin = StoredRuleOrigin::Approval(new_id());
        let granted = self.gate.grant(&"p".into(), Some(&session), origin, drafts, "ana").await;
        granted.unwrap().remove(0).id
    }

    async fn kept(&self) -> Vec<StoredRule> {
        self.gate.store().rules(&"p".into()).await.unwrap()
    }

    async fn kept_in(&self, session: &str) -> Vec<StoredRule> {
        let rules = self.gate.store().rules(&"p".into()).await.unwrap();
        rules.into_iter().filter(|it| it.session == Some(session.into())).collect()
    }

    async fn says(&self, path: &str) -> VerdictAction {
        self.says_in("s", path).await
    }

    async fn says_in(&self, session: &str, path: &str) -> VerdictAction {
        self.submit(session, path, attended()).await.0
    }

    async fn ask(&self, path: &str) -> Execution {
        self.submit("s", path, attended()).await.1.unwrap()
    }

    async fn submit(
        &self,
        session: &str,
        path: &str,
        terms: SubmitOptions,
    ) -> (VerdictAction, Option<Execution>) {
        let planner = Arc::new(Writes);
        let mut call = call(session, path);
        call.cwd = self.path("ws");
        match self.gate.submit_local(call, &CallTerms::new(planner, terms)).await.unwrap() {
            LocalSubmission::Permitted(_) => (Allow, None),
            LocalSubmission::Waiting(asked) => (Ask, Some(*asked)),
            LocalSubmission::Refused(_) => (Deny, None),
        }
    }

    async fn decide(&self, asked: &Execution, yes: bool) {
        let by = ApprovedBy::Person("ana".into());
        let decision =
            if yes { Decision::Approve { by } } else { Decision::Reject { by, feedback: None } };
        self.gate.decide(asked.id(), decision, None).await.unwrap();
    }
}

fn attended() -> SubmitOptions {
    Supervision::Attended { auto_approve_read: true }.into()
}

fn draft(effect: VerdictAction, rule: &str) -> RuleDraft {
    RuleDraft { id: None, effect, rule: rule.into(), why: None, expires_at: None }
}

fn call(session: &str, path: &str) -> ToolCall {
    ToolCall {
        id: new_id(),
        project: "p".into(),
        session: session.into(),
        run: None,
        tool_use_id: "toolu_1".into(),
        tool_name: "Write".into(),
        input: json!({"file_path": path}),
        cwd: "/ws".into(),
        executor: countersign_core::Executor::Local,
        agent: None,
    }
}

/// Writes a file of the workspace.
struct Writes;

impl Planner for Writes {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let path = call.input.get("file_path").and_then(|path| path.as_str()).unwrap_or_default();
        if path.is_empty() {
            return Err(InvalidCall("`file_path` is missing".into()));
        }
        let place = PathClass { side: WorkspaceSide::Inside, special: None };
        let target = EffectTarget::new(call.cwd.join(path), place);
        Ok(CallPlan::new(vec![Effect::Write(target)], format!("Write `{path}`")))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        Ok(Preview::Generic { input: call.input.clone(), preimages: vec![] })
    }
}
