//! Addresses that everybody can reach: the only ones a call is ever connected to.

use std::net::IpAddr;

use countersign_core::UrlHost;

/// Returns whether everybody can reach an address, and it is what it looks like.
pub(crate) fn is_public_address(address: IpAddr) -> bool {
    let url = match address {
        IpAddr::V4(address) => format!("http://{address}/"),
        // An old address in the clothes of a new one: nobody needs it but who hides something.
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => return false,
        IpAddr::V6(address) => format!("http://[{address}]/"),
    };
    // The same reading as of a URL, so that an address is public by its number as by its name.
    matches!(UrlHost::from_url(&url), Ok(UrlHost::Public(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_everybody_can_reach_is_reached() {
        for address in ["93.184.215.14", "1.1.1.1", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"] {
            assert!(is_public_address(address.parse().unwrap()), "{address}");
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
            assert!(!is_public_address(address.parse().unwrap()), "{address}");
        }
    }
}
