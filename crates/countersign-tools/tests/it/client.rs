use countersign_core::shell::{self, PartFinding};
use countersign_core::{
    CallPlan, ClientFile, ClientLook, ClientReadCommand, Digest, Effect, EffectTarget, InvalidCall,
    PathClass, Preview, Risk, SensitiveKind, WorkspaceSide, risk,
};
use serde_json::{Value, json};

use crate::world::{World, assert_has};

#[test]
fn files_of_the_project_are_judged_without_looking() {
    let world = World::new();
    check(&world, "read_file", json!({"path": "src/main.rs"}), Risk::Low);
    check(&world, "read_file", json!({"path": ".env"}), Risk::High);
    check(&world, "list_directory", json!({"path": "src/.."}), Risk::Low);
    check(&world, "write_file", json!({"path": "a", "content": "x"}), Risk::Medium);
    check(&world, "write_file", json!({"path": ".git/config", "content": "x"}), Risk::High);
    // A link here says nothing about the other machine.
    world.link("/etc", "door");
    check(&world, "read_file", json!({"path": "door/hosts"}), Risk::Low);
}

#[test]
fn what_lies_outside_is_invalid() {
    let world = World::new();
    for path in ["../x", "/etc/passwd", "a/../../x"] {
        for tool in ["read_file", "list_directory"] {
            let InvalidCall(text) = world.plan(tool, json!({"path": path})).unwrap_err();
            assert_has(&text, "lies outside the project");
        }
    }
    let cwd = json!({"command": "ls", "cwd": ".."});
    assert_has(&world.plan("execute_command", cwd).unwrap_err().0, "lies outside the project");
    assert!(world.plan("write_file", json!({"path": ".", "content": ""})).is_err());
}

#[test]
fn a_command_is_its_words_and_nothing_in_them() {
    let world = World::new();
    let input = json!({"command": "echo", "args": ["a; rm -rf /", "$(x)", "it's"]});
    let plan = world.plan("execute_command", input.clone()).unwrap();
    assert_eq!(plan.commands.len(), 1);
    let words: Vec<_> =
        plan.commands[0].argv.iter().map(|word| word.effective_text().to_owned()).collect();
    assert_eq!(words, ["echo", "a; rm -rf /", "$(x)", "it's"]);
    assert!(matches!(plan.commands[0].finding, PartFinding::Unproven { .. }));
    assert_eq!(risk::assess(&plan.effects), Risk::Medium);
    let Preview::Command(shown) = world.preview("execute_command", input).unwrap() else {
        panic!("no command")
    };
    assert_eq!(shown.command, r"'echo' 'a; rm -rf /' '$(x)' 'it'\''s'");
    assert_eq!((shown.cwd.as_str(), shown.timeout_ms), (".", 60_000), "not the server's folder");
}

#[test]
fn hard_denials_hold_on_every_machine() {
    let world = World::new();
    for input in [
        json!({"command": "rm", "args": ["-rf", "/"]}),
        json!({"command": "bash", "args": ["-c", "rm -rf /"]}),
        json!({"command": "curl", "args": ["http://169.254.169.254/"]}),
    ] {
        let plan = world.plan("execute_command", input.clone()).unwrap();
        let forbidden = plan.effects.iter().any(|it| matches!(it, Effect::Forbidden { .. }));
        assert!(forbidden, "{input}");
    }
}

#[test]
fn limits_are_said_clearly() {
    let world = World::new();
    let fails = |tool, input, says| assert_has(&world.plan(tool, input).unwrap_err().0, says);
    fails("execute_command", json!({"command": " "}), "`command` is empty");
    fails("execute_command", json!({"command": "ls "}), "blanks at an end");
    fails("execute_command", json!({"command": "ls\nrm"}), "control character");
    fails("execute_command", json!({"command": "ls", "args": ["a\0"]}), "`args[0]` holds a NUL");
    fails("execute_command", json!({"command": "ls", "args": vec!["a"; 1025]}), "limit is 1024");
    let long = json!({"command": "ls", "args": ["x".repeat(33_000)]});
    fails("execute_command", long, "the limit is 32768");
    fails("execute_command", json!({"command": "ls", "timeout": 4000}), "at most 3600 seconds");
    fails("read_file", json!({"path": "x".repeat(4097)}), "the limit is 4096");
    let large = json!({"path": "a", "content": "x".repeat(11 * 1024 * 1024)});
    fails("write_file", large, "`content` has 11.5 MB, the limit is 10.4 MB");
}

