use serde_json::json;

use super::*;

#[test]
fn cargo_says_it_in_json() {
    let span =
        json!({"file_name": "src/a.rs", "line_start": 3, "column_start": 5, "is_primary": true});
    let line = |level: &str, message: &str, spans: Value| {
        json!({"reason": "compiler-message", "message": {
            "level": level, "message": message, "code": {"code": "E0308"}, "spans": spans,
        }})
        .to_string()
    };
    let said = [
        line("error", "mismatched types", json!([span])),
        line("error", "aborting due to 1 previous error", json!([])),
        line("failure-note", "more", json!([span])),
        json!({"reason": "build-finished", "success": false}).to_string(),
        "not json".to_owned(),
    ];
    let expected = message("src/a.rs", 3, 5, CheckerSeverity::Error, "E0308", "mismatched types");
    assert_eq!(CodeChecker::Cargo.messages(&said.join("\n")), [expected]);
}

#[test]
fn tsc_says_it_in_lines() {
    let said = "src/a (b).ts(3,5): error TS2322: Type 'a': no.\n  more\nFound 1 error.\n";
    let expected = message("src/a (b).ts", 3, 5, CheckerSeverity::Error, "TS2322", "Type 'a': no.");
    assert_eq!(CodeChecker::Tsc.messages(said), [expected]);
}

#[test]
fn ruff_and_pyright_say_it_in_one_json() {
    let ruff = json!([{"code": "F401", "filename": "/w/a.py", "message": "unused",
        "location": {"row": 1, "column": 8}}]);
    let expected = message("/w/a.py", 1, 8, CheckerSeverity::Warning, "F401", "unused");
    assert_eq!(CodeChecker::Ruff.messages(&ruff.to_string()), [expected]);
    let pyright = json!({"generalDiagnostics": [{"file": "/w/a.py", "severity": "error",
        "message": "no", "rule": "reportX", "range": {"start": {"line": 0, "character": 7}}}]});
    let expected = message("/w/a.py", 1, 8, CheckerSeverity::Error, "reportX", "no");
    assert_eq!(CodeChecker::Pyright.messages(&pyright.to_string()), [expected]);
    assert_eq!(CodeChecker::Ruff.messages("broken"), []);
}

fn message(
    file: &str,
    line: u64,
    column: u64,
    level: CheckerSeverity,
    code: &str,
    text: &str,
) -> CheckerMessage {
    let (file, code) = (Some(file.into()), Some(code.to_owned()));
    CheckerMessage { file, line, column, level, code, text: text.to_owned() }
}
