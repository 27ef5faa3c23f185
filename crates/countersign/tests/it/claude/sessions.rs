//! Sessions that the real CLI wrote, and what it makes of them after they were changed here.

use countersign_claude::message::Message;
use countersign_claude::session::{ForkSessionOptions, ListSessionsOptions, SessionError};

use super::cell::in_a_cell;
use super::world::World;

in_a_cell! {
    async fn a_session_of_the_cli_is_listed_and_read() {
        let world = World::new().await;
        let id = begin(&world).await;
        let listed = world.sessions().list(&ListSessionsOptions::all().directory(world.work())).unwrap();
        let info = world.sessions().info(&id).unwrap();
        assert_eq!(listed, std::slice::from_ref(&info));
        assert_eq!(info.id.to_string(), id);
        assert_eq!(info.summary, "say hello");
        assert_eq!(info.first_prompt.as_deref(), Some("say hello"));
        assert_eq!(info.cwd, Some(world.work().display().to_string()));
        assert!(info.created_at.is_some());
        assert_eq!(spoken(&world, &id), ["say hello", "Hello there."]);
    }

    async fn a_session_in_an_oddly_named_folder_is_found() {
        let world = World::new().await;
        for name in ["x".repeat(230), "Ümläut 😀_1.2".to_owned(), "e\u{301}".to_owned()] {
            let folder = world.work().join(name);
            std::fs::create_dir(&folder).unwrap();
            let result = world.cli(&folder, &["say hello"]).await.unwrap();
            let listed = world.sessions().list(&ListSessionsOptions::all().directory(&folder)).unwrap();
            let ids: Vec<_> = listed.iter().map(|info| info.id.to_string()).collect();
            assert_eq!(ids, [result["session_id"].as_str().unwrap()], "{}", folder.display());
        }
    }

    async fn the_calls_of_one_answer_are_all_read_with_their_results() {
        let world = World::new().await;
        let result = world.cli(&world.work(), &["three at once"]).await.unwrap();
        let messages = world.sessions().messages(result["session_id"].as_str().unwrap()).unwrap();
        let calls: Vec<_> = messages.iter().flat_map(Message::tool_uses).collect();
        let results = messages.iter().flat_map(|message| match message {
            Message::User(said) => said.tool_results().collect(),
            _ => Vec::new(),
        });
        let mut answered: Vec<_> = results.map(|result| result.tool_use_id.clone()).collect();
        let mut called: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
        answered.sort();
        called.sort();
        assert_eq!(called.len(), 3);
        assert_eq!(answered, called);
        assert_eq!(messages.last().unwrap().text(), "All three came back.");
    }

    async fn the_conversation_of_a_subagent_is_read() {
        let world = World::new().await;
        let args = ["wait for another", "--permission-mode=bypassPermissions"];
        let result = world.cli(&world.work(), &args).await.unwrap();
        let id = result["session_id"].as_str().unwrap();
        let agents = world.sessions().subagents(id).unwrap();
        let [agent] = agents.as_slice() else { panic!("not one subagent: {agents:?}") };
        let said = world.sessions().subagent_messages(id, agent).unwrap();
        assert_eq!(said.first().unwrap().text(), "run mkdir below");
        assert_eq!(said.last().unwrap().text(), "It said: (Bash completed with no output)");
        // None of it is in the session's own conversation.
        assert_eq!(spoken(&world, id).first().unwrap(), "wait for another");
        assert!(!spoken(&world, id).contains(&"run mkdir below".to_owned()));
    }

    async fn a_renamed_session_has_its_title_and_goes_on() {
        let world = World::new().await;
        let id = begin(&world).await;
        world.sessions().rename(&id, "A greeting").unwrap();
        resume(&world, &id).await;
        assert_eq!(world.last_conversation(), ["say hello", "Hello there.", "say hello again"]);
        let info = world.sessions().info(&id).unwrap();
        assert_eq!((info.summary.as_str(), info.id.to_string()), ("A greeting", id));
    }

    async fn a_forked_session_is_resumed_by_the_cli_and_leaves_the_first_alone() {
        let world = World::new().await;
        let id = begin(&world).await;
        let fork = world.sessions().fork(&id, &ForkSessionOptions::new()).unwrap().to_string();
        assert_eq!(resume(&world, &fork).await, fork);
        assert_eq!(world.last_conversation(), ["say hello", "Hello there.", "say hello again"]);
        assert_eq!(spoken(&world, &id), ["say hello", "Hello there."]);
        let all = ["say hello", "Hello there.", "say hello again", "Hello there."];
        assert_eq!(spoken(&world, &fork), all);
        let mut summaries: Vec<_> = world
            .sessions()
            .list(&ListSessionsOptions::all())
            .unwrap()
            .into_iter()
            .map(|info| info.summary)
            .collect();
        summaries.sort();
        assert_eq!(summaries, ["say hello", "say hello (fork)"]);
    }

    async fn a_fork_up_to_a_message_forgets_what_came_after() {
        let world = World::new().await;
        let id = begin(&world).await;
        resume(&world, &id).await;
        let messages = world.sessions().messages(&id).unwrap();
        let answer = messages[1].uuid().unwrap().to_owned();
        let fork = world.sessions().fork(&id, &ForkSessionOptions::new().up_to(answer)).unwrap().to_string();
        assert_eq!(spoken(&world, &fork), ["say hello", "Hello there."]);
        resume(&world, &fork).await;
        assert_eq!(world.last_conversation(), ["say hello", "Hello there.", "say hello again"]);
    }

    async fn a_deleted_session_is_unknown_to_the_cli() {
        let world = World::new().await;
        let id = begin(&world).await;
        world.sessions().delete(&id).unwrap();
        assert_eq!(world.sessions().list(&ListSessionsOptions::all()).unwrap(), []);
        assert!(matches!(world.sessions().messages(&id), Err(SessionError::NotFound(_))));
        let resume = ["say hello again", &format!("--resume={id}")];
        let said = world.cli(&world.work(), &resume).await.unwrap_err();
        assert!(said.contains("No conversation found"), "{said}");
    }
}

async fn begin(world: &World) -> String {
    let result = world.cli(&world.work(), &["say hello"]).await.unwrap();
    assert_eq!(result["result"], "Hello there.");
    result["session_id"].as_str().unwrap().to_owned()
}

/// Lets the CLI go on with a session and returns its id.
async fn resume(world: &World, id: &str) -> String {
    let args = ["say hello again", &format!("--resume={id}")];
    let result = world.cli(&world.work(), &args).await.unwrap();
    assert_eq!(result["result"], "Hello there.", "{result}");
    result["session_id"].as_str().unwrap().to_owned()
}

fn spoken(world: &World, id: &str) -> Vec<String> {
    let messages = world.sessions().messages(id).unwrap();
    messages.iter().map(Message::text).filter(|text| !text.is_empty()).collect()
}
