//! The client's socket against the real server, as a program uses it.

use countersign_api::approval_request::ApprovalRequest;
use countersign_api::socket::command::{
    ApprovalResponse, ClientCommand, ResumeCommand, RunCommand,
};
use countersign_api::socket::message::{
    MessageBody, RunOutcome, RunResult, ServerMessage, SystemMessage,
};
use countersign_client::{
    ApiClient, ApiClientError, ServerAddress, ServerCredential, ServerSocket, SocketMessage,
};

use crate::world::{Serving, TOKEN};

#[tokio::test]
async fn a_program_approves_what_it_saw_and_resumes_where_it_was() {
    let serving = demo();
    let mut socket = client(&serving, TOKEN).open_socket().await.unwrap();
    let prompt = "Create a new file called a.txt with the content \"one\"";
    socket.send(&ClientCommand::Run(RunCommand::new(prompt))).await.unwrap();
    let (request, asked_at) = next_request(&mut socket).await;
    assert_eq!(request.tool_name, "Write");
    socket.close().await.unwrap();

    let mut socket = client(&serving, TOKEN).open_socket().await.unwrap();
    let resume = ResumeCommand { after: asked_at.unwrap() - 1, session_id: None };
    socket.send(&ClientCommand::Resume(resume)).await.unwrap();
    let (again, _) = next_request(&mut socket).await;
    assert_eq!(again.request_id, request.request_id);
    let approval = ApprovalResponse::approve(&again);
    socket.send(&ClientCommand::ToolApprovalResponse(approval)).await.unwrap();
    let outcome = next_outcome(&mut socket).await;
    assert!(matches!(outcome, RunOutcome::Success { .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_socket_is_refused_as_other_requests_are() {
    let serving = demo();
    let refused = client(&serving, "another-token").open_socket().await.err().unwrap();
    let ApiClientError::Refused(refusal) = refused else { panic!("{refused:?}") };
    assert_eq!((refusal.status, refusal.code.as_str()), (401, "not_signed_in"));
}

#[tokio::test]
async fn a_server_that_stops_ends_its_sockets() {
    let serving = demo();
    let mut socket = client(&serving, TOKEN).open_socket().await.unwrap();
    let resume = ResumeCommand { after: 0, session_id: None };
    socket.send(&ClientCommand::Resume(resume)).await.unwrap();
    let first = next_message(&mut socket).await.unwrap();
    assert!(matches!(first.body, MessageBody::System(SystemMessage::Resumed(_))), "{first:?}");
    let stopping = tokio::task::spawn_blocking(move || serving.stop());
    while next_message(&mut socket).await.is_some() {}
    assert!(stopping.await.unwrap().0.success());
}

async fn next_request(socket: &mut ServerSocket) -> (ApprovalRequest, Option<u64>) {
    loop {
        let message = next_message(socket).await.unwrap();
        if let MessageBody::ToolApprovalRequest(request) = message.body {
            return (*request, message.place.seq);
        }
    }
}

async fn next_outcome(socket: &mut ServerSocket) -> RunOutcome {
    loop {
        let message = next_message(socket).await.unwrap();
        if let MessageBody::Result(RunResult { outcome, .. }) = message.body {
            return outcome;
        }
    }
}

/// Returns the next message, which is one of the contract; none at the end.
async fn next_message(socket: &mut ServerSocket) -> Option<ServerMessage> {
    match socket.next().await.unwrap()? {
        SocketMessage::Known(message) => Some(*message),
        SocketMessage::Unknown(message) => panic!("the contract does not know {message}"),
    }
}

fn demo() -> Serving {
    Serving::start(&["demo", "--no-open", "--listen", "127.0.0.1:0", "--token", TOKEN], &[])
}

fn client(serving: &Serving, token: &str) -> ApiClient {
    let address = ServerAddress::parse(&serving.url).unwrap();
    let credential = ServerCredential { token: token.into(), server_key: None };
    ApiClient::new(address, "default", Some(credential)).unwrap()
}
