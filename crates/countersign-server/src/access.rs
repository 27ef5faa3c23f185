//! Who may do what: one table for the routes, one for the commands of the socket.
//!
//! [`check_access`] runs before every handler. A route that the table does not have answers nobody, so a
//! new one cannot be forgotten: it does not work until somebody has said whom it is for.

use axum::extract::{MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use countersign_api::socket::PATH;
use countersign_api::socket::command::ClientCommand;

use crate::app::App;
use crate::caller::{AuthenticatedCaller, LeastRole};
use crate::error::ApiError;

use LeastRole::{Admin, Agent, Anybody, Approver, Nobody, PageCookie, Viewer};

/// Every route, and whom it is for. `GET` stands for `HEAD`, too.
const ROUTES: &[(&str, &[(Method, LeastRole)])] = &[
    ("/healthz", &[(Method::GET, Nobody)]),
    ("/readyz", &[(Method::GET, Nobody)]),
    ("/metrics", &[(Method::GET, Nobody)]),
    ("/openapi.json", &[(Method::GET, Nobody)]),
    ("/docs", &[(Method::GET, Nobody)]),
    ("/docs/style.css", &[(Method::GET, Nobody)]),
    ("/identity", &[(Method::POST, Nobody)]),
    ("/sign-in", &[(Method::GET, Nobody), (Method::POST, Nobody)]),
    ("/sign-in/style.css", &[(Method::GET, Nobody)]),
    ("/sign-in/links", &[(Method::POST, Admin)]),
    ("/", &[(Method::GET, PageCookie)]),
    ("/agent", &[(Method::GET, PageCookie)]),
    ("/agent/{session}", &[(Method::GET, PageCookie)]),
    ("/history", &[(Method::GET, PageCookie)]),
    ("/settings", &[(Method::GET, PageCookie)]),
    ("/rules", &[(Method::GET, PageCookie)]),
    ("/rules/{view}", &[(Method::GET, PageCookie)]),
    ("/assets/{*path}", &[(Method::GET, PageCookie)]),
    ("/my/projects", &[(Method::GET, Viewer), (Method::POST, Admin)]),
    ("/my/approvals", &[(Method::GET, Viewer)]),
    ("/my/projects/{project_id}", &[(Method::GET, Viewer), (Method::PATCH, Admin)]),
    ("/my/projects/{project_id}/chat/messages", &[(Method::POST, Approver)]),
    ("/my/projects/{project_id}/chat/stream", &[(Method::GET, Anybody)]),
    ("/my/projects/{project_id}/sessions", &[(Method::GET, Viewer)]),
    ("/my/projects/{project_id}/sessions/{session_id}/messages", &[(Method::GET, Viewer)]),
    ("/my/projects/{project_id}/sessions/{session_id}/interrupt", &[(Method::POST, Approver)]),
    ("/my/projects/{project_id}/approvals", &[(Method::GET, Viewer)]),
    ("/my/projects/{project_id}/approvals/{approval_id}", &[(Method::GET, Viewer)]),
    ("/my/projects/{project_id}/approvals/{approval_id}/approve", &[(Method::POST, Approver)]),
    ("/my/projects/{project_id}/approvals/{approval_id}/reject", &[(Method::POST, Approver)]),
    ("/my/projects/{project_id}/approvals/{approval_id}/diff", &[(Method::GET, Viewer)]),
    ("/my/projects/{project_id}/tools/available", &[(Method::GET, Anybody)]),
    ("/my/projects/{project_id}/tools/executions", &[(Method::GET, Viewer)]),
    ("/my/projects/{project_id}/tools/calls", &[(Method::POST, Agent)]),
    ("/my/projects/{project_id}/tools/{tool_id}", &[(Method::GET, Anybody)]),
    ("/my/projects/{project_id}/tools/{tool_id}/result", &[(Method::POST, Agent)]),
    ("/my/projects/{project_id}/tools/{tool_id}/lease", &[(Method::POST, Agent)]),
    ("/my/projects/{project_id}/tools/{tool_id}/preimage", &[(Method::POST, Agent)]),
    (
        "/my/projects/{project_id}/tools/{tool_id}/undo",
        &[(Method::GET, Viewer), (Method::POST, Approver)],
    ),
    (
        "/my/projects/{project_id}/runs/{run_id}/undo",
        &[(Method::GET, Viewer), (Method::POST, Approver)],
    ),
    ("/my/projects/{project_id}/rules", &[(Method::GET, Viewer), (Method::PUT, Admin)]),
    ("/my/projects/{project_id}/rules/check", &[(Method::POST, Viewer)]),
    ("/my/projects/{project_id}/rules/simulate", &[(Method::POST, Viewer)]),
    ("/my/projects/{project_id}/rules/trust", &[(Method::POST, Admin)]),
    ("/my/projects/{project_id}/rules/{rule_id}", &[(Method::DELETE, Admin)]),
    ("/my/projects/{project_id}/audit", &[(Method::GET, Viewer)]),
    (PATH, &[(Method::GET, Viewer)]),
];

/// Returns what a command of the socket needs.
pub(crate) fn least_role_for_command(command: &ClientCommand) -> LeastRole {
    match command {
        ClientCommand::Resume(_) => Viewer,
        ClientCommand::Run(_)
        | ClientCommand::ToolApprovalResponse(_)
        | ClientCommand::Cancel(_)
        | ClientCommand::ApproveAll(_) => Approver,
    }
}

/// Lets a request through to its handler if its credential is good for it, or answers why not.
pub(crate) async fn check_access(State(app): State<App>, request: Request, next: Next) -> Response {
    // Nothing is at an address that matches no route, for anybody.
    let Some(route) = request.extensions().get::<MatchedPath>() else {
        return next.run(request).await;
    };
    let least = match least_role_for_route(request.method(), route.as_str()) {
        Ok(least) => least,
        Err(refused) => return *refused,
    };
    let (mut parts, body) = request.into_parts();
    match authenticate(&app, &parts, least).await {
        Ok(Some(caller)) => drop(parts.extensions.insert(caller)),
        Ok(None) => {}
        Err(refused) => return refused.into_response(),
    }
    next.run(Request::from_parts(parts, body)).await
}

async fn authenticate(
    app: &App,
    Parts { headers, uri, .. }: &Parts,
    least: LeastRole,
) -> Result<Option<AuthenticatedCaller>, ApiError> {
    match least {
        Nobody => Ok(None),
        // The handlers of the page say how to sign in.
        PageCookie => app.sign_ins.page_visitor(headers, app.port).await,
        Anybody | Viewer | Agent | Approver | Admin => {
            let caller = app.sign_ins.caller(headers, uri, app.port).await?;
            caller.check_role(least)?;
            Ok(Some(caller))
        }
    }
}

/// Returns whom a route is for; the error is the answer to a request for one that is for nobody.
fn least_role_for_route(method: &Method, route: &str) -> Result<LeastRole, Box<Response>> {
    let Some((_, methods)) = ROUTES.iter().find(|(path, _)| *path == route) else {
        tracing::error!(route, "a route has no entry in the table of roles");
        let why = "this address is for nobody: it has no entry in the table of roles";
        return Err(Box::new(ApiError::internal("no_role", why).into_response()));
    };
    let method = if method == Method::HEAD { &Method::GET } else { method };
    if let Some((_, least)) = methods.iter().find(|(known, _)| known == method) {
        return Ok(*least);
    }
    let mut refused = ApiError::wrong_method().into_response();
    let allowed: Vec<_> = methods.iter().map(|(known, _)| known.as_str()).collect();
    if let Ok(allowed) = HeaderValue::from_str(&allowed.join(",").replace("GET", "GET,HEAD")) {
        refused.headers_mut().insert(header::ALLOW, allowed);
    }
    Err(Box::new(refused))
}

#[cfg(test)]
mod tests {
    use countersign_gate::TokenRole;

    use super::*;

    #[test]
    fn every_operation_of_the_api_says_whom_it_is_for() {
        let document = crate::openapi();
        let mut seen = 0;
        for (path, item) in &document.paths.paths {
            let methods = [
                (Method::GET, &item.get),
                (Method::POST, &item.post),
                (Method::PUT, &item.put),
                (Method::PATCH, &item.patch),
                (Method::DELETE, &item.delete),
            ];
            for (method, _) in methods.into_iter().filter(|(_, operation)| operation.is_some()) {
                assert!(least_role_for_route(&method, path).is_ok(), "{method} {path}");
                seen += 1;
            }
        }
        assert!(seen > 30, "{seen}");
    }

    #[test]
    fn roles_admit_what_their_names_say() {
        let check = |least: LeastRole, roles: &[TokenRole]| {
            for role in TokenRole::ALL {
                assert_eq!(least.admits(role), roles.contains(&role), "{least:?} {role}");
            }
        };
        check(Anybody, &TokenRole::ALL);
        check(Viewer, &[TokenRole::Viewer, TokenRole::Approver, TokenRole::Admin]);
        check(Agent, &[TokenRole::Agent, TokenRole::Approver, TokenRole::Admin]);
        check(Approver, &[TokenRole::Approver, TokenRole::Admin]);
        check(Admin, &[TokenRole::Admin]);
    }

    #[test]
    fn only_looking_is_open_to_those_who_only_look() {
        for (path, methods) in ROUTES {
            for (method, least) in *methods {
                let changes = *method != Method::GET;
                let only_reads = path.ends_with("/check") || path.ends_with("/simulate");
                if changes && !only_reads && *least != Nobody {
                    assert!(!least.admits(TokenRole::Viewer), "{method} {path}");
                }
                let is_own = path.contains("/tools/") || path.ends_with("/chat/stream");
                let needs_role = !matches!(least, Nobody | PageCookie);
                if least.admits(TokenRole::Agent) && needs_role {
                    assert!(is_own, "{method} {path}");
                }
            }
        }
    }

    #[test]
    fn a_route_without_an_entry_answers_nobody() {
        assert!(least_role_for_route(&Method::GET, "/my/secrets").is_err());
        assert!(least_role_for_route(&Method::DELETE, "/my/projects").is_err());
        assert_eq!(least_role_for_route(&Method::HEAD, "/my/projects").ok(), Some(Viewer));
    }
}
