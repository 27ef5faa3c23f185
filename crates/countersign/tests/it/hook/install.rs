//! `hook install` and `hook uninstall`.
#![expect(clippy::disallowed_methods, reason = "the commands are what is tested")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::world::{countersign, stderr};

fn hook(home: &Path, args: &[&str]) -> Output {
    countersign(home).arg("hook").args(args).output().unwrap()
}

fn read(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn it_shows_the_change_writes_it_with_consent_and_takes_exactly_it_back() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".claude/settings.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    let before = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\n                \"matcher\": \"Bash\",\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"log-it\"\n                    }\n                ]\n            }\n        ]\n    },\n    \"zebra\": 1\n}\n";
    std::fs::write(&file, before).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();

    let asked = hook(home.path(), &["install"]);
    assert_eq!(asked.status.code(), Some(1));
    assert!(stderr(&asked).contains("hint: say --yes"), "{}", stderr(&asked));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before, "nobody has agreed");

    let args = ["install", "--yes", "--server", "http://127.0.0.1:1", "--token-file", "t o k"];
    let missing = hook(home.path(), &args);
    assert!(stderr(&missing).contains("could not read the token file"), "{}", stderr(&missing));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    std::fs::write(home.path().join("t o k"), "cs_agent_1").unwrap();
    let done = hook(home.path(), &args);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let shown = stderr(&done);
    assert!(shown.lines().any(|line| line.starts_with('+') && line.contains("PostToolUse")));
    assert!(!shown.lines().any(|line| line.starts_with('-') && line.contains("zebra")), "{shown}");
    let now = read(&file);
    let ours = &now["hooks"]["PreToolUse"][1];
    assert_eq!(ours["matcher"], "*");
    assert_eq!(ours["hooks"][0]["timeout"], 600);
    let command = ours["hooks"][0]["command"].as_str().unwrap();
    let token = home.path().canonicalize().unwrap().join("t o k");
    let words = format!("hook --server http://127.0.0.1:1 --token-file '{}' ||", token.display());
    assert!(command.contains(&words), "{command}");
    for event in ["PermissionRequest", "PostToolUse", "PostToolUseFailure"] {
        assert_eq!(now["hooks"][event].as_array().unwrap().len(), 1, "{event}");
    }
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);

    let twice = hook(home.path(), &args);
    assert!(String::from_utf8_lossy(&twice.stdout).contains("nothing to do"));
    let other = hook(home.path(), &["install", "--yes"]);
    assert_eq!(other.status.code(), Some(0));
    assert_eq!(read(&file)["hooks"]["PreToolUse"].as_array().unwrap().len(), 2, "replaced");

    let back = hook(home.path(), &["uninstall", "--yes"]);
    assert_eq!(back.status.code(), Some(0), "{}", stderr(&back));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}

/// Whatever the file looked like: it comes back byte for byte, or not at all where it was not there.
#[test]
fn what_was_there_before_comes_back_byte_for_byte() {
    for before in ["{\"a\":1,   \"hooks\":{ } }", "{}", "{\n\t\"a\": [1,2]}\r\n\n", ""] {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".claude/settings.json");
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(&file, before).unwrap();
        for _ in 0..2 {
            let done = hook(home.path(), &["install", "--yes"]);
            assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
            assert!(read(&file)["hooks"].is_object());
        }
        let again = hook(home.path(), &["install", "--yes", "--server", "http://127.0.0.1:9"]);
        assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
        let back = hook(home.path(), &["uninstall", "--yes"]);
        assert_eq!(back.status.code(), Some(0), "{}", stderr(&back));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    }
    let home = tempfile::tempdir().unwrap();
    assert_eq!(hook(home.path(), &["install", "--yes", "--local"]).status.code(), Some(0));
    let file = home.path().join(".claude/settings.local.json");
    let backups = home.path().join(".local/share/countersign/hook-backups");
    assert!(file.exists() && backups.read_dir().unwrap().count() == 1);
    let back = hook(home.path(), &["uninstall", "--yes", "--local"]);
    assert!(String::from_utf8_lossy(&back.stdout).contains("as it was before"), "{back:?}");
    assert!(!home.path().join(".claude").exists(), "nor is the folder left that was made for it");
}

