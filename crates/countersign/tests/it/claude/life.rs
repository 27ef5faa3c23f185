//! How the CLI's process begins and ends.

use countersign_claude::message::Message;
use countersign_claude::{ClaudeClient, ConnectError, SessionEnd, StreamError, TurnError, query};
use rustix::process::{Pid, Signal, kill_process};

use super::cell::in_a_cell;
use super::conversation::is_gone;
use super::world::World;

in_a_cell! {
    async fn fifty_megabytes_come_through_in_lines_of_any_length() {
        let say = "x".repeat(17 * 1024 * 1024);
        let world = World::with(&format!(
            "chunk = 4096\n[[script]]\n[[script.turn]]\nsay = '{say}'\nusage = {{ output_tokens = 9 }}\n"
        ))
        .await;
        let options = world.options().include_partial_messages();
        let client = ClaudeClient::connect(options).await.unwrap();
        let mut turn = client.send("say much").unwrap();
        let (mut bytes, mut longest, mut pieces, mut whole) = (0, 0, 0, 0);
        while let Some(message) = turn.next().await {
            let message = message.unwrap();
            bytes += message.raw().len();
            longest = longest.max(message.raw().len());
            match &message {
                Message::StreamEvent(_) => pieces += message.text().len(),
                Message::Assistant(_) => whole += message.text().len(),
                _ => {}
            }
        }
        assert_eq!((pieces, whole), (say.len(), say.len()));
        assert!(bytes > 50 * 1024 * 1024, "only {bytes} bytes");
        assert!(longest > say.len());
        assert_eq!(client.backlog().bytes(), 0);
    }

    async fn a_line_over_the_limit_is_told_of_and_the_session_goes_on() {
        let say = "x".repeat(200_000);
        let world = World::with(&format!(
            "[[script]]\nprompt = 'much'\n[[script.turn]]\nsay = '{say}'\n\
             [[script]]\nprompt = 'hello'\n[[script.turn]]\nsay = 'Hello there.'\n"
        ))
        .await;
        let client = ClaudeClient::connect(world.options().line_limit(100_000)).await.unwrap();
        let mut turn = client.send("say much").unwrap();
        let mut oversize = 0;
        while let Some(message) = turn.next().await {
            match message {
                Err(StreamError::Oversize { bytes, .. }) => {
                    assert!(bytes > say.len());
                    oversize += 1;
                }
                other => drop(other.unwrap()),
            }
        }
        assert!(oversize > 0);
        assert_eq!(client.send("say hello").unwrap().text().await.unwrap(), "Hello there.");
    }

    async fn a_cli_that_is_killed_ends_the_turn_at_once() {
        let world = World::new().await;
        let client = ClaudeClient::connect(world.options().include_partial_messages()).await.unwrap();
        let mut turn = client.send("talk slowly").unwrap();
        while !matches!(turn.next().await.unwrap().unwrap(), Message::StreamEvent(_)) {}
        kill(client.pid().unwrap());
        let ended = turn.result().await.unwrap_err();
        let TurnError::Ended(end @ SessionEnd::Exited { .. }) = ended else { panic!("{ended:?}") };
        assert!(end.to_string().contains("signal"), "{end}");
        assert!(client.send("say hello").is_err());
        assert_eq!(client.end_reason(), Some(end));
    }

    async fn what_a_dropped_client_started_is_gone() {
        let world = World::new().await;
        let client = ClaudeClient::connect(world.options().allowed_tools(["Bash"])).await.unwrap();
        let pid = client.pid().unwrap();
        let turn = client.send("run tail -f /dev/null").unwrap();
        while descendants(pid).iter().all(|(_, name)| name != "tail") {
            tokio::task::yield_now().await;
        }
        let started: Vec<u32> = descendants(pid).into_iter().map(|(pid, _)| pid).collect();
        drop(turn);
        drop(client);
        while !(is_gone(pid) && started.iter().all(|pid| is_gone(*pid))) {
            tokio::task::yield_now().await;
        }
    }

    async fn a_dropped_run_leaves_no_process() {
        let world = World::new().await;
        let run = query("talk slowly", world.options()).await.unwrap();
        let pid = run.pid().unwrap();
        drop(run);
        while !is_gone(pid) {
            tokio::task::yield_now().await;
        }
    }

    async fn a_connection_that_is_given_up_leaves_no_process() {
        let world = World::new().await;
        let mut connecting = Box::pin(ClaudeClient::connect(world.options()));
        // Far enough for the process to be there, and not for its answer.
        let pid = loop {
            tokio::select! {
                biased;
                connected = &mut connecting => panic!("too late: {connected:?}"),
                () = tokio::task::yield_now() => {}
            }
            if let Some((pid, _)) = descendants(std::process::id()).first() {
                break *pid;
            }
        };
        drop(connecting);
        while !is_gone(pid) {
            tokio::task::yield_now().await;
        }
    }

    async fn a_program_that_is_not_there_is_named_at_once() {
        let world = World::new().await;
        let options = world.options().cli_path("/nowhere/claude");
        let why = ClaudeClient::connect(options).await.unwrap_err();
        assert!(matches!(why, ConnectError::Launch(_)), "{why:?}");
        assert!(why.to_string().contains("/nowhere/claude"), "{why}");
    }

    async fn a_folder_that_is_not_there_is_named_and_not_the_program() {
        let world = World::new().await;
        let why = ClaudeClient::connect(world.options().cwd("/nowhere/at/all")).await.unwrap_err();
        assert!(matches!(why, ConnectError::Launch(_)), "{why:?}");
        assert!(why.to_string().contains("/nowhere/at/all"), "{why}");
    }

    async fn a_cli_that_ends_before_it_begins_says_why() {
        let world = World::new().await;
        let options = world.options().extra_arg("never-heard-of", None);
        let why = ClaudeClient::connect(options).await.unwrap_err();
        assert!(matches!(why, ConnectError::Ended(_)), "{why:?}");
        assert!(why.to_string().contains("never-heard-of"), "{why}");
    }

    async fn a_session_that_does_not_exist_is_not_resumed() {
        let world = World::new().await;
        let options = world.options().resume("5a5a5a5a-1111-4222-8333-444444444444");
        let why = match ClaudeClient::connect(options).await {
            Err(why) => why.to_string(),
            Ok(client) => client.send("say hello").unwrap().text().await.unwrap_err().to_string(),
        };
        assert!(why.contains("No conversation found"), "{why}");
    }

    async fn a_closed_client_waits_until_the_transcript_is_written() {
        let world = World::new().await;
        let client = world.client().await;
        client.send("say hello").unwrap().text().await.unwrap();
        let exit = client.close().await;
        assert_eq!(exit.to_string(), "with code 0");
        let listed = world.sessions().list(&countersign_claude::session::ListSessionsOptions::all()).unwrap();
        assert_eq!(world.sessions().messages(&listed[0].id.to_string()).unwrap().len(), 2);
    }
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// The processes that a process started, and those that they did, with their names.
pub(super) fn descendants(of: u32) -> Vec<(u32, String)> {
    let stats = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        let (pid, rest) = stat.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let parent = rest.split(' ').nth(1)?.parse::<u32>().ok()?;
        Some((pid.parse::<u32>().ok()?, parent, name.to_owned()))
    });
    let stats: Vec<_> = stats.collect();
    let mut found: Vec<(u32, String)> = Vec::new();
    let mut parents = vec![of];
    while let Some(parent) = parents.pop() {
        for (pid, _, name) in stats.iter().filter(|(_, of, _)| *of == parent) {
            parents.push(*pid);
            found.push((*pid, name.clone()));
        }
    }
    found
}
