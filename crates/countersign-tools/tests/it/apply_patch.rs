use countersign_core::{DiffPreview, Effect, Preimage, Preview, Risk, risk};
use serde_json::{Value, json};

use crate::world::{World, assert_has};

#[test]
fn a_patch_in_either_form_shows_every_file_as_it_will_be() {
    let world = World::with_file("src/a.rs", "one\ntwo\nthree\n");
    world.write("gone.txt", "x\n");
    world.write("old.txt", "same\nline\n");
    let unified = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n\
        @@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\
        diff --git a/new.txt b/new.txt\nnew file mode 100755\n--- /dev/null\n+++ b/new.txt\n\
        @@ -0,0 +1 @@\n+new\n\
        diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n\
        @@ -1 +0,0 @@\n-x\n\
        diff --git a/old.txt b/sub/moved.txt\nrename from old.txt\nrename to sub/moved.txt\n\
        --- a/old.txt\n+++ b/sub/moved.txt\n@@ -2 +2 @@\n-line\n+LINE\n";
    let envelope = "*** Begin Patch\n*** Update File: src/a.rs\n@@ one\n-two\n+2\n\
        *** Add File: new.txt\n+new\n*** Delete File: gone.txt\n\
        *** Update File: old.txt\n*** Move to: sub/moved.txt\n@@\n same\n-line\n+LINE\n*** End Patch\n";
    for text in [unified, envelope] {
        let (files, preimages) = shown(&world, text);
        let after: Vec<_> =
            files.iter().map(|it| (&*it.file_path, it.new_content.as_deref())).collect();
        assert_eq!(
            after,
            [
                ("src/a.rs", Some("one\n2\nthree\n")),
                ("new.txt", Some("new\n")),
                ("gone.txt", Some("")),
                ("sub/moved.txt", Some("same\nLINE\n")),
            ]
        );
        assert!(files[1].is_new_file && files[2].is_deleted);
        assert_eq!(files[3].renamed_from.as_deref(), Some("old.txt"));
        assert_eq!(preimages.len(), 5, "a file that moves has two places");
        let plan = world.plan("ApplyPatch", patch(text)).unwrap();
        let kinds: Vec<_> = plan.effects.iter().map(kind).collect();
        assert_eq!(kinds, ["read", "write", "write", "delete", "rename", "write"]);
    }
    assert_eq!(shown(&world, unified).0[1].new_mode.as_deref(), Some("100755"));
}

#[test]
fn a_link_is_made_for_all_to_see() {
    let world = World::new();
    let link = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n\
        @@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n";
    let plan = world.plan("ApplyPatch", patch(link)).unwrap();
    assert!(matches!(plan.effects.as_slice(), [Effect::Write(_), Effect::Opaque { .. }]));
    assert_eq!(risk::assess(&plan.effects), Risk::High);
    assert_eq!(shown(&world, link).0[0].link_target.as_deref(), Some("/etc"));
    let through = format!("{link}diff --git a/l/x b/l/x\nnew file mode 100644\n");
    let refused = world.plan("ApplyPatch", patch(&through)).unwrap_err();
    assert_has(&refused.0, "the patch writes through it");
}

#[test]
fn a_change_of_mode_is_shown() {
    let world = World::with_file("r.sh", "x");
    let mode = "diff --git a/r.sh b/r.sh\nold mode 100644\nnew mode 100755\n";
    let (files, _) = shown(&world, mode);
    let modes = (files[0].old_mode.as_deref(), files[0].new_mode.as_deref());
    assert_eq!(modes, (Some("100644"), Some("100755")));
    assert!(files[0].diff.lines.is_empty());
    let kinds: Vec<_> =
        world.plan("ApplyPatch", patch(mode)).unwrap().effects.iter().map(kind).collect();
    assert_eq!(kinds, ["read", "write"]);
}

#[test]
fn where_a_patch_reaches_is_judged_like_any_path() {
    let world = World::new();
    let high = |text: &str| {
        let plan = world.plan("ApplyPatch", patch(text)).unwrap();
        assert_eq!(risk::assess(&plan.effects), Risk::High, "{text}");
    };
    high("*** Begin Patch\n*** Add File: .git/hooks/pre-commit\n+x\n*** End Patch\n");
    high("*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch\n");
    high("--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n");
    high("diff --git a/a b/.git/config\nrename from a\nrename to .git/config\n");
}

#[test]
fn what_does_not_fit_is_refused_as_a_whole() {
    let world = World::with_file("a", "one\n");
    let envelope = |body: &str| format!("*** Begin Patch\n{body}*** End Patch\n");
    let fails = |text: &str, says: &str| {
        assert_has(&world.preview("ApplyPatch", patch(text)).unwrap_err().0, says);
    };
    fails(
        &envelope("*** Update File: a\n@@\n-two\n+2\n"),
        "part 1 of the change to `a` does not fit",
    );
    fails(&envelope("*** Update File: none\n@@\n-two\n+2\n"), "`none` does not exist");
    fails(&envelope("*** Add File: a\n+x\n"), "`a` exists already");
    fails(&envelope("*** Update File: a\n"), "nothing is changed");
    fails(&envelope(""), "changes no file");
    fails(&envelope("*** Copy File: a\n"), "line 2 of the patch: expected");
    fails(&format!("{}rm -rf /\n", envelope("*** Delete File: a\n")), "follows the end");
    fails("*** Begin Patch\n*** Delete File: a\n", "cut off");
    let twice = envelope("*** Delete File: a\n*** Add File: ./a\n+x\n");
    fails(&twice, "is changed twice in one patch");
    world.link("a", "link");
    fails(&envelope("*** Delete File: link\n"), "`link` is a link");
    fails(&envelope("*** Delete File: a\u{1b}\n"), "control character");
    fails("", "changes no file");
}

#[test]
fn what_is_no_text_is_shown_by_its_size() {
    let world = World::with_file("a.bin", b"\0\x01");
    let (files, _) = shown(&world, "*** Begin Patch\n*** Delete File: a.bin\n*** End Patch\n");
    assert!(files[0].is_binary && files[0].is_deleted);
    assert_eq!((files[0].original_size, files[0].new_size), (Some(2), None));
}

fn shown(world: &World, text: &str) -> (Vec<DiffPreview>, Vec<Preimage>) {
    match world.preview("ApplyPatch", patch(text)).unwrap() {
        Preview::MultiDiff { files, preimages } => (files, preimages),
        other => panic!("{other:?}"),
    }
}

fn kind(effect: &Effect) -> &'static str {
    match effect {
        Effect::Read(_) => "read",
        Effect::Write(_) => "write",
        Effect::Delete(_) => "delete",
        Effect::Rename { .. } => "rename",
        other => panic!("{other:?}"),
    }
}

fn patch(text: &str) -> Value {
    json!({"patch": text})
}
