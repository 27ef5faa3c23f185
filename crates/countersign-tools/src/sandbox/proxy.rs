//! The proxy: the only way from a sandbox to other machines, by the names that were allowed.
//!
//! It listens on a socket that is shown to one child alone. It knows a host by the name it is asked
//! for, looks that name up itself, and connects to what it found and to nothing else. Addresses of
//! this machine and its network are never reached, whatever a name leads to: the server is there.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_core::UrlHost;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream, lookup_host};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::view::NetworkAccess;
use crate::machine::is_public_address;

/// How long the start of a request may be.
const HEAD_LIMIT: usize = 16 * 1024;
/// How many headers it may have.
const MOST_HEADERS: usize = 100;
/// How long a request may take to say what it wants, and a host to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which addresses may be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyAddressScope {
    Public,
    /// Those of this machine too, which only tests of the proxy itself have.
    #[cfg(test)]
    Everywhere,
}

/// What went through, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProxyTraffic {
    pub(super) reached: BTreeSet<String>,
    pub(super) refused: BTreeSet<String>,
}

/// A proxy, as long as its child lives.
#[derive(Debug)]
pub(super) struct SandboxProxy {
    socket: PathBuf,
    listening: AbortHandle,
    traffic: Arc<Mutex<ProxyTraffic>>,
}

#[derive(Clone)]
struct ProxyRules {
    network: NetworkAccess,
    reach: ProxyAddressScope,
    traffic: Arc<Mutex<ProxyTraffic>>,
}

impl SandboxProxy {
    /// Starts a proxy whose socket has this name in a folder.
    pub(super) fn start(folder: &Path, name: &str, network: NetworkAccess) -> io::Result<Self> {
        Self::start_with_scope(folder, name, network, ProxyAddressScope::Public)
    }

