//! Getting in: a fresh link while the server runs, and commands that find their server by themselves.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

use reqwest::StatusCode;
use reqwest::redirect::Policy;
use serde_json::Value;

use crate::world::{Serving, TOKEN, countersign, stderr};

const SERVE: [&str; 4] = ["serve", "--demo", "--listen", "127.0.0.1:0"];

#[tokio::test]
async fn login_prints_a_link_that_works_once_while_the_server_runs() {
    for more in [&[][..], &["--token", TOKEN]] {
        // It outlasts the server.
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_owned();
        let mut command = countersign(&home);
        command.args(SERVE).args(more);
        let serving = Serving::of(command, tempfile::tempdir().unwrap());
        let file = home.join(".local/share/countersign/server.json");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let said = run(&home, &["login", "--no-qr"]);
        assert!(said.status.success(), "{}", stderr(&said));
        let link = String::from_utf8(said.stdout).unwrap().trim().to_owned();
        assert!(link.starts_with(&format!("{}/agent?token=", serving.url)), "{link}");
        assert_eq!(open(&link).await, StatusCode::SEE_OTHER);
        assert_eq!(open(&link).await, StatusCode::UNAUTHORIZED, "it works once");
        let json: Value = serde_json::from_slice(&run(&home, &["login", "--json"]).stdout).unwrap();
        assert_eq!(json["expires_in_seconds"], 600);
        assert_eq!(open(json["url"].as_str().unwrap()).await, StatusCode::SEE_OTHER);
        let drawn = stderr(&run(&home, &["login"]));
        assert!(drawn.contains('█') && drawn.contains('▀'), "{drawn}");
        serving.stop();
        assert!(!file.exists());
        let gone = run(&home, &["login"]);
        assert_eq!(gone.status.code(), Some(1));
        assert!(stderr(&gone).contains("no server runs"), "{}", stderr(&gone));
    }
}

#[tokio::test]
async fn what_opens_the_door_is_told_to_nobody_who_took_the_servers_place() {
    let serving = Serving::start(&SERVE, &[]);
    let home = serving.home.path().to_owned();
    let file = home.join(".local/share/countersign/server.json");
    let kept = std::fs::read_to_string(&file).unwrap();
    let secret =
        serde_json::from_str::<Value>(&kept).unwrap()["token"].as_str().unwrap().to_owned();
    let impostor = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", impostor.local_addr().unwrap());
    std::fs::write(&file, kept.replace(&serving.url, &url)).unwrap();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = impostor.accept().unwrap();
        let mut piece = [0; 4096];
        let count = std::io::Read::read(&mut stream, &mut piece).unwrap();
        String::from_utf8_lossy(&piece[..count]).into_owned()
    });
    let refused = run(&home, &["login"]);
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    let heard = heard.join().unwrap();
    assert!(heard.starts_with("POST /identity") && !heard.contains(&secret), "{heard}");
}

#[tokio::test]
async fn commands_of_this_machine_need_no_token_to_be_named() {
    let serving = Serving::start(&SERVE, &[]);
    let home = serving.home.path().to_owned();
    let undo = run(&home, &["undo", "--dry-run"]);
    let said = stderr(&undo);
    assert!(said.contains("has changed files"), "it got as far as the calls: {said}");
    let mut client = countersign(&home);
    client.args(["client", "--json", "--sandbox", "off"]).stdin(Stdio::null());
    client.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut client = client.spawn().unwrap();
    let mut first = String::new();
    let mut out = std::io::BufReader::new(client.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut first).unwrap();
    let first: Value = serde_json::from_str(&first).unwrap();
    client.kill().unwrap();
    client.wait().unwrap();
    assert!(first.to_string().contains("connected"), "{first}");
    let token = home.join(".local/share/countersign/agent-token");
    let token = std::fs::read_to_string(token).unwrap();
    assert!(token.starts_with("cs_agent_"), "a client decides nothing: {token}");
}

#[tokio::test]
async fn a_server_is_reached_by_the_names_that_were_allowed_and_its_links_say_so() {
    let args = ["--public-url", "https://gate.example", "--allow-host", "mybox.local"];
    let mut serving = Serving::start(&[&SERVE[..], &args].concat(), &[]);
    let line = serving.says("Sign in");
    assert!(line.contains("https://gate.example/agent?token="), "{line}");
    let said = run(serving.home.path(), &["login", "--json"]);
    let answer: Value = serde_json::from_slice(&said.stdout).unwrap();
    let url = answer["url"].as_str().unwrap().to_owned();
    let path = url.strip_prefix("https://gate.example").unwrap();
    let ask = async |host: &str, path: &str| {
        let http = http().get(format!("{}{path}", serving.url)).header("host", host);
        http.send().await.unwrap()
    };
    assert_eq!(ask("evil.example", "/healthz").await.status(), StatusCode::FORBIDDEN);
    assert_eq!(ask("mybox.local", "/healthz").await.status(), StatusCode::OK);
    let signed_in = ask("gate.example", path).await;
    assert_eq!(signed_in.status(), StatusCode::SEE_OTHER);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
}

#[test]
fn plain_http_on_a_network_is_warned_of() {
    let args = ["serve", "--demo", "--listen", "0.0.0.0:0"];
    let mut open = Serving::start(&args, &[]);
    let warning = open.says("plain HTTP");
    assert!(warning.starts_with("warning: 0.0.0.0:"), "{warning}");
    let (_, rest) = Serving::start(&SERVE, &[]).stop();
    assert!(!rest.contains("warning"), "{rest}");
    let behind = [&args[..], &["--public-url", "https://gate.example"]].concat();
    let (_, rest) = Serving::start(&behind, &[]).stop();
    assert!(!rest.contains("plain HTTP"), "{rest}");
}

fn run(home: &Path, args: &[&str]) -> Output {
    countersign(home).args(args).output().unwrap()
}

async fn open(link: &str) -> StatusCode {
    http().get(link).send().await.unwrap().status()
}

fn http() -> reqwest::Client {
    reqwest::Client::builder().redirect(Policy::none()).no_proxy().build().unwrap()
}