#[test]
fn what_a_backslash_leads_out_of_the_project_is_invalid_for_all_four_tools() {
    let world = World::new();
    for path in ["..\\outside.txt", "C:\\x", "\\\\host\\share", "a/..\\../x", "\\x"] {
        for (tool, input) in [
            ("read_file", json!({"path": path})),
            ("list_directory", json!({"path": path})),
            ("write_file", json!({"path": path, "content": ""})),
            ("execute_command", json!({"command": "ls", "cwd": path})),
        ] {
            assert_has(&world.plan(tool, input).unwrap_err().0, "lies outside the project");
        }
    }
    check(&world, "read_file", json!({"path": "src\\main.rs"}), Risk::Low);
    check(&world, "read_file", json!({"path": "src\\.env"}), Risk::High);
    let hook = json!({"path": ".git\\hooks\\pre-commit", "content": "x"});
    check(&world, "write_file", hook, Risk::High);
    for args in [json!(["..\\x"]), json!(["C:\\x"]), json!([".env"]), json!(["src\\.env"])] {
        let plan = world.plan("execute_command", json!({"command": "cat", "args": args})).unwrap();
        let worst = plan.effects.iter().map(|effect| risk::factor(effect).1).collect::<Vec<_>>();
        let reads = worst.iter().any(|why| why.contains("outside") || why.contains("secrets"));
        assert!(reads, "{args}: {worst:?}");
    }
}

#[test]
fn a_plain_reader_is_not_above_a_test_run_where_its_program_is_not_known() {
    let world = World::new();
    for (line, risk) in [
        ("ls", Risk::Medium),
        ("pwd", Risk::Medium),
        ("git status", Risk::Medium),
        ("cat a.txt", Risk::Medium),
        ("echo hi", Risk::Medium),
        ("npm test", Risk::Medium),
        ("npm run deploy:production", Risk::High),
        ("make deploy", Risk::High),
        ("npm run drop-database", Risk::High),
        ("cat .env", Risk::High),
        ("./ls", Risk::High),
        ("bash -c ls", Risk::High),
        ("env ls", Risk::High),
        ("command echo", Risk::High),
        ("git push", Risk::High),
    ] {
        let plan = world.plan("execute_command", command(line)).unwrap();
        assert_eq!(risk::assess(&plan.effects), risk, "{line}: {:#?}", plan.effects);
        assert_eq!(plan.canonical, None, "{line}");
        let proven =
            |part: &shell::CommandPart| !matches!(part.finding, PartFinding::Unproven { .. });
        assert!(!plan.commands.iter().any(proven), "{line}: nothing is proven");
    }
}

#[test]
fn what_the_client_says_of_its_machine_makes_a_reader_what_it_is_here() {
    let world = World::new();
    for (line, program, runs) in [
        ("ls -la", "/usr/bin/ls", json!({"command": "/usr/bin/ls", "args": ["-la"]})),
        ("pwd", "/bin/pwd", json!({"command": "/bin/pwd", "args": []})),
        ("cat a.txt", "/usr/bin/cat", json!({"command": "/usr/bin/cat", "args": ["a.txt"]})),
        ("echo hi", "/usr/bin/echo", json!({"command": "/usr/bin/echo", "args": ["hi"]})),
    ] {
        let plan = told(&world, line, program, Vec::new());
        assert_eq!(risk::assess(&plan.effects), Risk::Low, "{line}: {:#?}", plan.effects);
        assert_eq!(plan.commands[0].finding, PartFinding::ReadOnly, "{line}");
        let input = command(line);
        let canonical = plan.canonical.unwrap();
        assert_eq!(*canonical.apply_argv_to_input(&input), runs, "{line}");
    }
    let git = told(&world, "git status", "/usr/bin/git", Vec::new());
    assert_eq!(risk::assess(&git.effects), Risk::Low, "{:#?}", git.effects);
    let (program, words) = git.canonical.unwrap().program_and_words().unwrap();
    assert_eq!(
        (program.as_str(), words.last().map(String::as_str)),
        ("/usr/bin/git", Some("status"))
    );
}

