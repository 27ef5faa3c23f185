//! How a server makes itself known: the link it prints, the file for its own user, a warning.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::Context;
use countersign_gate::Gate;
use countersign_server::{HostNames, LocalCredential};

use crate::cli::ServerLocationArgs;
use crate::running_server::{RunningServer, RunningServerFile};
use crate::{data_paths, environment, output};

/// Returns where the page is, for people.
pub(crate) fn page(address: SocketAddr, names: &HostNames, sign_in: Option<&str>) -> String {
    let base = match &names.public_url {
        Some(url) => url.to_string(),
        None => format!("http://{address}"),
    };
    match sign_in {
        Some(secret) => format!("{base}/agent?token={secret}"),
        None => format!("{base}/agent"),
    }
}

/// Leaves word for the commands of the same user: where the server is, and what opens its door.
pub(crate) async fn announce(
    common: &ServerLocationArgs,
    address: SocketAddr,
    gate: &Gate,
) -> anyhow::Result<(LocalCredential, RunningServerFile)> {
    let name = environment::user_name().unwrap_or_else(|| "admin".to_owned());
    let (credential, secret) = LocalCredential::new(name).context("no randomness")?;
    let server_key = data_paths::explain_store_failure(gate.server_identity().await)?.public_key();
    let url = format!("http://{}", reached_from_here(address));
    let running = RunningServer { url, pid: std::process::id(), token: secret.into(), server_key };
    let file = running.write(&data_paths::data_folder(common.data.as_deref())?)?;
    Ok((credential, file))
}

/// Says how to get in, now and later.
pub(crate) fn print_sign_in(page: &str, is_link: bool, common: &ServerLocationArgs) {
    if is_link {
        output::note(&format!("Sign in (works once): {page}"));
    } else {
        output::note(&format!("The page is {page} (it asks for the token)"));
    }
    let data = common.data.as_ref().map(|data| format!(" --data {}", data.display()));
    let data = data.unwrap_or_default();
    output::note(&format!("For another browser or a phone: countersign login{data}"));
}

/// Says that others can read what is sent, where they can.
pub(crate) fn warn_of_plain_http(address: SocketAddr, names: &HostNames) {
    let is_https = names.public_url.as_ref().is_some_and(countersign_server::PublicUrl::is_https);
    if address.ip().is_loopback() || is_https {
        return;
    }
    output::note(&format!(
        "warning: {address} is reached over plain HTTP: whoever is on that network can read tokens and \
         what agents do, and decide in your place.\nhint: put a proxy that speaks TLS in front of it and \
         say --public-url https://…, or listen on 127.0.0.1 and come by ssh"
    ));
}

/// An address that a server listens on, as this machine reaches it.
fn reached_from_here(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_public_address_where_there_is_one() {
        let address = "0.0.0.0:4180".parse().unwrap();
        let mut names = HostNames::default();
        assert_eq!(page(address, &names, Some("s")), "http://0.0.0.0:4180/agent?token=s");
        names.public_url = Some("https://gate.example/".parse().unwrap());
        assert_eq!(page(address, &names, Some("s")), "https://gate.example/agent?token=s");
        assert_eq!(page(address, &names, None), "https://gate.example/agent");
    }

    #[test]
    fn a_server_of_all_addresses_is_reached_by_loopback() {
        let check = |from: &str, to: &str| {
            assert_eq!(reached_from_here(from.parse().unwrap()).to_string(), to);
        };
        check("0.0.0.0:1", "127.0.0.1:1");
        check("[::]:1", "[::1]:1");
        check("192.168.0.7:1", "192.168.0.7:1");
    }
}
