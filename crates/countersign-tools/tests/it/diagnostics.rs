use countersign_core::{Effect, Risk, risk};
use countersign_tools::{Diagnostics, Environment, Workspace};
use serde_json::{Value, json};

use crate::world::{World, assert_has};

#[tokio::test]
async fn cargo_is_asked_and_its_messages_are_put_in_order() {
    let world = with_checkers(&[("cargo", CARGO)]);
    world.write("Cargo.toml", "");
    world.write("src/a.rs", "");
    world.write("src/b.rs", "");
    assert_eq!(
        world.ok("Diagnostics", json!({})).await,
        "Errors: 1, warnings: 1\nsrc/b.rs:3:5: error[E0308]: mismatched types\n\
         src/a.rs:1:1: warning[unused]: unused import"
    );
    assert_eq!(
        world.ok("Diagnostics", json!({"path": "src/a.rs"})).await,
        "Errors: 0, warnings: 1\nsrc/a.rs:1:1: warning[unused]: unused import"
    );
}

#[tokio::test]
async fn python_is_checked_by_whatever_is_there() {
    let ruff = r#"echo '[{"code":"F401","filename":"'$PWD'/a.py","message":"unused",
        "location":{"row":1,"column":8}}]'; exit 1"#;
    let world = with_checkers(&[("ruff", ruff)]);
    world.write("pyproject.toml", "");
    world.write("a.py", "");
    let said = world.ok("Diagnostics", json!({})).await;
    assert_eq!(said, "Errors: 0, warnings: 1\na.py:1:8: warning[F401]: unused");
    let missing = world.fails("Diagnostics", json!({"checker": "pyright"})).await;
    assert_eq!(missing, "not installed: pyright");
}

#[tokio::test]
async fn a_compiler_of_the_project_comes_before_that_of_the_machine() {
    let world = with_checkers(&[("tsc", "exit 1")]);
    world.write("web/tsconfig.json", "");
    world.write("web/src/a.ts", "");
    let own = "#!/bin/sh\necho \"src/a.ts(2,3): error TS1: $*\"\nexit 2\n";
    world.write("web/node_modules/.bin/tsc", own);
    world.set_mode("web/node_modules/.bin/tsc", 0o755);
    let said = world.ok("Diagnostics", json!({"path": "web/src"})).await;
    assert_eq!(
        said,
        "Errors: 1, warnings: 0\nweb/src/a.ts:2:3: error[TS1]: --noEmit --pretty false"
    );
}

#[tokio::test]
async fn a_checker_that_cannot_work_is_a_failure_and_one_that_finds_nothing_is_none() {
    let world = with_checkers(&[("cargo", "echo 'error: no such manifest' >&2; exit 101")]);
    world.write("Cargo.toml", "");
    let output = world.run("Diagnostics", json!({})).await.unwrap();
    assert!(output.is_error);
    assert_has(&output.content, "failed:\nerror: no such manifest]");
    let world = with_checkers(&[("cargo", "true")]);
    world.write("Cargo.toml", "");
    assert_eq!(world.ok("Diagnostics", json!({})).await, "No errors, no warnings.");
}

#[tokio::test]
async fn where_nothing_fits_it_says_so() {
    let world = with_checkers(&[]);
    assert_has(&world.fails("Diagnostics", json!({})).await, "no checker fits `.`");
    world.write("Cargo.toml", "");
    assert_eq!(world.fails("Diagnostics", json!({})).await, "not installed: cargo");
    world.write("a.py", "");
    assert_has(&world.fails("Diagnostics", json!({"path": "a.py"})).await, "no checker fits");
    // What lies above the workspace is not ours to run.
    std::fs::write(world.outside.parent().unwrap().join("tsconfig.json"), "").unwrap();
    let above = world.fails("Diagnostics", json!({"checker": "tsc"})).await;
    assert_has(&above, "no checker fits");
}

#[test]
fn a_call_is_planned_as_the_command_it_runs() {
    let world = with_checkers(&[("cargo", "true")]);
    world.write("Cargo.toml", "");
    let call = world.call("Diagnostics", json!({}));
    let plan = world.tool("Diagnostics").plan(&call).unwrap();
    assert_eq!(
        plan.summary,
        "Check `.` with `cargo check --quiet --all-targets --message-format=json`"
    );
    assert!(matches!(plan.effects.as_slice(), [Effect::Read(_), Effect::Exec { .. }]), "{plan:?}");
    assert_eq!(plan.commands.len(), 1, "so that rules about commands hold");
    assert_eq!(risk::assess(&plan.effects), Risk::Medium, "as any build");
}

const CARGO: &str = r#"
[ "$*" = "check --quiet --all-targets --message-format=json" ] || exit 9
say() { echo '{"reason":"compiler-message","message":{"level":"'$1'","message":"'"$2"'","code":{"code":"'$3'"},"spans":[{"file_name":"'$4'","line_start":'$5',"column_start":'$6',"is_primary":true}]}}'; }
say warning "unused import" unused src/a.rs 1 1
say warning "unused import" unused src/a.rs 1 1
say error "mismatched types" E0308 src/b.rs 3 5
echo '{"reason":"build-finished","success":false}'
exit 101"#;

/// A world whose checkers are shell scripts beside the workspace, and no others.
fn with_checkers(checkers: &[(&str, &str)]) -> World {
    let world = World::new();
    for (name, script) in checkers {
        let path = world.outside.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    }
    let path = ("PATH".to_owned(), world.outside.display().to_string());
    let workspace = Workspace::new([world.root.clone()]).unwrap();
    let tool = Diagnostics::new(workspace, Environment::from(vec![path]));
    world.with_tool(tool)
}

#[test]
fn an_input_is_read_strictly() {
    let world = with_checkers(&[]);
    let fails = |input: Value, says: &str| {
        let call = world.call("Diagnostics", input);
        assert_has(&world.tool("Diagnostics").plan(&call).unwrap_err().0, says);
    };
    fails(json!({"checker": "make"}), "unknown variant `make`");
    fails(json!({"path": ""}), "the path is empty");
    fails(json!({"paths": []}), "unknown field `paths`");
}
