//! Commands of the real CLI are rehearsed for the eyes: what they would do is shown, and on a yes the
//! CLI runs them itself.

use serde_json::{Value, json};

use super::cell::in_a_cell;
use super::guarded::World;
use super::modes::{last_words, start, written};
use crate::self_approval::is_left_out;

in_a_cell! {
    async fn what_a_command_would_do_is_shown_and_the_cli_runs_it() {
        if is_left_out() {
            return;
        }
        let world = World::new().await;
        let server = world.serve();
        world.settle(&server, json!({"rehearse": true})).await;
        let session = start(&world, &server, json!({"content": "run echo 1 > made.txt"})).await;
        let asked = world.asked(&server).await;
        let path = format!("approvals/{}", asked["approval_id"].as_str().unwrap());
        let shown = loop {
            let request = world.get(&server, &path).await;
            let rehearsal = request["preview_data"]["rehearsal"].clone();
            if !matches!(rehearsal["state"].as_str(), None | Some("running")) {
                break rehearsal;
            }
        };
        assert_eq!(shown["state"], "done", "{shown}");
        assert_eq!(shown["files"][0]["file_path"], "made.txt", "{shown}");
        assert_eq!(shown["keeps"], Value::Bool(false));
        assert_eq!(shown["runs_again"], "Claude Code runs its commands itself");
        assert_eq!(written(&world, "made.txt"), None);
        world.decide(&server, &asked, "approve", json!({"digest": asked["digest"]})).await;
        last_words(&world, &server, &session).await;
        assert_eq!(written(&world, "made.txt").as_deref(), Some("1\n"));
    }
}
