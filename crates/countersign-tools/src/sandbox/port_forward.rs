//! The forwarder: inside a sandbox, a port that leads to the proxy outside.
//!
//! Programs speak to proxies over TCP, and a sandbox with a network of its own has no way out but a
//! socket in the file system. A second process of the launcher joins the two.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use super::enter::EnterError;
use super::launch_spec::ProxyForward;
use crate::machine::process;

/// The first word by which the launcher knows that it is to forward.
pub(super) const FORWARD: &str = "--forward";

/// Opens the port and starts who forwards from it. The port is open when this returns.
pub(super) fn start(door: &ProxyForward) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, door.port))?;
    let mut words = door.launcher.clone();
    words.extend([FORWARD.to_owned(), door.socket.to_string_lossy().into_owned()]);
    let (program, arguments) =
        words.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    process::leave_beside(Path::new(program), arguments, OwnedFd::from(listener))
}

/// Forwards every connection of the port that is its standard input. Returns only if that fails.
pub(super) fn forward(socket: &OsString) -> EnterError {
    let broken = |cause: io::Error| EnterError::Open(format!("the way to its proxy: {cause}"));
    let listener = match rustix::io::dup(rustix::stdio::stdin()) {
        Ok(port) => TcpListener::from(port),
        Err(errno) => return broken(errno.into()),
    };
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                let socket = socket.clone();
                thread::spawn(move || join(stream, Path::new(&socket)));
            }
            Err(error) => return broken(error),
        }
    }
}

/// Copies both ways until both sides are done.
fn join(inside: TcpStream, socket: &Path) -> io::Result<()> {
    let outside = UnixStream::connect(socket)?;
    let (mut from, mut to) = (inside.try_clone()?, outside.try_clone()?);
    let there = thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        to.shutdown(Shutdown::Write)
    });
    let (mut from, mut to) = (outside, inside);
    let _ = io::copy(&mut from, &mut to);
    to.shutdown(Shutdown::Write)?;
    let _ = there.join();
    Ok(())
}
