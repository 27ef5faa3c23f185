//! The proof of whom we talk to: every new connection is challenged before anything else is sent on it.
//!
//! The server signs a nonce, the host that we addressed and the address that it listens on with a key
//! whose public half we know. It is asked on the very connection that the token then goes over, so
//! nobody can take the server's place in between: who holds its port and not its key gets no token, and
//! no answer of theirs is believed.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use countersign_gate::ServerPublicKey;
use hyper::rt;
use hyper_util::client::legacy::connect::{Connection, HttpInfo};
use hyper_util::rt::TokioIo;
use reqwest::{ClientBuilder, Url};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tower::{BoxError, Layer, Service};

/// How long the proof may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long an answer to the challenge may be.
const LONGEST: usize = 16 * 1024;

/// Why a connection is not used.
#[derive(Debug, thiserror::Error)]
#[error("the program that answers there did not prove to be this token's server: {0}")]
pub(crate) struct ServerProofError(&'static str);

impl ServerProofError {
    /// Returns the one that made a request fail, if it was one.
    pub(crate) fn find_in(error: &reqwest::Error) -> Option<&Self> {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(error) = cause {
            if let Some(found) = error.downcast_ref::<Self>() {
                return Some(found);
            }
            cause = error.source();
        }
        None
    }
}

/// Makes a client challenge every connection, where the server's key is known.
pub(crate) fn with_server_proof(
    client: ClientBuilder,
    url: &Url,
    key: Option<ServerPublicKey>,
) -> ClientBuilder {
    let (Some(key), Some(host)) = (key, url.host_str()) else { return client };
    let host = match url.port_or_known_default() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    // The challenge is one of HTTP/1.1, on the connection itself: no proxy may stand in between.
    client.http1_only().no_proxy().connector_layer(ServerProofLayer { key, host })
}

#[derive(Clone)]
struct ServerProofLayer {
    key: ServerPublicKey,
    host: String,
}

impl<S> Layer<S> for ServerProofLayer {
    type Service = ProvingConnector<S>;

    fn layer(&self, inner: S) -> ProvingConnector<S> {
        ProvingConnector { inner, proof: self.clone() }
    }
}

#[derive(Clone)]
struct ProvingConnector<S> {
    inner: S,
    proof: ServerProofLayer,
}

type ConnectFuture<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

impl<S, R> Service<R> for ProvingConnector<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    S::Response: rt::Read + rt::Write + Connection + Unpin + Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ConnectFuture<S::Response>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, to: R) -> Self::Future {
        let (connecting, proof) = (self.inner.call(to), self.proof.clone());
        Box::pin(async move {
            let connection = connecting.await.map_err(Into::into)?;
            let mut extras = http::Extensions::new();
            connection.connected().get_extras(&mut extras);
            let peer = extras.get::<HttpInfo>().map(HttpInfo::remote_addr);
            let mut stream = TokioIo::new(connection);
            match tokio::time::timeout(PATIENCE, proof.challenge(&mut stream, peer)).await {
                Ok(proven) => proven?,
                Err(_) => return Err(ServerProofError("it did not answer in time").into()),
            }
            Ok(stream.into_inner())
        })
    }
}

/// What the server says of itself.
#[derive(Deserialize)]
struct ServerProof {
    listens_on: SocketAddr,
    signature: String,
}

impl ServerProofLayer {
    /// Challenges whoever is at the other end.
    async fn challenge(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
        peer: Option<SocketAddr>,
    ) -> Result<(), ServerProofError> {
        let nonce = nonce()?;
        let body = format!("{{\"nonce\":\"{nonce}\"}}");
        let request = format!(
            "POST /identity HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        let lost = |_| ServerProofError("it hung up");
        stream.write_all(request.as_bytes()).await.map_err(lost)?;
        stream.flush().await.map_err(lost)?;
        let proof: ServerProof = serde_json::from_slice(&answer(stream).await?)
            .map_err(|_| ServerProofError("its answer is not understood"))?;
        let place = proof.listens_on.to_string();
        if !self.key.verifies(&proof.signature, &nonce, &self.host, &place) {
            return Err(ServerProofError("it does not hold the server's key"));
        }
        // One that listens on this machine alone is there and nowhere else: not behind somebody who
        // holds the same port of another address and passes the challenge on.
        let is_there = peer.is_none_or(|peer| peer == proof.listens_on);
        if proof.listens_on.ip().is_loopback() && !is_there {
            return Err(ServerProofError("the server listens on another address"));
        }
        Ok(())
    }
}

/// Reads one answer, to its last byte and no further.
async fn answer(stream: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>, ServerProofError> {
    const END: &[u8] = b"\r\n\r\n";
    let bad = || ServerProofError("its answer is not understood");
    let mut read = Vec::new();
    let head = loop {
        let found = read.windows(END.len()).position(|window| window == END);
        if let Some(end) = found {
            break end;
        }
        let mut piece = [0; 1024];
        let count = stream.read(&mut piece).await.map_err(|_| ServerProofError("it hung up"))?;
        if count == 0 || read.len() > LONGEST {
            return Err(bad());
        }
        read.extend_from_slice(piece.get(..count).unwrap_or_default());
    };
    let mut body = read.split_off(head + END.len());
    let head = std::str::from_utf8(&read).map_err(|_| bad())?;
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200") {
        return Err(ServerProofError("it knows of no proof"));
    }
    let fields = lines.filter_map(|line| line.split_once(':'));
    let mut lengths = fields.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = lengths.next().and_then(|(_, length)| length.trim().parse::<usize>().ok());
    let length = length.filter(|length| *length <= LONGEST).ok_or_else(bad)?;
    let missing = length.checked_sub(body.len()).ok_or_else(bad)?;
    let mut rest = vec![0; missing];
    stream.read_exact(&mut rest).await.map_err(|_| bad())?;
    body.extend(rest);
    Ok(body)
}

fn nonce() -> Result<String, ServerProofError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|_| ServerProofError("there is no randomness to ask with"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