#[test]
fn what_the_client_says_lowers_nothing_else() {
    let world = World::new();
    for (line, program, risk) in [
        ("ls", "/tmp/ls", Risk::Medium),
        ("ls", "/usr/bin/../../tmp/ls", Risk::Medium),
        ("ls", "/usr/bin/evil", Risk::Medium),
        ("cat .env", "/usr/bin/cat", Risk::High),
        ("cat ../x", "/usr/bin/cat", Risk::Medium),
        ("rm -rf src", "/usr/bin/rm", Risk::High),
        ("curl example.org", "/usr/bin/curl", Risk::High),
        ("npm run deploy", "/usr/bin/npm", Risk::High),
        ("bash -c ls", "/usr/bin/bash", Risk::High),
    ] {
        let plan = told(&world, line, program, Vec::new());
        assert_eq!(risk::assess(&plan.effects), risk, "{line} {program}: {:#?}", plan.effects);
    }
    let denial = told(&world, "rm -rf /", "/usr/bin/rm", Vec::new());
    assert!(denial.effects.iter().any(|it| matches!(it, Effect::Forbidden { .. })));
    // Where its links lead, only the client knows.
    let secret = PathClass { side: WorkspaceSide::Outside, special: Some(SensitiveKind::Secret) };
    let led = vec![Effect::Read(EffectTarget::new("/home/me/.ssh/id", secret))];
    let plan = told(&world, "cat notes", "/usr/bin/cat", led);
    assert_eq!(risk::assess(&plan.effects), Risk::High);
}

#[test]
fn a_change_is_shown_against_the_file_that_the_client_shows_with_its_paths() {
    let world = World::new();
    let input = json!({"path": "src/a.txt", "content": "one\nthree\n"});
    let file = |digest: Option<&str>, content: Option<&str>| ClientFile {
        path: "/home/me/shop/src/a.txt".to_owned(),
        digest: digest.map(|it| Digest::from(it.to_owned())),
        content: content.map(str::to_owned),
    };
    let shown = |file: ClientFile| {
        let look = ClientLook { file: Some(file), ..look() };
        let planner = world.planner("write_file").with_client_look(&look).unwrap();
        let call = world.call("write_file", input.clone());
        (planner.plan(&call).unwrap(), planner.preview(&call).unwrap())
    };
    let (plan, preview) = shown(file(Some("d1"), Some("one\ntwo\n")));
    assert_eq!(risk::factors(&plan.effects)[0].1, "changes `/home/me/shop/src/a.txt`");
    let Preview::Diff(diff) = preview else { panic!("no diff") };
    let lines: Vec<_> = diff.diff.lines.iter().skip(3).map(String::as_str).collect();
    assert_eq!(lines, [" one", "-two", "+three"]);
    assert_eq!(diff.preimage.path.to_str(), Some("/home/me/shop/src/a.txt"));
    assert_eq!(diff.preimage.digest.as_ref().map(Digest::as_str), Some("d1"));
    let (_, new) = shown(file(None, None));
    assert!(matches!(&new, Preview::Diff(diff) if diff.is_new_file));
    let (_, binary) = shown(file(Some("d2"), None));
    assert!(matches!(&binary, Preview::Generic { preimages, .. } if preimages.len() == 1));
    let refusal = ClientLook { refusal: Some("a link leads out".to_owned()), ..look() };
    let planner = world.planner("write_file").with_client_look(&refusal).unwrap();
    let InvalidCall(why) = planner.plan(&world.call("write_file", input)).unwrap_err();
    assert_eq!(why, "the client would refuse this: a link leads out");
}

fn command(line: &str) -> Value {
    let mut words = line.split(' ');
    let command = words.next().unwrap();
    json!({"command": command, "args": words.collect::<Vec<_>>()})
}

fn look() -> ClientLook {
    let root = "/home/me/shop".to_owned();
    ClientLook { root, file: None, command: None, refusal: None }
}

fn told(world: &World, line: &str, program: &str, effects: Vec<Effect>) -> CallPlan {
    let said = Some(ClientReadCommand { program: program.to_owned(), effects });
    let look = ClientLook { command: said, ..look() };
    let planner = world.planner("execute_command").with_client_look(&look).unwrap();
    planner.plan(&world.call("execute_command", command(line))).unwrap()
}

#[track_caller]
fn check(world: &World, tool: &str, input: Value, risk: Risk) {
    let plan = world.plan(tool, input.clone()).unwrap();
    assert_eq!(risk::assess(&plan.effects), risk, "{tool} {input}");
    assert!(world.preview(tool, input).is_ok());
}
