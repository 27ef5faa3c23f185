//! The address of a server.

use std::net::IpAddr;

use reqwest::Url;

/// Where a server is if nobody says otherwise.
pub const USUAL_SERVER: &str = "http://127.0.0.1:4180";

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress(Url);

/// A text that is no server's address.
#[derive(Debug, thiserror::Error)]
#[error("the server address is invalid: give something like {USUAL_SERVER}")]
pub struct AddressError;

impl ServerAddress {
    /// Reads an address; an empty one is the usual one.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = if text.is_empty() { USUAL_SERVER } else { text.trim() };
        let mut url = Url::parse(text).map_err(|_| AddressError)?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        // People and agents are told the address, so it holds no secret.
        let has_login = !url.username().is_empty() || url.password().is_some();
        if !is_web || has_login {
            return Err(AddressError);
        }
        url.set_query(None);
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// Returns whether it is one of this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }

    /// Returns whether two addresses are one server of this machine.
    pub fn is_same_server(&self, other: &Self) -> bool {
        let (one, two) = (&self.0, &other.0);
        let is_same_host =
            one.host_str() == two.host_str() || (self.is_loopback() && other.is_loopback());
        is_same_host && one.port_or_known_default() == two.port_or_known_default()
    }

    /// Returns the address, for people.
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// Returns the address of something below it; each name is one step, whatever letters it has.
    pub(crate) fn below(&self, path: &[&str]) -> Url {
        let mut url = self.0.clone();
        // A web address always has a path.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_way_to_write_the_server_leads_to_the_project() {
        let project = |server: &str, id: &str| {
            ServerAddress::parse(server).unwrap().below(&["my", "projects", id]).to_string()
        };
        assert_eq!(project("http://h:1", "default"), "http://h:1/my/projects/default");
        assert_eq!(project(" http://h:1/ ", "a/../b"), "http://h:1/my/projects/a%2F..%2Fb");
        assert_eq!(project("https://h/gate/?x=1", "p"), "https://h/gate/my/projects/p");
        assert_eq!(project("", "p"), "http://127.0.0.1:4180/my/projects/p");
        for wrong in ["127.0.0.1:4180", "ftp://h", "h", "http://me:secret@h", "http://me@h"] {
            assert!(ServerAddress::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(ServerAddress::parse("http://h:1/?token=x#y").unwrap().as_str(), "http://h:1");
    }

    #[test]
    fn what_opens_one_server_is_sent_to_no_other() {
        let same = |one: &str, two: &str| {
            ServerAddress::parse(one).unwrap().is_same_server(&ServerAddress::parse(two).unwrap())
        };
        assert!(same("http://127.0.0.1:4180", "http://localhost:4180/"));
        assert!(!same("http://127.0.0.1:4180", "http://127.0.0.1:4181"));
        assert!(!same("http://127.0.0.1:4180", "http://10.0.0.7:4180"));
    }
}
