//! Rules one by one: what each matches, and what becomes of those that cannot be read.

use std::path::Path;

use super::*;
use crate::VerdictAction::{Allow, Ask, Deny};

#[test]
fn a_file_is_read_rule_by_rule() {
    let text = r#"
        [permissions]
        allow = ["Bash(npm run test:*)", "*", "Edit(/src/**)"]
        deny = ["Read(.env)", "WebFetch(https://x)", "Bash(rm"]
        defaultMode = "plan"
        import = [".claude/settings.json"]

        [[rule]]
        id = "tests"
        effect = "allow"
        tool = "Bash"
        argv = ["npm", "run", ["test", "lint"]]
        rest = "flags-only"
        expires = "2027-01-01"
        why = "unit tests"
        match = ["npm run test", "npm run lint --quiet"]
        not_match = ["npm run test:e2e", "npm run test; id", "npm run test x"]

        [[rule]]
        id = "lies"
        effect = "deny"
        tool = "Bash"
        argv = ["npm", "publish"]
        match = ["npm pack"]

        [[rule]]
        id = "typo"
        effect = "allow"
        tool = "Bash"
        argvv = ["npm"]
    "#;
    let file = RuleFile::parse(text, RuleFileFormat::Toml, &anchors()).unwrap();
    let texts: Vec<_> = file.rules.iter().map(|rule| (rule.outcome, rule.text.as_str())).collect();
    assert_eq!(
        texts,
        [
            (Deny, "Read(.env)"),
            // What could not be read and restricts makes its tool ask.
            (Ask, "WebFetch(https://x)"),
            (Ask, "Bash(rm"),
            (Allow, "Bash(npm run test:*)"),
            (Allow, "Edit(/src/**)"),
            (Allow, "Bash(npm run {test,lint} -*)"),
            (Ask, "lies"),
        ]
    );
    let problems: Vec<_> = file.problems.iter().map(|it| it.rule.as_str()).collect();
    assert_eq!(problems, ["WebFetch(https://x)", "Bash(rm", "*", "lies", "typo"]);
    assert_eq!(file.mode, Some(crate::PermissionMode::Plan));
    assert_eq!(file.imports, [".claude/settings.json"]);
}

#[test]
fn a_file_that_is_no_file_of_rules_says_so() {
    for text in ["[permissions", "permissions = 3", "[permissions]\nallow = 'x'"] {
        assert!(RuleFile::parse(text, RuleFileFormat::Toml, &anchors()).is_err(), "{text}");
    }
    assert!(RuleFile::parse("{", RuleFileFormat::Json, &anchors()).is_err());
    // Other sections are other people's business.
    let file = RuleFile::parse("[server]\nlisten = 'x'", RuleFileFormat::Toml, &anchors()).unwrap();
    assert_eq!(file, RuleFile::default());
}

#[test]
fn paths_are_gitignores_with_anchors() {
    //    rule             path                     allow  deny
    path("/src/**", "/ws/src/a/b.rs", true, true);
    path("/src", "/ws/src/a.rs", true, true);
    path("/src/*.rs", "/ws/src/a/b.rs", false, false);
    path("src/**", "/ws/src/a.rs", true, true);
    path("src/**", "/ws/vendor/src/a.rs", false, true);
    path("*.pem", "/ws/a/b/c.pem", true, true);
    path(".env", "/ws/sub/.env", true, true);
    path(".env", "/ws/sub/.ENV", false, true);
    path(".env", "/elsewhere/.env", false, false);
    path("//etc/**", "/etc/hosts", true, true);
    path("/etc/**", "/etc/hosts", false, false);
    path("~/notes/**", "/home/me/notes/a", true, true);
    path("~/notes/**", "/home/you/notes/a", false, false);
    path("/src/**", "/ws-evil/src/a.rs", false, false);
    path("**/secret.txt", "/ws/a/secret.txt", true, true);
}

