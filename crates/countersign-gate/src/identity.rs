//! The identity of the servers of a database: an Ed25519 key that signs challenges.
//!
//! A client that knows the public half can tell a server from a process that merely holds its port,
//! before it sends a token. The secret half lies in the database, so that all its servers share it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::gate::Gate;
use crate::store::StoreError;

/// How a public key is written: this, and 64 hexadecimal digits.
const SCHEME: &str = "ed25519:";

/// What every signed text begins with, so that a signature is good for nothing else.
const PURPOSE: &str = "countersign server identity v1";

/// The key of this server, by which it proves who it is.
#[derive(Clone)]
pub struct ServerIdentity(Arc<Ed25519KeyPair>);

/// The public half of a server's key, as clients pin it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPublicKey([u8; 32]);

impl Gate {
    /// Returns the identity of this database's servers; makes it where there is none yet.
    pub async fn server_identity(&self) -> Result<ServerIdentity, StoreError> {
        let seed = random_seed()?;
        let fresh = ServerIdentity::from_seed(&seed)?;
        let (secret, public) = (to_hex(&seed), fresh.public_key().to_string());
        let now = self.inner().clock.now();
        let kept = self.store().keep_server_key(secret, public, now).await?;
        let seed = from_hex(&kept).ok_or_else(|| broken("its secret is not 32 bytes"))?;
        ServerIdentity::from_seed(&seed)
    }
}

impl ServerIdentity {
    fn from_seed(seed: &[u8; 32]) -> Result<Self, StoreError> {
        let pair =
            Ed25519KeyPair::from_seed_unchecked(seed).map_err(|why| broken(why.to_string()))?;
        Ok(Self(Arc::new(pair)))
    }

    /// Returns the half that clients may know.
    pub fn public_key(&self) -> ServerPublicKey {
        let mut key = [0; 32];
        let public = self.0.public_key().as_ref();
        key.iter_mut().zip(public).for_each(|(to, from)| *to = *from);
        ServerPublicKey(key)
    }

    /// Signs a client's challenge: its nonce, the host that it addressed, and the address that this
    /// server listens on. Returns the signature as hexadecimal text.
    pub fn sign_challenge(&self, nonce: &str, host: &str, listens_on: &str) -> String {
        to_hex(self.0.sign(&challenge(nonce, host, listens_on)).as_ref())
    }
}

impl ServerPublicKey {
    /// Returns whether a signature is that of this key on a challenge.
    pub fn verifies(&self, signature: &str, nonce: &str, host: &str, listens_on: &str) -> bool {
        let Some(signature) = from_hex::<64>(signature) else { return false };
        let key = UnparsedPublicKey::new(&ED25519, &self.0);
        key.verify(&challenge(nonce, host, listens_on), &signature).is_ok()
    }
}

impl fmt::Display for ServerPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", to_hex(&self.0))
    }
}

impl FromStr for ServerPublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let key = text.strip_prefix(SCHEME).and_then(from_hex);
        key.map(Self)
            .ok_or_else(|| format!("a server's key is `{SCHEME}` and 64 hexadecimal digits"))
    }
}

/// Returns what is signed: each part on its own line, and no part holds a line break.
fn challenge(nonce: &str, host: &str, listens_on: &str) -> Vec<u8> {
    let parts = [PURPOSE, nonce, host, listens_on].map(|part| part.replace('\n', " "));
    parts.join("\n").into_bytes()
}

fn random_seed() -> Result<[u8; 32], StoreError> {
    let mut seed = [0; 32];
    let filled = SystemRandom::new().fill(&mut seed);
    filled.map_err(|_| broken("the system gives no randomness"))?;
    Ok(seed)
}

fn broken(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::corrupt("server key", why)
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hex = text.len() == 2 * N && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate().filter(|_| is_hex) {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    is_hex.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_good_for_its_challenge_alone() {
        let identity = ServerIdentity::from_seed(&[7; 32]).unwrap();
        let key: ServerPublicKey = identity.public_key().to_string().parse().unwrap();
        let (nonce, host, place) = ("abc", "127.0.0.1:4180", "127.0.0.1:4180");
        let signature = identity.sign_challenge(nonce, host, place);
        assert!(key.verifies(&signature, nonce, host, place));
        assert!(!key.verifies(&signature, "abd", host, place));
        assert!(!key.verifies(&signature, nonce, "127.0.0.1:4181", place));
        assert!(!key.verifies(&signature, nonce, host, "[::1]:4180"));
        assert!(!key.verifies("", nonce, host, place));
        let other = ServerIdentity::from_seed(&[8; 32]).unwrap().public_key();
        assert!(!other.verifies(&signature, nonce, host, place));
    }

    #[test]
    fn what_is_no_key_is_not_read_as_one() {
        for text in ["", "ed25519:", "ed25519:00", "rsa:00", &format!("ed25519:{}", "g".repeat(64))]
        {
            assert!(text.parse::<ServerPublicKey>().is_err(), "{text}");
        }
    }
}
