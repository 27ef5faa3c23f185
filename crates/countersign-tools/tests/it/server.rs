//! A server of the web on the own machine, which says what a test wants it to.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts one that answers each request, of which it sees the head, with these bytes.
    pub(crate) async fn answering(
        answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let answer = Arc::new(answer);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answer = Arc::clone(&answer);
                tokio::spawn(async move { serve(stream, &*answer).await });
            }
        });
        Self { address, task }
    }

    /// Returns a page of a type.
    pub(crate) fn page(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
        let body = body.as_ref();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: \
             close\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    }

    /// Returns an answer without a page.
    pub(crate) fn status(status: &str, headers: &str) -> Vec<u8> {
        format!("HTTP/1.1 {status}\r\n{headers}content-length: 0\r\nconnection: close\r\n\r\n")
            .into()
    }

    pub(crate) fn redirect(to: &str) -> Vec<u8> {
        Self::status("302 Found", &format!("location: {to}\r\n"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, answer: &(dyn Fn(&str) -> Vec<u8> + Send + Sync)) {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(length) => head.extend_from_slice(&buffer[..length]),
        }
    }
    // A client that has enough goes away: that is no fault.
    let _ = stream.write_all(&answer(&String::from_utf8_lossy(&head))).await;
    let _ = stream.shutdown().await;
}
