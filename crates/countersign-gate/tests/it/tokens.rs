//! Tokens, sign-ins and the servers' key: kept as hashes, revoked at once, the same at every server.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::Digest;
use countersign_gate::{
    AskOptions, CallTerms, CreateTokenError, Gate, LocalSubmission, PageSignIn, Rulebook,
    TokenRole, time_after,
};

use crate::world::{World, attended, call, writes};

#[tokio::test]
async fn a_token_is_found_by_its_secret_until_it_is_revoked() {
    let world = World::new().await;
    let (kept, secret) = world.gate.create_token(TokenRole::Approver, Some(" ana ")).await.unwrap();
    assert_eq!((kept.role, kept.name.as_str()), (TokenRole::Approver, "ana"));
    let (other, _) = world.gate.create_token(TokenRole::Agent, None).await.unwrap();
    assert!(other.name.starts_with("agent-"), "{}", other.name);
    let world = world.reopened().await;
    let store = world.gate.store();
    let digest = Digest::for_bytes(secret.as_bytes());
    assert_eq!(store.find_token(&digest).await.unwrap().map(|it| it.id), Some(kept.id));
    assert_eq!(store.find_token(&Digest::for_bytes(b"")).await.unwrap(), None);
    assert!(store.is_token_good(kept.id).await.unwrap());

    // As a command does it, beside the server.
    let (url, clock) = (world.database.url.clone(), world.clock.clone());
    let beside = Gate::open_to_read(url, clock, Arc::new(Rulebook::none())).await.unwrap();
    let now = beside.clock().now();
    assert!(beside.store().revoke_token(kept.id, now).await.unwrap());
    assert!(!beside.store().revoke_token(kept.id, now).await.unwrap());
    assert_eq!(store.find_token(&digest).await.unwrap(), None);
    assert!(!store.is_token_good(kept.id).await.unwrap());
    let listed = store.list_tokens().await.unwrap();
    assert_eq!(listed.iter().map(|it| it.id).collect::<Vec<_>>(), [kept.id, other.id]);
    assert!(listed.iter().any(|it| it.revoked_at.is_some()));
}

#[tokio::test]
async fn a_token_has_a_name_that_people_can_read() {
    let world = World::new().await;
    for bad in ["", "  ", "a\nb", &"x".repeat(81)] {
        let made = world.gate.create_token(TokenRole::Viewer, Some(bad)).await;
        assert!(matches!(made, Err(CreateTokenError::Name)), "{bad:?}");
    }
}

#[tokio::test]
async fn a_sign_in_ends_with_its_time_and_with_its_token() {
    let world = World::new().await;
    let (token, _) = world.gate.create_token(TokenRole::Approver, Some("ana")).await.unwrap();
    let store = world.gate.store();
    let now = world.gate.clock().now();
    let (cookie, page_secret) = (Digest::for_bytes(b"cookie"), Digest::for_bytes(b"page"));
    let sign_in = PageSignIn {
        name: "ana".to_owned(),
        role: TokenRole::Approver,
        token: Some(token.id),
        page_secret,
    };
    let until = time_after(now, Duration::from_mins(1));
    store.keep_sign_in(&cookie, sign_in.clone(), now, until).await.unwrap();
    assert_eq!(store.find_sign_in(&cookie, now).await.unwrap(), Some(sign_in));
    assert_eq!(store.find_sign_in(&cookie, until).await.unwrap(), None);
    store.revoke_token(token.id, now).await.unwrap();
    assert_eq!(store.find_sign_in(&cookie, now).await.unwrap(), None);
}

#[tokio::test]
async fn the_servers_of_a_database_have_one_key() {
    let world = World::new().await;
    let key = world.gate.server_identity().await.unwrap().public_key();
    assert_eq!(world.gate.server_identity().await.unwrap().public_key(), key);
    if let Some(another) = world.another().await {
        assert_eq!(another.server_identity().await.unwrap().public_key(), key);
    }
    let world = world.reopened().await;
    assert_eq!(world.gate.server_identity().await.unwrap().public_key(), key);
}

#[tokio::test]
async fn a_call_remembers_who_handed_it_in() {
    let world = World::new().await;
    let question = AskOptions { submitted_by: Some("t".to_owned()), ..AskOptions::default() };
    let gate = &world.gate;
    let asked = gate
        .submit_local(call("Write"), &CallTerms::new(writes(), attended()).with_question(question))
        .await
        .unwrap();
    let LocalSubmission::Waiting(asked) = asked else { panic!("it asks: {asked:?}") };
    let world = world.reopened().await;
    let kept = world.gate.store().approval(asked.id()).await.unwrap().unwrap();
    assert_eq!(kept.basis().submitted_by.as_deref(), Some("t"));
    assert_eq!(kept.binding(), *kept.digest(), "and that is bound, too");
}
