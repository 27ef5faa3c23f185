//! Typed ids: ours are uuids of version 7, ids that others made are strings.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Returns the id as its maker wrote it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// A workspace whose calls, rules and events belong together.
///
/// The id of a root is a uuid of version 8 that is made of sixteen hexadecimal digits. Those alone were
/// the id once: wherever they are read, they are read as the uuid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ProjectId(String);

impl ProjectId {
    /// Returns the id as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the digits that the id is made of, which seals of the audit are made with; an id that
    /// is not made of digits as it is written.
    pub fn digits(&self) -> Cow<'_, str> {
        let Some(digits) = digits_of(&self.0) else { return Cow::Borrowed(&self.0) };
        let is_whole = uuid_of(&digits).is_some_and(|uuid| uuid == self.0);
        if is_whole { Cow::Owned(digits) } else { Cow::Borrowed(&self.0) }
    }
}

/// Returns the uuid that stands for sixteen hexadecimal digits.
fn uuid_of(digits: &str) -> Option<String> {
    let is_hex = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
    if digits.len() != 16 || !digits.chars().all(is_hex) {
        return None;
    }
    let (low, mid) = (digits.get(..8)?, digits.get(8..12)?);
    let (high, last) = (digits.get(12..15)?, digits.get(15..)?);
    Some(format!("{low}-{mid}-8{high}-8{last}00-000000000000"))
}

/// Returns the digits that stand where those of a uuid of ours would.
fn digits_of(uuid: &str) -> Option<String> {
    let parts = [uuid.get(..8)?, uuid.get(9..13)?, uuid.get(15..18)?, uuid.get(20..21)?];
    Some(parts.concat())
}

impl From<String> for ProjectId {
    fn from(text: String) -> Self {
        Self(uuid_of(&text).unwrap_or(text))
    }
}

impl From<&str> for ProjectId {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<ProjectId> for String {
    fn from(id: ProjectId) -> Self {
        id.0
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

uuid_id! {
    /// One execution of one tool call: `tool_id` on the wire.
    ExecutionId
}
uuid_id! {
    /// One request for leave: `approval_id`, and `request_id` on the WebSocket.
    ApprovalId
}
uuid_id! {
    /// One prompt and all that follows from it.
    RunId
}
uuid_id! {
    /// One rule that the gate keeps.
    RuleId
}
string_id! {
    /// A conversation. Other agents bring their own, so it is any text.
    SessionId
}
string_id! {
    /// The id a model gave its call (`toolu_…`).
    ToolUseId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_project_is_a_uuid_and_its_old_id_is_read_as_it() {
        let id = ProjectId::from("516b303cef39a831");
        assert_eq!(id.as_str(), "516b303c-ef39-8a83-8100-000000000000");
        let uuid: Uuid = id.as_str().parse().unwrap();
        assert_eq!((uuid.get_version_num(), uuid.get_variant()), (8, uuid::Variant::RFC4122));
        assert_eq!(ProjectId::from(id.as_str()), id);
        assert_eq!(id.digits(), "516b303cef39a831");
        let read: ProjectId = serde_json::from_str("\"516b303cef39a831\"").unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), format!("\"{id}\""));
        for other in ["default", "library", "516B303CEF39A831", "516b303c-ef39-8a83-8100-1"] {
            let id = ProjectId::from(other);
            assert_eq!((id.as_str(), &*id.digits()), (other, other));
        }
    }
}
