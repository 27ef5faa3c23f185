//! Who makes a request, and what a role is good for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use countersign_core::Execution;
use countersign_gate::TokenRole;
use uuid::Uuid;

use crate::error::ApiError;

/// The least that a route or a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeastRole {
    /// No credential.
    Nobody,
    /// The page's cookie alone: what the page is made of, and no data.
    PageCookie,
    /// Any role; of an agent only what is its own.
    Anybody,
    /// Reading: viewers, approvers and admins.
    Viewer,
    /// Handing in and running calls: agents (their own), approvers and admins.
    Agent,
    /// Starting, stopping and deciding: approvers and admins.
    Approver,
    /// Rules and settings: admins.
    Admin,
}

impl LeastRole {
    pub(crate) fn admits(self, role: TokenRole) -> bool {
        match self {
            Self::Nobody | Self::PageCookie | Self::Anybody => true,
            Self::Viewer => role != TokenRole::Agent,
            Self::Agent => role != TokenRole::Viewer,
            Self::Approver => matches!(role, TokenRole::Approver | TokenRole::Admin),
            Self::Admin => role == TokenRole::Admin,
        }
    }

    /// Returns the role to ask for.
    fn name(self) -> &'static str {
        match self {
            Self::Nobody | Self::PageCookie | Self::Anybody | Self::Viewer => "viewer",
            Self::Agent => "agent",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }
}

/// Who makes a request: the holder of a token, or somebody who signed in on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AuthenticatedCaller {
    /// The name that decisions carry.
    pub(crate) name: String,
    pub(crate) role: TokenRole,
    /// The token; none for the server's own.
    pub(crate) token: Option<Uuid>,
}

impl AuthenticatedCaller {
    /// Returns the holder of the server's own token or link.
    pub(crate) fn admin() -> Self {
        Self { name: "admin".to_owned(), role: TokenRole::Admin, token: None }
    }

    /// Returns why the caller may not do something, if so.
    pub(crate) fn check_role(&self, least: LeastRole) -> Result<(), ApiError> {
        if least.admits(self.role) {
            return Ok(());
        }
        let (needed, name, role) = (least.name(), &self.name, self.role);
        let why = format!("this needs the role `{needed}`, and `{name}` has the role `{role}`");
        let hint = "use a token of that role: `countersign token create --role ROLE`";
        Err(ApiError { hint: Some(hint), ..ApiError::forbidden("role", why) })
    }

    /// Returns whether the caller sees nothing but its own calls.
    pub(crate) fn is_agent(&self) -> bool {
        self.role == TokenRole::Agent
    }

    /// Returns by what a call remembers who handed it in.
    pub(crate) fn submitter_id(&self) -> String {
        self.token.map_or_else(|| self.name.clone(), |id| id.to_string())
    }

    /// Returns whether the caller handed a call in.
    pub(crate) fn has_submitted(&self, call: &Execution) -> bool {
        call.basis().submitted_by.as_deref() == Some(self.submitter_id().as_str())
    }

    /// Returns the name under which calls are lent to one of the caller's clients.
    ///
    /// An agent's begins with its token, so that no other token can pass for it.
    pub(crate) fn holder_name(&self, client_id: &str) -> String {
        match self.token {
            Some(token) if self.is_agent() => format!("{token}:{client_id}"),
            _ => client_id.to_owned(),
        }
    }

    /// Returns whether a call is the caller's to look at: handed in by it, or lent to one of its clients.
    pub(crate) fn may_see(&self, call: &Execution) -> bool {
        let is_lent = || {
            let holder = call.lease().map(|lease| lease.holder.as_str()).unwrap_or_default();
            holder.starts_with(&self.holder_name(""))
        };
        !self.is_agent() || self.has_submitted(call) || is_lent()
    }
}

/// The name of whoever showed a credential that is good for the route.
pub(crate) struct SignedInPerson(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for AuthenticatedCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(ApiError::not_signed_in)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for SignedInPerson {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        AuthenticatedCaller::from_request_parts(parts, state).await.map(|caller| Self(caller.name))
    }
}
