use super::*;

fn document() -> Value {
    serde_json::to_value(openapi::document()).unwrap()
}

#[test]
fn every_operation_and_every_event_has_its_place_and_its_line_to_try() {
    let (document, page) = (document(), PAGE.as_str());
    let mut count = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(page.contains(&format!("<section id=\"{id}\"")), "{method} {path}");
            assert!(page.contains(&format!("href=\"#{id}\"")), "{method} {path}");
            count += 1;
        }
    }
    assert_eq!(page.matches("<h4>Try it</h4>").count(), count);
    let events = schema::events(&document);
    assert!(events.len() > 15, "{}", events.len());
    for (name, _) in events {
        assert!(page.contains(&format!("<section id=\"event-{name}\"")), "{name}");
    }
}

#[test]
fn every_link_leads_somewhere_and_nothing_comes_from_elsewhere() {
    let page = PAGE.as_str();
    for link in page.split("href=\"").skip(1) {
        let to = link.split('"').next().unwrap();
        match to.strip_prefix('#') {
            Some(id) => assert!(page.contains(&format!("id=\"{id}\"")), "{to}"),
            None => assert!(["/docs/style.css", "data:,"].contains(&to), "{to}"),
        }
    }
    assert!(!page.contains("<script") && !page.contains(" style=") && !page.contains(" src="));
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
}

#[test]
fn what_is_written_in_a_description_is_text() {
    assert_eq!(
        html::render_inline("a <b> `c & <d>` e"),
        "a &lt;b&gt; <code>c &amp; &lt;d&gt;</code> e"
    );
}
