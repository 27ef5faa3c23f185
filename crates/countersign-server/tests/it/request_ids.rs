//! Request ids: every answer carries one, the client's own where it can be told on.

use reqwest::{Method, Response};

use crate::world::{TOKEN, World};

const NOTHING: &str = "[[script]]\n[[script.turn]]\nsay = 'hello'\n";

#[tokio::test]
async fn the_id_of_a_client_comes_back_with_every_answer() {
    let world = World::playing(NOTHING).await;
    for (method, path, status) in [
        (Method::GET, "/healthz", 200),
        (Method::GET, "/my/projects/default/sessions", 200),
        (Method::GET, "/my/projects/default/approvals/none", 404),
        (Method::GET, "/nothing/here", 404),
        (Method::DELETE, "/healthz", 405),
        (Method::POST, "/my/projects/default/chat/messages", 400),
    ] {
        let answer = ask(&world, method, path, "build-7.retry_2").await;
        assert_eq!(answer.status(), status, "{path}");
        assert_eq!(request_id(&answer), "build-7.retry_2", "{path}");
    }
    let url = world.url("/my/projects/default/sessions");
    let refused = world.http.get(&url).header("x-request-id", "one").send().await.unwrap();
    assert_eq!((refused.status().as_u16(), request_id(&refused).as_str()), (401, "one"));
    let elsewhere = world.http.get(&url).header("host", "evil.example").send().await.unwrap();
    assert_eq!((elsewhere.status().as_u16(), request_id(&elsewhere).len()), (403, 36));
}

#[tokio::test]
async fn an_id_that_is_missing_or_malformed_is_replaced_by_a_new_one() {
    let world = World::playing(NOTHING).await;
    let mut seen = Vec::new();
    for given in ["", "two words", "a\"b", "{}", &"a".repeat(129), "<script>"] {
        let answer = ask(&world, Method::GET, "/healthz", given).await;
        assert_eq!(answer.status(), 200, "{given}");
        seen.push(request_id(&answer));
    }
    seen.push(request_id(&world.http.get(world.url("/healthz")).send().await.unwrap()));
    // They are of version 7, so they sort by time.
    assert!(seen.iter().all(|id| id.len() == 36 && id.as_bytes()[14] == b'7'), "{seen:?}");
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
}

async fn ask(world: &World, method: Method, path: &str, id: &str) -> Response {
    let request = world.http.request(method, world.url(path)).bearer_auth(TOKEN);
    request.header("x-request-id", id).send().await.unwrap()
}

fn request_id(answer: &Response) -> String {
    let ids: Vec<_> = answer.headers().get_all("x-request-id").iter().collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    ids[0].to_str().unwrap().to_owned()
}
