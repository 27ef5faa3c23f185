//! What programs change, where edits are accepted.

use super::*;

#[test]
fn a_backup_of_what_is_replaced_asks() {
    let world = World::with(&["src/c"]);
    for command in ["mv -b sub/c src", "cp -b sub/c src/c", "mv --backup sub/c src"] {
        assert!(!world.changes(command), "{command}");
    }
    assert!(world.changes("mv sub/c src/d"));
}

#[test]
fn a_folder_arrives_with_everything_in_it() {
    let moved = |files: &[&str], command: &str| World::with(files).changes(command);
    for (file, command) in [
        ("p/.git/hooks/pre-commit", "cp -rT p ."),
        ("p/.git/hooks/pre-commit", "cp -r p/. ."),
        ("gh/workflows/x.yml", "cp -r gh .github"),
        ("gh/workflows/x.yml", "cp -a gh .github/"),
        ("gh/workflows/x.yml", "mv gh .github/"),
        ("gh/workflows/x.yml", "mkdir .github && cp -r gh/workflows .github"),
        ("cfg/git/config", "mv cfg .config"),
        ("w/wrapper/gradle-wrapper.properties", "mv w gradle"),
        (".github/workflows/ci.yml", "mv .github gh"),
        ("keys/.env", "mv keys src"),
        ("keys/.env", "cp -r keys copy"),
        ("sub/l -> ../../outside", "mv sub new"),
        ("sub/l -> ../../outside", "cp -a sub new"),
        ("l -> ../outside", "mv l m"),
        ("l -> ../outside", "cp -r src/. l"),
        ("sub/a.rs -> ../../outside/marker", "cp -r src/. sub"),
        ("sub/a.rs -> ../../outside/marker", "cp src/a.rs sub"),
        ("sub/.git/hooks/x", "chmod -R +x sub"),
        (".vscode -> src", "rm .vscode"),
        (".git/config", "ln .git/config x"),
        (".git/config", "cp -l .git/config x"),
    ] {
        assert!(!moved(&[file], command), "{file}: {command}");
    }
    for (file, command) in [
        ("p/x.rs", "mv p q"),
        ("p/x.rs", "cp -r p q"),
        ("p/x.rs", "cp -r p src"),
        ("p/x.rs", "mv p/x.rs src/"),
        ("a.txt", "cp a.txt b.txt && mv b.txt docs"),
        ("a.txt", "chmod +x a.txt && chmod -R g+w src"),
        ("a.txt", "cp *.txt src"),
    ] {
        assert!(
            moved(&[file], command),
            "{file}: {command}: {:?}",
            World::with(&[file]).analysis(command)
        );
    }
}

#[test]
fn a_folder_is_not_removed_with_all_it_holds_unasked() {
    let world = World::with(&["empty/x", ".github/workflows/ci.yml", "l -> ../outside"]);
    std::fs::remove_file(world.root().join("empty/x")).unwrap();
    let root = world.root().display().to_string();
    for command in [
        "rm -rf src",
        "rm -r ./sub/",
        "rm -rf .",
        "rm -rf l/",
        "rm -rf .github",
        "rm -rf *",
        "rm -rf missing",
    ] {
        assert!(!world.changes(command), "{command}");
    }
    assert!(!world.changes(&format!("rm -rf {root}")));
    for command in
        ["rm -rf empty", "rm README.md", "rm -f docs/*.md", "rmdir empty", "rm -f missing"]
    {
        assert!(world.changes(command), "{command}: {:?}", world.analysis(command));
    }
    let gone = world.analysis("rm -rf .github").effects;
    assert!(gone.iter().any(|it| matches!(it, Effect::DeleteAll(_))), "{gone:?}");
    let ci = world.root().join(".github/workflows/ci.yml");
    assert!(gone.iter().any(|it| matches!(it, Effect::Delete(at) if at.path == ci)), "{gone:?}");
}

#[test]
fn a_link_is_judged_by_where_its_text_leads_from_its_own_folder() {
    let world = World::with(&["a.txt", ".env"]);
    for command in [
        "cd sub && ln -s .. ../l",
        "ln -s ../../outside sub/l",
        "ln -s ../outside/marker l",
        "ln -s src l",
        "ln -s missing l",
        "ln -s .env l",
        "ln .env l",
        "ln -s /etc/hostname l",
        "ln -s a.txt sub/l",
    ] {
        assert!(!world.changes(command), "{command}");
    }
    for command in ["ln -s a.txt l", "ln a.txt l", "ln -s ../a.txt sub/l", "ln -sr a.txt sub/l"] {
        assert!(world.changes(command), "{command}: {:?}", world.analysis(command));
    }
}