    fn start_with_scope(
        folder: &Path,
        name: &str,
        network: NetworkAccess,
        reach: ProxyAddressScope,
    ) -> io::Result<Self> {
        let socket = folder.join(name);
        let listener = bind(folder, name)?;
        let traffic = Arc::<Mutex<ProxyTraffic>>::default();
        let rules = ProxyRules { network, reach, traffic: traffic.clone() };
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let rules = rules.clone();
                tokio::spawn(async move {
                    if let Err(error) = serve(stream, &rules).await {
                        tracing::debug!(%error, "a connection through the sandbox's proxy broke");
                    }
                });
            }
        });
        Ok(Self { socket, listening: listening.abort_handle(), traffic })
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    pub(super) fn traffic(&self) -> ProxyTraffic {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for SandboxProxy {
    fn drop(&mut self) {
        self.listening.abort();
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Binds a socket however long its path is: a name of a socket has little room.
fn bind(folder: &Path, name: &str) -> io::Result<UnixListener> {
    use std::os::fd::AsRawFd;
    let _ = std::fs::remove_file(folder.join(name));
    let folder = std::fs::File::open(folder)?;
    UnixListener::bind(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()))
}

/// What a request asks for.
struct ProxyRequest {
    host: String,
    port: u16,
    /// What the host is sent first; nothing where the child speaks to it by itself.
    first: Vec<u8>,
}

async fn serve(mut stream: UnixStream, rules: &ProxyRules) -> io::Result<()> {
    let (head, rest) = match timeout(PATIENCE, head_of(&mut stream)).await {
        Ok(read) => read?,
        Err(_) => return Ok(()),
    };
    let answer = match parse_request(&head) {
        Ok(wanted) => rules.connect(&wanted).await.map(|host| (host, wanted)),
        Err(why) => Err(why),
    };
    let (mut host, wanted) = match answer {
        Ok(connected) => connected,
        Err(why) => return refuse(&mut stream, &why).await,
    };
    if wanted.first.is_empty() {
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    } else {
        host.write_all(&wanted.first).await?;
    }
    host.write_all(&rest).await?;
    copy_bidirectional(&mut stream, &mut host).await?;
    Ok(())
}

async fn refuse(stream: &mut UnixStream, why: &str) -> io::Result<()> {
    let body = format!("the sandbox's proxy: {why}\n");
    let head = format!(
        "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: \
         close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads up to the empty line; what came after it is returned too.
async fn head_of(stream: &mut UnixStream) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut read = Vec::new();
    loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = read.split_off(end + 4);
            return Ok((read, rest));
        }
        if read.len() > HEAD_LIMIT {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if stream.read_buf(&mut read).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Reads whom a request is for. What programs read differently is refused.
fn parse_request(head: &[u8]) -> Result<ProxyRequest, String> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let read = request.parse(head);
    let (Ok(httparse::Status::Complete(length)), Some(method), Some(target), Some(minor)) =
        (read, request.method, request.path, request.version)
    else {
        return Err("the request could not be read".to_owned());
    };
    // It also takes a line break alone for the end of a line: the host might, or might not.
    if length != head.len() || has_bare_line_break(head) {
        return Err("the request could not be read".to_owned());
    }
    let url = if method == "CONNECT" { format!("https://{target}/") } else { target.to_owned() };
    let host = UrlHost::from_url(&url).map_err(|error| error.to_string())?.to_string();
    let (scheme, rest) = url.split_once("://").unwrap_or(("", ""));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let named = authority.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
    let port = match named {
        Some((_, port)) => port.parse().map_err(|_| format!("`{port}` is not a port"))?,
        None if scheme == "https" => 443,
        None => 80,
    };
    if method == "CONNECT" {
        return Ok(ProxyRequest { host, port, first: Vec::new() });
    }
    let mut first = format!("{method} /{path} HTTP/1.{minor}\r\n").into_bytes();
    for header in request.headers {
        if header.name.to_ascii_lowercase().starts_with("proxy-") {
            continue;
        }
        first.extend([header.name.as_bytes(), b": ", header.value, b"\r\n"].concat());
    }
    first.extend(b"\r\n");
    Ok(ProxyRequest { host, port, first })
}

/// Whether a line ends otherwise than HTTP says.
fn has_bare_line_break(head: &[u8]) -> bool {
    let is_bare = |at: usize| at.checked_sub(1).and_then(|before| head.get(before)) != Some(&b'\r');
    memchr::memchr_iter(b'\n', head).any(is_bare)
}

impl ProxyRules {
    async fn connect(&self, wanted: &ProxyRequest) -> Result<TcpStream, String> {
        let ProxyRequest { host, port, .. } = wanted;
        let connected = self.try_connect(host, *port).await;
        let mut traffic = self.traffic.lock().unwrap_or_else(PoisonError::into_inner);
        match &connected {
            Ok(_) => traffic.reached.insert(host.clone()),
            Err(_) => traffic.refused.insert(host.clone()),
        };
        connected
    }

    async fn try_connect(&self, host: &str, port: u16) -> Result<TcpStream, String> {
        if !self.is_allowed(host) {
            return Err(format!("`{host}` is not among the hosts that were allowed"));
        }
        let bare = host.trim_matches(['[', ']']);
        let found = timeout(PATIENCE, lookup_host((bare, port))).await;
        let found = found.map_err(|_| format!("`{host}` could not be looked up in time"))?;
        let found = found.map_err(|_| format!("`{host}` could not be looked up"))?;
        let addresses: Vec<SocketAddr> =
            found.filter(|address| self.reach.includes(address.ip())).collect();
        if addresses.is_empty() {
            return Err(format!("`{host}` leads to this machine or its own network"));
        }
        let connecting = timeout(PATIENCE, TcpStream::connect(&addresses[..])).await;
        let connected = connecting.map_err(|_| format!("`{host}` does not answer"))?;
        connected.map_err(|error| format!("`{host}` cannot be reached: {error}"))
    }

    fn is_allowed(&self, host: &str) -> bool {
        match &self.network {
            NetworkAccess::Off => false,
            NetworkAccess::Hosts(hosts) => {
                hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
            }
            NetworkAccess::Public => true,
        }
    }
}

impl ProxyAddressScope {
    fn includes(self, address: IpAddr) -> bool {
        match self {
            Self::Public => is_public_address(address),
            #[cfg(test)]
            Self::Everywhere => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn an_allowed_host_is_reached_and_noted() {
        let (proxy, folder, port) = world(&["127.0.0.1"], ProxyAddressScope::Everywhere).await;
        let answer = ask(&folder, &format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nhello")).await;
        assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\nhello");
        let get = format!(
            "GET http://127.0.0.1:{port}/a?b HTTP/1.1\r\nHost: x\r\nProxy-Secret: y\r\n\r\n"
        );
        assert_eq!(ask(&folder, &get).await, "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(proxy.traffic().reached.contains("127.0.0.1"));
    }

    #[tokio::test]
    async fn any_other_host_is_refused_by_name_and_noted() {
        let (proxy, folder, port) = world(&["example.com"], ProxyAddressScope::Everywhere).await;
        let answer = ask(&folder, &format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        assert!(answer.contains("`127.0.0.1` is not among the hosts that were allowed"));
        assert!(proxy.traffic().refused.contains("127.0.0.1"));
    }

    #[tokio::test]
    async fn this_machine_is_never_reached_whatever_was_allowed() {
        let names = ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"];
        for allowed in
            [NetworkAccess::Public, NetworkAccess::Hosts(names.map(str::to_owned).to_vec())]
        {
            let (_proxy, folder, port) = with(allowed, ProxyAddressScope::Public).await;
            for name in names.iter().chain(&["2130706433", "0x7f.1", "169.254.169.254"]) {
                let answer = ask(&folder, &format!("CONNECT {name}:{port} HTTP/1.1\r\n\r\n")).await;
                assert!(answer.starts_with("HTTP/1.1 403 "), "{name}: {answer}");
            }
        }
    }

    #[test]
    fn a_public_address_in_the_clothes_of_another_is_not_reached() {
        let includes = |text: &str| ProxyAddressScope::Public.includes(text.parse().unwrap());
        assert!(includes("1.1.1.1") && includes("2606:4700:4700::1111"));
        assert!(!includes("::ffff:1.1.1.1") && !includes("::ffff:127.0.0.1"));
        assert!(!includes("10.0.0.1") && !includes("::1"));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for line in [
            "CONNECT a@b:1 HTTP/1.1",
            "CONNECT a\0.b:1 HTTP/1.1",
            "CONNECT  a:1 HTTP/1.1",
            "CONNECT a:b HTTP/1.1",
            "CONNECT a:99999 HTTP/1.1",
            "CONNECT",
            "GET /relative HTTP/1.1",
            "GET ftp://a/ HTTP/1.1",
            "GET http://a/ HTTP/2",
            "GET http://a/ HTTP/1.1\r\nHost : a",
            "GET http://a/ HTTP/1.1\r\nHost: a\r\n b",
            "GET http://a/ HTTP/1.1\nHost: a",
            "GET http://a/ HTTP/1.1\n\nGET http://b/ HTTP/1.1",
        ] {
            assert!(parse_request(format!("{line}\r\n\r\n").as_bytes()).is_err(), "{line:?}");
        }
    }

    async fn world(
        hosts: &[&str],
        reach: ProxyAddressScope,
    ) -> (SandboxProxy, tempfile::TempDir, u16) {
        with(NetworkAccess::Hosts(hosts.iter().map(|it| (*it).to_owned()).collect()), reach).await
    }

    /// A proxy, and a host behind it that sends back what it is sent.
    async fn with(
        network: NetworkAccess,
        reach: ProxyAddressScope,
    ) -> (SandboxProxy, tempfile::TempDir, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.split();
                    let _ = tokio::io::copy(&mut read, &mut write).await;
                });
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let proxy = SandboxProxy::start_with_scope(folder.path(), "p", network, reach).unwrap();
        (proxy, folder, port)
    }

    async fn ask(folder: &tempfile::TempDir, request: &str) -> String {
        let mut stream = UnixStream::connect(folder.path().join("p")).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }
}
