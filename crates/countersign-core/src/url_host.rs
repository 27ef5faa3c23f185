//! Hosts: whom a URL talks to, and how near to home that is.
//!
//! Names are not looked up: what a name leads to is known to nobody before it is asked.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

/// Where clouds keep the credentials of their machines.
const METADATA_NAMES: &[&str] = &[
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.tencentyun.com",
];
const METADATA_V4: &[[u8; 4]] = &[
    [169, 254, 169, 254],
    [169, 254, 170, 2],
    [169, 254, 170, 23],
    [100, 100, 100, 200],
    [192, 0, 0, 192],
];
const METADATA_V6: &[[u16; 8]] = &[
    [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254],
    [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23],
    [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254],
];

/// Endings of names that mean another machine on every network.
const PRIVATE_ENDINGS: &[&str] =
    &["localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "arpa"];

/// Whom a URL talks to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlHost {
    /// A name, in ASCII and lower case, without the dot at its end.
    Named(String),
    /// An address that everyone can reach.
    Public(IpAddr),
    /// This machine, or one on the same network, as its address or name.
    Private(String),
    /// The endpoint that hands a cloud machine its credentials.
    Metadata(String),
}

/// Why a URL names no host that could be talked to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Programs disagree on what such characters mean in a URL.
    #[error("the URL holds {0}: programs read such URLs differently; write it without")]
    Character(&'static str),
    /// Something else than the web.
    #[error("`{0}` is not `http` or `https`: only the web is fetched")]
    Scheme(String),
    /// A name before an `@` looks like the host.
    #[error("the URL holds a user name or password before `@`; leave it out")]
    UserInfo,
    /// It is no URL.
    #[error("this is not a URL ({0}); write one like `https://example.com/page`")]
    Malformed(String),
}

impl UrlHost {
    /// Returns whom a URL of the web talks to.
    ///
    /// What parsers are known to disagree on is refused, not guessed.
    pub fn from_url(text: &str) -> Result<Self, UrlError> {
        if let Some(what) = text.chars().find_map(contested) {
            return Err(UrlError::Character(what));
        }
        let url = Url::parse(text).map_err(|error| UrlError::Malformed(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(url.scheme().to_owned()));
        }
        // `https:example.com` is mended by some and refused by others.
        let rest = text.get(url.scheme().len()..).unwrap_or_default();
        let Some(authority) = rest.strip_prefix("://") else {
            return Err(UrlError::Malformed("`://` is missing after the scheme".to_owned()));
        };
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(UrlError::UserInfo);
        }
        match url.host() {
            _ if authority.is_empty() => Err(UrlError::Malformed("it names no host".to_owned())),
            None => Err(UrlError::Malformed("it names no host".to_owned())),
            Some(url::Host::Domain(name)) => Self::from_name(name),
            Some(url::Host::Ipv4(address)) => Ok(Self::from_v4(address, address.to_string())),
            Some(url::Host::Ipv6(address)) => Ok(Self::from_v6(address)),
        }
    }

    fn from_name(name: &str) -> Result<Self, UrlError> {
        let name = name.to_lowercase();
        let name = name.strip_suffix('.').unwrap_or(&name).to_owned();
        if name.is_empty() || name.split('.').any(str::is_empty) {
            return Err(UrlError::Malformed("a part of the host's name is empty".to_owned()));
        }
        if is_metadata(&name) {
            return Ok(Self::Metadata(name));
        }
        let ending = name.rsplit('.').next().unwrap_or_default();
        // A name without a dot is one of the own network.
        let private = !name.contains('.') || PRIVATE_ENDINGS.contains(&ending);
        Ok(if private { Self::Private(name) } else { Self::Named(name) })
    }

    fn from_v4(address: Ipv4Addr, shown: String) -> Self {
        if METADATA_V4.contains(&address.octets()) {
            Self::Metadata(shown)
        } else if is_private_v4(address) {
            Self::Private(shown)
        } else {
            Self::Public(address.into())
        }
    }

    fn from_v6(address: Ipv6Addr) -> Self {
        let shown = format!("[{address}]");
        if METADATA_V6.contains(&address.segments()) {
            Self::Metadata(shown)
        } else if is_private_v6(address) {
            Self::Private(shown)
        } else if let Some(inner) = embedded_v4(address) {
            match Self::from_v4(inner, shown) {
                Self::Public(_) => Self::Public(address.into()),
                near => near,
            }
        } else {
            Self::Public(address.into())
        }
    }
}

impl fmt::Display for UrlHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) | Self::Private(name) | Self::Metadata(name) => f.write_str(name),
            Self::Public(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Public(address) => address.fmt(f),
        }
    }
}

/// Returns what a character is called that has no business in a URL.
fn contested(character: char) -> Option<&'static str> {
    match character {
        '\0' => Some("a NUL character"),
        '\\' => Some("a backslash"),
        _ if character.is_whitespace() => Some("white space"),
        _ if character.is_control() => Some("a control character"),
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}'
        | '\u{ad}' => Some("an invisible character"),
        _ => None,
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        // This network, the carrier's own, the registry's own, for benchmarks, for nobody.
        || first == 0
        || (first == 100 && (64..128).contains(&second))
        || (first == 192 && second == 0 && third == 0)
        || (first == 198 && matches!(second, 18 | 19))
        || first >= 240
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let site_local = address.segments().first().is_some_and(|first| first & 0xffc0 == 0xfec0);
    address.is_loopback()
        || address.is_unspecified()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || address.is_multicast()
        || site_local
}

/// Returns the old address that a new one leads to: mapped, compatible, translated, tunnelled.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(of(high, low))
        }
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

/// Returns whether a host, as a command line writes it (with a port, in brackets, as a number), is
/// an endpoint that hands out credentials.
pub(crate) fn is_metadata(host: &str) -> bool {
    let host = host.trim_matches('.');
    let bracketed =
        host.find('[').zip(host.find(']')).and_then(|(from, to)| host.get(from + 1..to));
    let v6 = bracketed.unwrap_or(host).parse::<Ipv6Addr>().ok();
    let v4 = v6.map_or_else(|| loose_v4(host.split(':').next().unwrap_or(host)), embedded_v4);
    METADATA_NAMES.iter().any(|name| host.split(':').next() == Some(name))
        || v4.is_some_and(|address| METADATA_V4.contains(&address.octets()))
        || v6.is_some_and(|address| METADATA_V6.contains(&address.segments()))
}

/// Reads an address as the C library does: fewer parts, octal, hexadecimal.
fn loose_v4(text: &str) -> Option<Ipv4Addr> {
    let number = |part: &str| match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if part.len() > 1 && part.starts_with('0') => u32::from_str_radix(part, 8).ok(),
        None => part.parse().ok(),
    };
    let parts: Vec<u32> = text.split('.').map(number).collect::<Option<_>>()?;
    let (last, front) = parts.split_last()?;
    let shift = 8 * u32::try_from(4_usize.checked_sub(front.len())?).ok()?;
    let mut address = 0_u32;
    for part in front {
        address = address.checked_shl(8)? | u32::from(u8::try_from(*part).ok()?);
    }
    let fits = shift == 32 || (shift > 0 && *last >> shift == 0);
    fits.then(|| Ipv4Addr::from(address.checked_shl(shift).unwrap_or(0) | last))
}

#[cfg(test)]
mod tests;
