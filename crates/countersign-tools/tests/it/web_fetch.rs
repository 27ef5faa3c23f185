use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use countersign_core::AttachmentKind;
use countersign_tools::{FixedResolver, HostResolver, WebFetch};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::server::Server;
use crate::world::{World, assert_has};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[tokio::test]
async fn a_page_becomes_markdown() {
    let site = Site::answering(|_| {
        Server::page("text/html", "<title>T</title><h1>Top</h1><p>a <em>b</em></p>")
    })
    .await;
    let page = site.ok("/x").await;
    assert_has(
        &page,
        &format!("Content of {} (text/html, 47 bytes), written by others", site.url("/x")),
    );
    assert_has(&page, "Title: T\n\n# Top\n\na *b*");
}

#[tokio::test]
async fn each_type_is_shown_as_what_it_is() {
    let site = Site::answering(|request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        match path {
            "/json" => Server::page("application/json", "{\"a\": 1}"),
            "/latin" => Server::page("text/plain; charset=iso-8859-1", b"caf\xe9"),
            "/gif" => Server::page("image/gif", b"GIF89a\x02\x00\x03\x00\x00\x00\x00;"),
            "/zip" => Server::page("application/zip", b"PK\x03\x04\0"),
            _ => [
                b"HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n".as_slice(),
                b"<p>nothing here",
            ]
            .concat(),
        }
    })
    .await;
    assert_has(&site.ok("/json").await, "\n\n{\"a\": 1}");
    assert_has(&site.ok("/latin").await, "\n\ncaf\u{e9}");
    let picture = site.fetch("/gif").await.unwrap();
    assert_eq!(picture.attachments[0].kind, AttachmentKind::Image);
    let packed = site.fetch("/zip").await.unwrap();
    assert!(packed.is_error);
    assert_has(
        &packed.content,
        "is a file that cannot be shown (application/zip, 5 bytes, status 200)",
    );
    let missing = site.fetch("/none").await.unwrap();
    assert!(missing.is_error);
    assert_has(&missing.content, "answered with status 404 Not Found:\n\n<p>nothing here");
}

#[tokio::test]
async fn a_redirect_is_followed_at_home_and_told_elsewhere() {
    let site = Site::answering(|request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        match path {
            "/here" => Server::redirect("/there?x=1"),
            "/there?x=1" => Server::page("text/plain", "arrived"),
            "/away" => Server::redirect("https://other.example/page"),
            "/www" => Server::redirect("http://www.docs.example/page"),
            "/port" => Server::redirect("http://docs.example:1/"),
            "/metadata" => Server::redirect("http://169.254.169.254/latest/meta-data/"),
            "/home" => Server::redirect("http://localhost/"),
            "/file" => Server::redirect("file:///etc/passwd"),
            "/user" => Server::redirect("http://a@docs.example/"),
            _ => Server::redirect("/loop"),
        }
    })
    .await;
    assert_has(&site.ok("/here").await, "arrived");
    let away = site.ok("/away").await;
    assert_has(&away, "redirects to another place, which was not fetched (another host)");
    assert_has(&away, "\nhttps://other.example/page\nCall WebFetch again with that URL");
    assert_has(&site.ok("/www").await, "http://www.docs.example/page");
    assert_has(&site.ok("/port").await, "(another port)");
    for path in ["/metadata", "/home", "/file", "/user"] {
        assert_has(&site.fails(path).await, "which is not fetched");
    }
    assert_has(&site.fails("/loop").await, "it redirects more than 10 times");
}

#[tokio::test]
async fn a_name_that_leads_to_the_own_network_is_not_asked() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let server = Server::answering(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        Server::page("text/plain", "secret")
    })
    .await;
    let public: SocketAddr = "93.184.215.14:80".parse().unwrap();
    for addresses in [vec![server.address], vec![public, server.address]] {
        let resolver = FixedResolver::default().with("evil.example", addresses);
        let world = World::new().with_tool(WebFetch::with_resolver(resolver));
        let url = format!("http://evil.example:{}/", server.address.port());
        let failed = world.fails("WebFetch", json!({"url": url})).await;
        assert_has(&failed, "which is not public: it is not asked");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

/// Leads to the server first, and to nowhere from then on.
#[derive(Debug)]
struct Rebinding {
    first: SocketAddr,
    asked: AtomicUsize,
}

#[async_trait]
impl HostResolver for Rebinding {
    async fn addresses(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        match self.asked.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(vec![self.first]),
            _ => Ok(vec!["10.0.0.1:80".parse().unwrap()]),
        }
    }

    fn may_reach(&self, address: IpAddr) -> bool {
        address == LOOPBACK
    }
}

