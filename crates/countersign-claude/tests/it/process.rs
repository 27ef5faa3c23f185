//! Cases 3 and 10: the process, how its start fails, and that none is left behind.

use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use countersign_claude::process::LaunchError;
use countersign_claude::{ClaudeClient, ConnectError, Options, SessionEnd, query};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::cli::{Cli, example};
use crate::fake::assistant;

/// As good as at once, on a machine with other things to do.
const AT_ONCE: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_start_that_fails_says_why_and_at_once() {
    let cli = Cli::shell("exit 0");
    let missing = cli.path("missing");
    let error = failure(Options::new().cli_path(&missing)).await;
    assert!(matches!(error, LaunchError::NotFound(it) if it.searched == [missing]));
    let nowhere = cli.path("nowhere");
    let error = failure(cli.options().cwd(&nowhere)).await;
    assert!(matches!(error, LaunchError::WorkingDirectory(it) if it == nowhere));
    std::fs::write(cli.program(), "#!/no/such/interpreter\n").unwrap();
    let error = failure(cli.options()).await;
    assert!(matches!(error, LaunchError::Unrunnable(it) if it == cli.program()));
    let error = failure(cli.options().cli_path(cli.path("pids"))).await;
    assert!(matches!(error, LaunchError::NotFound(_)));
    std::fs::write(cli.path("pids"), "not a program").unwrap();
    let error = failure(cli.options().cli_path(cli.path("pids"))).await;
    assert!(matches!(error, LaunchError::Spawn { .. }), "{error}");
}

#[tokio::test]
async fn an_end_before_the_first_answer_is_told_with_its_last_words() {
    let cli = Cli::shell("echo 'error: unknown option --x' >&2; exit 3");
    let begun = Instant::now();
    let error = ClaudeClient::connect(cli.options()).await.unwrap_err();
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    let ConnectError::Ended(SessionEnd::Exited { exit, stderr }) = error else {
        panic!("{error:?}")
    };
    assert_eq!((exit.code, stderr.as_str()), (Some(3), "error: unknown option --x"));
}

#[tokio::test]
async fn a_cli_killed_mid_turn_is_told_by_its_signal() {
    let cli = Cli::steps(&[json!({ "reply": "initialize" }), json!({ "stay": true })]);
    let client = ClaudeClient::connect(cli.options()).await.unwrap();
    let turn = client.send("hello").unwrap();
    rustix::process::kill_process(cli.pids()[0], rustix::process::Signal::KILL).unwrap();
    assert_eq!(turn.result().await.unwrap_err().to_string(), "the CLI ended by signal 9");
    cli.gone().await;
}

