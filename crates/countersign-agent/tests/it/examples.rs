//! The examples, run as people run them.

use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn the_heartbeat_works_with_nobody_there() {
    let said = run("heartbeat", "");
    assert!(said.contains("tool:  Bash"), "{said}");
    assert!(said.ends_with("open.txt: [ ] water the plants\n\n"), "{said}");
}

#[test]
fn the_conversation_asks_before_it_writes_and_not_before_it_reads() {
    let said = run("conversation", "buy milk\ny\nread\n");
    assert_eq!(
        said,
        "you> model> I'll write that down.\n\
         run Write {\"file_path\":\"note.txt\",\"content\":\"buy milk\"}? [y/n] \
         tool> Wrote 8 characters to note.txt\n\
         model> Done. Say `read` to see it.\n\
         you> tool> 1\tbuy milk\n\
         model> That is what it says.\n\
         you> "
    );
}

#[test]
fn in_the_conversation_a_no_is_a_no_and_so_is_silence() {
    for answer in ["n\n", "\n", ""] {
        let said = run("conversation", &format!("buy milk\n{answer}"));
        assert!(said.contains("tool> User rejected\nmodel> All right, I leave it.\n"), "{said}");
    }
}

/// Runs an example and returns what it said.
fn run(example: &str, input: &str) -> String {
    // Cargo builds the examples with the tests, into a folder beside theirs.
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().unwrap().with_file_name("examples").join(example);
    assert!(
        path.exists(),
        "{} is missing; build it: cargo build -p countersign-agent --examples",
        path.display()
    );
    #[expect(
        clippy::disallowed_methods,
        reason = "an example is a program; it starts with nothing"
    )]
    let mut child = Command::new(path)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    said
}