#[test]
fn what_others_changed_since_stays_and_only_ours_goes() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".claude/settings.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{\"model\": \"opus\"}").unwrap();
    assert_eq!(hook(home.path(), &["install", "--yes"]).status.code(), Some(0));
    let mut settings = read(&file);
    settings["model"] = "sonnet".into();
    std::fs::write(&file, settings.to_string()).unwrap();
    let back = hook(home.path(), &["uninstall", "--yes"]);
    assert!(String::from_utf8_lossy(&back.stdout).contains("Others have changed"), "{back:?}");
    assert_eq!(read(&file), serde_json::json!({"model": "sonnet"}));
}

#[test]
fn a_shared_file_holds_nothing_of_this_machine() {
    let home = tempfile::tempdir().unwrap();
    let nothing = hook(home.path(), &["uninstall", "--project"]);
    assert_eq!(nothing.status.code(), Some(0));
    assert!(!home.path().join(".claude").exists());
    let unfound = hook(home.path(), &["install", "--project", "--yes"]);
    assert!(stderr(&unfound).contains("is not on the path"), "{}", stderr(&unfound));
    for flag in ["--data", "--token-file"] {
        let refused = hook(home.path(), &["install", "--project", "--yes", flag, "x"]);
        assert!(stderr(&refused).contains("is shared"), "{}", stderr(&refused));
    }
    assert!(!home.path().join(".claude").exists());
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = env!("CARGO_BIN_EXE_countersign");
    std::os::unix::fs::symlink(program, bin.join("countersign")).unwrap();
    let mut command = countersign(home.path());
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let done = command.args(["hook", "install", "--project", "--yes"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    assert!(stderr(&done).contains("the hook answers"), "{}", stderr(&done));
    let file = home.path().join(".claude/settings.json");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"countersign hook || echo"), "{text}");
    assert!(!text.contains(home.path().to_str().unwrap()) && !text.contains("target/"), "{text}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn where_hooks_are_disabled_it_does_not_claim_to_be_installed() {
    let check = |file: &str, args: &[&str], code: i32| {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "{\"disableAllHooks\": true}").unwrap();
        // The home's own folder is no project here.
        let work = home.path().join("work");
        std::fs::create_dir_all(&work).unwrap();
        let mut command = countersign(home.path());
        command.current_dir(&work).args(["hook", "install", "--yes"]).args(args);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{file}: {}", stderr(&output));
        assert!(stderr(&output).contains("calls no hook"), "{}", stderr(&output));
        assert!(!read(&path)["hooks"].is_object(), "{file}");
        let claims = String::from_utf8_lossy(&output.stdout).contains("asks Countersign now");
        assert_eq!(claims, code == 0, "{file}: {output:?}");
    };
    check(".claude/settings.json", &[], 1);
    check("work/.claude/settings.json", &["--local"], 1);
    check("work/.claude/settings.local.json", &["--local"], 1);
    check("work/.claude/settings.json", &[], 0);
}

#[test]
fn what_is_not_settings_is_left_as_it_is() {
    for text in ["{", "// a comment\n{}", "[]", "{\"a\":1,\"a\":2}", "{\"hooks\":[]}"] {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".claude/settings.json");
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        for command in ["install", "uninstall"] {
            let output = hook(home.path(), &[command, "--yes"]);
            assert_eq!(output.status.code(), Some(1), "{command}: {text}");
            assert!(stderr(&output).contains("nothing was changed"), "{}", stderr(&output));
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}

#[test]
fn a_link_to_settings_kept_elsewhere_stays_a_link() {
    let home = tempfile::tempdir().unwrap();
    let kept = home.path().join("dotfiles.json");
    std::fs::write(&kept, "{}").unwrap();
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    let link = home.path().join(".claude/settings.json");
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    assert_eq!(hook(home.path(), &["install", "--yes"]).status.code(), Some(0));
    assert!(link.is_symlink());
    assert!(read(&kept)["hooks"].is_object());
}

/// What Claude Code is told by the shell if our program is not there, or dies.
#[test]
fn a_program_that_is_gone_asks() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(hook(home.path(), &["install", "--yes"]).status.code(), Some(0));
    let settings = read(&home.path().join(".claude/settings.json"));
    let command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    let gone = command.replacen("countersign hook", "countersign-that-is-gone hook", 1);
    let output = std::process::Command::new("sh").args(["-c", &gone]).output().unwrap();
    let said = super::world::decision(&serde_json::from_slice(&output.stdout).unwrap());
    assert_eq!(said, ("ask".to_owned(), "Countersign could not answer".to_owned()));
}