#[tokio::test]
async fn a_name_is_looked_up_once_a_hop_and_every_hop_is_checked() {
    let server = Server::answering(|request| {
        if request.starts_with("GET /hop") {
            Server::redirect("/next")
        } else {
            Server::page("text/plain", "one look was enough")
        }
    })
    .await;
    let fetch = async |path: &str| {
        let rebinding = Rebinding { first: server.address, asked: AtomicUsize::new(0) };
        let world = World::new().with_tool(WebFetch::with_resolver(rebinding));
        let url = format!("http://docs.example:{}{path}", server.address.port());
        world.run("WebFetch", json!({"url": url})).await
    };
    assert_has(&fetch("/").await.unwrap().content, "one look was enough");
    let failed = fetch("/hop").await.unwrap_err().to_string();
    assert_has(&failed, "leads to 10.0.0.1:80, which is not public");
}

#[tokio::test]
async fn what_is_near_home_is_refused_before_anybody_is_asked() {
    let world = World::new();
    for url in [
        "http://localhost:3000/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://10.1.2.3/",
        "http://2130706433/",
        "http://[::ffff:127.0.0.1]/",
        "http://printer/",
    ] {
        let failed = world.fails("WebFetch", json!({"url": url})).await;
        assert_has(&failed, "WebFetch only fetches what is public");
    }
}

#[tokio::test]
async fn a_page_without_an_end_is_cut() {
    let site = Site::answering(|_| {
        let mut answer =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n".to_vec();
        answer.extend(vec![b'x'; 6 * 1024 * 1024]);
        answer
    })
    .await;
    let page = site.ok("/").await;
    assert_has(&page, "(text/plain, 5.2 MB)");
    assert_has(&page, "[Characters 0 to 60000 of 5242880. Go on with offset=60000]");
    assert_has(&page, "[The page is longer than is fetched]");
    let later = site.get(json!({"url": site.url("/"), "offset": 5_242_879})).await;
    assert_has(&later.unwrap().content, "\n\nx\n[The page");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up_on_when_the_run_is() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let resolver = FixedResolver::default().with("slow.example", [address]).allowing(LOOPBACK);
    let world = World::new().with_tool(WebFetch::with_resolver(resolver));
    let cancel = CancellationToken::new();
    let input = json!({"url": format!("http://slow.example:{}/", address.port())});
    let stop = cancel.clone();
    let (ran, ()) = tokio::join!(world.run_cancellable("WebFetch", input, cancel), async move {
        let _held = listener.accept().await.unwrap();
        stop.cancel();
    });
    assert_eq!(ran.unwrap_err().kind(), countersign_core::FailureKind::Interrupted);
}

/// Time stands still until everybody waits for it.
#[tokio::test(start_paused = true)]
async fn a_server_that_takes_too_long_is_given_up_on() {
    let begun = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\nso far";
    for said in [b"".as_slice(), begun] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let resolver = FixedResolver::default().with("slow.example", [address]).allowing(LOOPBACK);
        let world = World::new().with_tool(WebFetch::with_resolver(resolver));
        let input = json!({"url": format!("http://slow.example:{}/", address.port())});
        let (failed, _held) = tokio::join!(world.fails("WebFetch", input), async {
            let (mut held, _) = listener.accept().await.unwrap();
            assert_ne!(held.read(&mut [0; 4096]).await.unwrap(), 0);
            held.write_all(said).await.unwrap();
            held
        });
        assert_has(&failed, "it took longer than 30 seconds");
    }
}

#[tokio::test]
async fn nothing_is_sent_that_tells_who_asks() {
    let site = Site::answering(|request| Server::page("text/plain", request)).await;
    let sent = site.ok("/x?y=1").await.to_lowercase();
    assert_has(&sent, "get /x?y=1 http/1.1");
    assert_has(&sent, "user-agent: countersign-webfetch/");
    for header in ["cookie", "authorization", "referer"] {
        assert!(!sent.contains(&format!("\n{header}:")), "{sent}");
    }
}

/// A site on the own machine that the tool may reach as `docs.example`.
struct Site {
    server: Server,
    world: World,
}

impl Site {
    async fn answering(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let server = Server::answering(answer).await;
        let resolver =
            FixedResolver::default().with("docs.example", [server.address]).allowing(LOOPBACK);
        let world = World::new().with_tool(WebFetch::with_resolver(resolver));
        Self { server, world }
    }

    fn url(&self, path: &str) -> String {
        format!("http://docs.example:{}{path}", self.server.address.port())
    }

    async fn get(
        &self,
        input: Value,
    ) -> Result<countersign_core::ToolOutput, countersign_tools::ToolError> {
        self.world.run("WebFetch", input).await
    }

    async fn fetch(
        &self,
        path: &str,
    ) -> Result<countersign_core::ToolOutput, countersign_tools::ToolError> {
        self.get(json!({"url": self.url(path)})).await
    }

    async fn ok(&self, path: &str) -> String {
        let output = self.fetch(path).await.unwrap();
        assert!(!output.is_error, "{}", output.content);
        output.content
    }

    async fn fails(&self, path: &str) -> String {
        self.fetch(path).await.unwrap_err().to_string()
    }
}