#[tokio::test]
async fn the_error_output_is_heard_and_kept() {
    let cli = Cli::steps(&[
        json!({ "stderr": "warming up" }),
        json!({ "reply": "initialize" }),
        json!({ "stderr": "bad luck" }),
        json!({ "exit": 4 }),
    ]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = heard.clone();
    let options = cli.options().stderr(move |line| {
        hear.lock().unwrap().push(line.to_owned());
        assert_ne!(line, "warming up", "a function that panics stops nothing");
    });
    let client = ClaudeClient::connect(options).await.unwrap();
    let end = match client.send("hello") {
        Ok(turn) => turn.result().await.unwrap_err().to_string(),
        Err(end) => end.to_string(),
    };
    assert_eq!(end, "the CLI ended with code 4; it said: warming up\nbad luck");
    assert_eq!(*heard.lock().unwrap(), ["warming up", "bad luck"]);
}

#[tokio::test]
async fn a_whole_run_leaves_nothing_behind() {
    let cli = conversation();
    let result = query("hello", cli.options()).await.unwrap().result().await.unwrap();
    assert_eq!(result.result.as_deref(), Some("done"));
    cli.gone().await;
}

#[tokio::test]
async fn dropped_at_any_await_it_leaves_no_process() {
    for polls in 0.. {
        let cli = conversation();
        let session = async {
            let grace = Duration::from_millis(200);
            let client = ClaudeClient::connect(cli.options().shutdown_grace(grace)).await.unwrap();
            let mut turn = client.send("hello").unwrap();
            while let Some(message) = turn.next().await {
                message.unwrap();
            }
            client.close().await;
        };
        let done = Cut { inner: Box::pin(session), polls }.await;
        cli.gone().await;
        if done {
            assert!(polls > 3, "there was something to cut");
            return;
        }
    }
}

#[tokio::test]
async fn the_cli_has_time_to_write_its_transcript() {
    let cli = Cli::shell(
        r#"read -r line
id=$(echo "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
echo "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"$id\"}}"
while read -r line; do :; done
sleep 0.3
touch "$(dirname "$0")/flushed""#,
    );
    let client = ClaudeClient::connect(cli.options()).await.unwrap();
    drop(client);
    cli.gone().await;
    assert!(cli.path("flushed").is_file());
}

#[tokio::test]
async fn a_cli_that_will_not_go_is_made_to_with_all_it_started() {
    let cli = Cli::shell(
        r#"pids="$(dirname "$0")/pids"
trap '' TERM
sleep 1000 & echo $! >> "$pids"
setsid sleep 1000 & echo $! >> "$pids"
echo ready >&2
while :; do wait; done"#,
    );
    let options = cli
        .options()
        .initialize_timeout(Duration::from_millis(500))
        .shutdown_grace(Duration::from_millis(100));
    let error = ClaudeClient::connect(options).await.unwrap_err().to_string();
    assert_eq!(error, "the CLI did not answer within 500ms; it said: ready");
    assert_eq!(cli.pids().len(), 3);
    cli.gone().await;
}

#[tokio::test]
async fn when_the_runtime_goes_the_cli_goes_with_it() {
    let cli = Cli::steps(&[json!({ "reply": "initialize" }), json!({ "stay": true })]);
    let options = cli.options();
    let held = std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let client = runtime.block_on(ClaudeClient::connect(options)).unwrap();
        drop(runtime);
        client
    });
    drop(held.join().unwrap());
    cli.gone().await;
}

/// A program that is killed outright runs no destructor.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the program under test is a process")]
async fn when_the_program_is_killed_the_cli_goes_with_it() {
    let cli = Cli::steps(&[
        json!({ "reply": "initialize" }),
        json!({ "await": "user" }),
        json!({ "say": assistant("I am here.") }),
        json!({ "stay": true }),
    ]);
    let path = format!("{}:/usr/bin:/bin", cli.folder().display());
    let mut program = tokio::process::Command::new(example("chat"))
        .env("PATH", path)
        .env("FAKE_CLI_SCRIPT", cli.path("script"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut said = BufReader::new(program.stdout.take().unwrap()).lines();
    assert_eq!(said.next_line().await.unwrap().as_deref(), Some("I am here."));
    program.kill().await.unwrap();
    cli.gone().await;
}

/// A CLI that answers one prompt.
fn conversation() -> Cli {
    Cli::steps(&[
        json!({ "reply": "initialize" }),
        json!({ "await": "user" }),
        json!({ "say": assistant("hello"), "times": 3 }),
        json!({ "say": { "type": "result", "subtype": "success", "is_error": false, "result": "done" } }),
        json!({ "hold": true }),
    ])
}

async fn failure(options: Options) -> LaunchError {
    let begun = Instant::now();
    let error = ClaudeClient::connect(options).await.unwrap_err();
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    match error {
        ConnectError::Launch(error) => error,
        other => panic!("{other:?}"),
    }
}

/// A future that is given up after so many polls; returns whether it was done before.
struct Cut<F> {
    inner: Pin<Box<F>>,
    polls: usize,
}

impl<F: Future<Output = ()>> Future for Cut<F> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        if self.polls == 0 {
            return Poll::Ready(false);
        }
        self.polls -= 1;
        self.inner.as_mut().poll(context).map(|()| true)
    }
}
