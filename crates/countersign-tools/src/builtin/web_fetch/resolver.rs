//! Where the names of hosts lead, and which addresses may be asked.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;

use crate::machine::is_public_address;

/// Finds the addresses of hosts.
///
/// A host is looked up once for every request, and the connection goes to one of the addresses that
/// were checked: a name that leads elsewhere a moment later leads nowhere.
#[async_trait]
pub trait HostResolver: fmt::Debug + Send + Sync + 'static {
    /// Returns all addresses of a host.
    async fn addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;

    /// Returns whether an address may be asked: it is one that everybody can reach.
    fn may_reach(&self, address: IpAddr) -> bool {
        is_public_address(address)
    }
}

/// The system's own way.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl HostResolver for SystemResolver {
    async fn addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}

/// A few hosts that are known beforehand, and no other: for tests.
#[derive(Clone, Debug, Default)]
pub struct FixedResolver {
    hosts: HashMap<String, Vec<SocketAddr>>,
    allowed: Vec<IpAddr>,
}

impl FixedResolver {
    /// Adds a host and where it leads.
    #[must_use]
    pub fn with(mut self, host: &str, addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        self.hosts.insert(host.to_owned(), addresses.into_iter().collect());
        self
    }

    /// Allows an address that is not public.
    #[must_use]
    pub fn allowing(mut self, address: IpAddr) -> Self {
        self.allowed.push(address);
        self
    }
}

#[async_trait]
impl HostResolver for FixedResolver {
    async fn addresses(&self, host: &str, _port: u16) -> io::Result<Vec<SocketAddr>> {
        self.hosts.get(host).cloned().ok_or_else(|| io::Error::other("no such host is known"))
    }

    fn may_reach(&self, address: IpAddr) -> bool {
        is_public_address(address) || self.allowed.contains(&address)
    }
}
