//! HTML as Markdown, whatever somebody may have written into it.
//!
//! The tree is walked by recursion, so one that is too deep is not walked, and the walk has a thread of
//! its own with room for those that are not.

use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use htmd::{HtmlToMarkdown, Node};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How deep a tree is walked; browsers stop at 512.
const DEEPEST: usize = 1_000;

/// A longer page is shown by its text.
const LONGEST: usize = 2 * 1024 * 1024;

/// How many are walked at once. One that was made to take for ever holds a place until it is done.
const AT_ONCE: usize = 4;

static WALKED: AtomicUsize = AtomicUsize::new(0);

const STACK: usize = 64 * 1024 * 1024;

/// How long it may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// What no reader sees.
const SKIPPED: &[&str] =
    &["script", "style", "head", "svg", "iframe", "template", "canvas", "object"];

/// Returns HTML as Markdown; where that cannot be done, its bare text.
pub(super) async fn html_to_markdown(html: String) -> String {
    let (tell, told) = oneshot::channel();
    let bare = bare(&html);
    let Some(place) = ConversionSlot::take().filter(|_| html.len() <= LONGEST) else { return bare };
    let work = move || {
        let _place = place;
        // Nobody waits any more: then nobody needs it.
        let _ = tell.send(convert(&html));
    };
    if thread::Builder::new().stack_size(STACK).spawn(work).is_err() {
        return bare;
    }
    match timeout(TIME_LIMIT, told).await {
        Ok(Ok(Some(markdown))) => markdown,
        Ok(Ok(None) | Err(_)) | Err(_) => bare,
    }
}

/// Leave to walk one page.
struct ConversionSlot;

impl ConversionSlot {
    fn take() -> Option<Self> {
        let more = |walked: usize| (walked < AT_ONCE).then_some(walked + 1);
        WALKED.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Self)
    }
}

impl Drop for ConversionSlot {
    fn drop(&mut self) {
        WALKED.fetch_sub(1, Ordering::AcqRel);
    }
}

fn convert(html: &str) -> Option<String> {
    let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
    let tree = converter.html_to_tree(html).ok()?;
    is_shallow(&tree).then(|| converter.tree_to_markdown(&tree))
}

fn is_shallow(tree: &Rc<Node>) -> bool {
    let mut ahead = vec![(Rc::clone(tree), 0)];
    while let Some((node, depth)) = ahead.pop() {
        if depth > DEEPEST {
            return false;
        }
        ahead.extend(node.children.borrow().iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    true
}

/// Returns the title of a page.
pub(super) fn title(html: &str) -> Option<String> {
    let lower = html.get(..html.len().min(64 * 1024)).unwrap_or(html).to_ascii_lowercase();
    let start = lower.find("<title")?;
    let from = start + lower.get(start..)?.find('>')? + 1;
    let to = from + lower.get(from..)?.find("</title")?;
    let text = html.get(from..to)?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// Returns what stands between the tags.
fn bare(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((text, after)) = rest.split_once('<') {
        out.push_str(text);
        let name = after.get(..6).unwrap_or(after).to_ascii_lowercase();
        let end = ["script", "style"].into_iter().find(|it| name.starts_with(it));
        let skipped = match end {
            Some(name) => {
                let close = format!("</{name}");
                after.find(&close).and_then(|at| after.get(at + close.len()..)).unwrap_or_default()
            }
            None => after,
        };
        rest = skipped.split_once('>').map_or("", |(_, rest)| rest);
        out.push(' ');
    }
    out.push_str(rest);
    let lines = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_reader_sees_becomes_markdown() {
        let html = "<html><head><title> A\n page</title><style>x{}</style></head><body><h1>Top</h1>\
            <p>Some <b>bold</b> <a href=\"/x\">link</a>.</p><script>evil()</script>\
            <ul><li>one</li><li>two</li></ul><pre><code>let a;\nb</code></pre></body></html>";
        let markdown = html_to_markdown(html.to_owned()).await;
        assert_eq!(
            markdown,
            "# Top\n\nSome **bold** [link](/x).\n\n*   one\n*   two\n\n```\nlet a;\nb\n```"
        );
        assert_eq!(title(html).as_deref(), Some("A page"));
        assert_eq!(title("<p>none"), None);
    }

    #[tokio::test]
    async fn a_tree_without_a_bottom_is_shown_by_its_text() {
        let deep = format!("<body>{}core", "<div>".repeat(100_000));
        assert_eq!(html_to_markdown(deep).await, "core");
        let allowed = format!("<body>{}core", "<div>".repeat(DEEPEST - 10));
        assert_eq!(html_to_markdown(allowed).await.trim(), "core");
        let hidden = format!("<body>{}core", "<b></p>".repeat(2_000));
        assert!(html_to_markdown(hidden).await.contains("core"));
    }

    #[test]
    fn bare_text_has_no_tags() {
        let html =
            "<p>a &lt; <i>b</i></p>\n<script>if (a < b) {}</script><style>x</style>c <unclosed";
        assert_eq!(bare(html), "a &lt; b\nc");
    }
}
