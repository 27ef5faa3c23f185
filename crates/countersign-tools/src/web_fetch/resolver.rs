//! Where the names of hosts lead, and which addresses may be asked.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use countersign_core::UrlHost;

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
        is_public(address)
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
        is_public(address) || self.allowed.contains(&address)
    }
}

/// Returns whether everybody can reach an address, and it is what it looks like.
fn is_public(address: IpAddr) -> bool {
    let url = match address {
        IpAddr::V4(address) => format!("http://{address}/"),
        // An old address in the clothes of a new one: nobody needs it but who hides something.
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => return false,
        IpAddr::V6(address) => format!("http://[{address}]/"),
    };
    matches!(UrlHost::from_url(&url), Ok(UrlHost::Public(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_everybody_can_reach_is_reached() {
        for address in ["93.184.215.14", "1.1.1.1", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "169.254.1.1",
            "100.64.0.1",
            "100.100.100.200",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:1.1.1.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::127.0.0.1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
