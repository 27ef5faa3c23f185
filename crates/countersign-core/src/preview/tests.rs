use serde_json::{Value, json};

use super::*;

#[test]
fn a_plain_diff_is_written_as_it_always_was() {
    let preview = Preview::Diff(DiffPreview::new("a".into(), Some("x\n"), "y\n", preimage()));
    assert_eq!(
        serde_json::to_value(&preview).unwrap(),
        json!({
            "type": "diff",
            "file_path": "a",
            "is_new_file": false,
            "original_lines": 1,
            "new_lines": 1,
            "original_content": "x\n",
            "new_content": "y\n",
            "diff": {
                "lines": ["--- a/a", "+++ b/a", "@@ -1 +1 @@", "-x", "+y"],
                "added": 1,
                "removed": 1,
                "omitted": 0,
            },
            "preimage": {"path": "/ws/a", "digest": null},
        })
    );
}

#[test]
fn what_was_written_is_read_again() {
    let mut change = DiffPreview::new("b".into(), Some("x\r\n"), "x\n", preimage());
    change.renamed_from = Some("a".into());
    change.new_mode = Some("100755".into());
    let binary = DiffPreview::for_binary("c".into(), Some(3), Some(4), preimage());
    let gone = DiffPreview::for_deletion("d".into(), "x\n", preimage());
    let preview =
        Preview::MultiDiff { files: vec![change, binary, gone], preimages: vec![preimage()] };
    let written = serde_json::to_value(&preview).unwrap();
    assert_eq!(written["type"], preview.kind());
    assert_eq!(written["files"][0]["line_endings"], json!({"from": "CRLF", "to": "LF"}));
    assert_eq!(written["files"][1]["new_size"], 4);
    assert_eq!(written["files"][2]["is_deleted"], true);
    assert_eq!(serde_json::from_value::<Preview>(written).unwrap(), preview);
    assert_eq!(preview.preimages(), [preimage()]);
}

#[test]
fn a_change_in_the_part_that_is_left_out_changes_the_preview() {
    let preview = |middle: &str| {
        let line = |n: usize| if n == 2_000 { format!("{middle}\n") } else { format!("{n}\n") };
        let text: String = (0..4_000).map(line).collect();
        // Without the texts, which are left out of larger previews.
        let change = DiffPreview::new("a".into(), None, &text, preimage());
        DiffPreview { new_content: None, ..change }
    };
    let (one, other) = (preview("one"), preview("other"));
    assert_eq!(one.omitted_lines, Some(4_003 - 1_200));
    assert_eq!(one.diff, other.diff);
    assert_ne!(one, other);
    let digest = |preview| serde_json::to_value(preview).unwrap()["full_digest"].clone();
    assert!(matches!(digest(one), Value::String(_)));
}

fn preimage() -> Preimage {
    Preimage { path: "/ws/a".into(), digest: None }
}
