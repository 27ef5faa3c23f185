//! The names of a server: what its links say, and which hosts beside its own addresses it answers to.

use std::fmt;
use std::str::FromStr;

use axum::http::Uri;
use axum::http::uri::Scheme;

/// The address by which people reach the server, where that is not the one it listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    is_https: bool,
    // INVARIANT: a name or an address, and a port unless it is the scheme's own; no user, no path.
    authority: String,
}

impl PublicUrl {
    /// Returns whether nobody on the way can read what is sent.
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Returns whether a `Host` is this one; the scheme's own port may be named or not.
    fn is_host(&self, host: &str) -> bool {
        let port = if self.is_https { ":443" } else { ":80" };
        let host = host.strip_suffix(port).unwrap_or(host);
        host.eq_ignore_ascii_case(&self.authority)
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_https { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority)
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |why: &str| format!("`{text}` {why}; say something like https://gate.example");
        let uri: Uri = text.parse().map_err(|_| bad("is not an address"))?;
        let is_https = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(bad("starts neither with http:// nor with https://")),
        };
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        if authority.is_empty() || authority.contains('@') {
            return Err(bad("names no host, or a user"));
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(bad("has a path: the page has to be at the root of its host"));
        }
        let port = if is_https { ":443" } else { ":80" };
        let authority = authority.strip_suffix(port).unwrap_or(&authority).to_ascii_lowercase();
        Ok(Self { is_https, authority })
    }
}

/// A name that the server answers to: at the port it listens on, unless another is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName {
    name: String,
    port: Option<u16>,
}

impl FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a name of a host, such as mybox.local or mybox:8080");
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().map_err(|_| bad())?)),
            None => (text, None),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_label = |label: &str| !label.is_empty() && label.chars().all(is_plain);
        if name.len() > 253 || !name.split('.').all(is_label) {
            return Err(bad());
        }
        Ok(Self { name: name.to_ascii_lowercase(), port })
    }
}

/// The names that a server has beside its own addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostNames {
    /// Where its links lead.
    pub public_url: Option<PublicUrl>,
    /// What else it answers to.
    pub allowed: Vec<HostName>,
}

impl HostNames {
    /// Returns whether a `Host` is one of these.
    pub(crate) fn include(&self, host: &str, own_port: u16) -> bool {
        let is_allowed = |known: &HostName| {
            let (name, port) = match host.rsplit_once(':') {
                Some((name, port)) => (name, port.parse().ok()),
                None => (host, None),
            };
            let is_port = match known.port {
                Some(known) => port == Some(known),
                // A proxy in front of it may hold the usual port of its scheme.
                None => port.is_none() || port == Some(own_port),
            };
            is_port && name.eq_ignore_ascii_case(&known.name)
        };
        self.public_url.as_ref().is_some_and(|url| url.is_host(host))
            || self.allowed.iter().any(is_allowed)
    }

    /// Returns whether a request that was meant for a `Host` came over TLS.
    pub(crate) fn is_https(&self, host: &str) -> bool {
        self.public_url.as_ref().is_some_and(|url| url.is_https && url.is_host(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_scheme_and_host_and_nothing_else() {
        let read = |text: &str| text.parse::<PublicUrl>().map(|url| url.to_string());
        assert_eq!(read("https://Gate.example/").unwrap(), "https://gate.example");
        assert_eq!(read("https://gate.example:443").unwrap(), "https://gate.example");
        assert_eq!(read("http://mybox.local:4180").unwrap(), "http://mybox.local:4180");
        for bad in ["gate.example", "ftp://x", "https://x/path", "https://u@x", "https://x?y", ""] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_names_that_were_said_are_answered_to() {
        let names = HostNames {
            public_url: Some("https://gate.example".parse().unwrap()),
            allowed: vec!["mybox.local".parse().unwrap(), "other:8080".parse().unwrap()],
        };
        for good in
            ["gate.example", "GATE.example:443", "mybox.local:4180", "mybox.local", "other:8080"]
        {
            assert!(names.include(good, 4180), "{good}");
        }
        for bad in ["gate.example:80", "evil.gate.example", "mybox.local:1", "other", "other:4180"]
        {
            assert!(!names.include(bad, 4180), "{bad}");
        }
        for bad in ["", "*", "*.example", "a b", "a/b", "a:b", "x..y", ".", "user@host"] {
            assert!(bad.parse::<HostName>().is_err(), "{bad}");
        }
    }
}