#[test]
fn commands_have_borders_of_words() {
    for (rule, command, allows, denies) in [
        ("npm run test:*", "npm run test", true, true),
        ("npm run test:*", "npm run test --watch", true, true),
        ("npm run test:*", "npm run test:unit", false, false),
        ("npm run test *", "npm run test:unit", false, false),
        ("ls*", "lsof -i", true, true),
        ("npm run build", "npm run build -- --evil", false, false),
        ("git:* push", "git push", false, false),
        ("cmd:*", "cmd   x\ty", true, true),
        ("git:*", "gitfoo x", false, false),
        ("npm test", "NODE_ENV=test npm test", true, true),
        ("npm test", "timeout 5 npm test", true, true),
        ("npm test", "sudo npm test", false, true),
        ("npm test", "npm \"test\"", true, true),
        ("npm a b", "npm 'a b'", false, true),
        ("npm:*", "npm $X", false, true),
        ("npm:*", "./npm x", false, true),
        ("python3:*", "python3 -c 'print(1)'", false, true),
        ("python3:*", "python3 -cprint", false, true),
        ("python3:*", "python3 a.py", true, true),
        ("find:*", "find . -delete", false, true),
        ("xargs:*", "xargs rm", false, true),
        ("npm *", "npm exec evil", false, true),
    ] {
        let parts = example::analyse_parts(command, &anchors());
        let pattern = CommandPattern::parse(rule);
        let allowed = !parts.is_empty() && parts.iter().all(|part| pattern.permits(part));
        let denied = parts.iter().any(|part| pattern.restricts(part));
        assert_eq!((allowed, denied), (allows, denies), "{rule} on {command}: {parts:?}");
    }
}

#[test]
fn hosts_are_compared_label_by_label() {
    for (rule, host, expected) in [
        ("example.com", "EXAMPLE.com.", true),
        ("example.com", "a.example.com", false),
        ("*.example.com", "a.b.example.com", true),
        ("*.example.com", "example.com", false),
        ("*.example.com", "evilexample.com", false),
        ("example.*", "example.evil.com", false),
        ("example.*", "example.org", true),
        ("docs-*.rs", "docs-1.rs", true),
        ("example.com", "example.com.evil.example", false),
    ] {
        let pattern = DomainPattern::parse(rule).unwrap();
        assert_eq!(pattern.matches(host), expected, "{rule} on {host}");
    }
}

#[test]
fn an_allowing_rule_names_its_tool() {
    for text in ["*", "mcp__*", "B*", "Bash(* x)", "WebFetch(domain:*)", "Task(model:x)"] {
        assert!(Rule::parse(VerdictAction::Allow, text).is_err(), "{text}");
        assert!(Rule::parse(VerdictAction::Deny, text).is_ok(), "{text}");
    }
    for text in ["Bash", "mcp__files", "mcp__files__*", "mcp__files__read", "Task(reviewer)"] {
        assert!(Rule::parse(VerdictAction::Allow, text).is_ok(), "{text}");
    }
    for (rule, tool, expected) in [
        ("mcp__files", "mcp__files__read", true),
        ("mcp__files", "mcp__files2__read", false),
        ("mcp__files__*", "mcp__files__read", true),
        ("mcp__*", "mcp__x__y", true),
        ("Read", "ReadAll", false),
    ] {
        assert_eq!(names_tool(rule, tool), expected, "{rule} on {tool}");
    }
}

#[track_caller]
fn path(rule: &str, path: &str, allows: bool, denies: bool) {
    let pattern = PathPattern::parse(rule).unwrap();
    let (path, cwd) = (Path::new(path), Path::new("/ws"));
    let found = (pattern.permits(path, cwd, &anchors()), pattern.restricts(path, cwd, &anchors()));
    assert_eq!(found, (allows, denies), "{rule} on {}", path.display());
}

fn anchors() -> PatternAnchors {
    PatternAnchors { root: "/ws".into(), home: Some("/home/me".into()) }
}
