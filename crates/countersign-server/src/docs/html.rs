//! Text that becomes HTML: nothing gets into it unescaped but what is written here.

/// A page as it grows.
#[derive(Default)]
pub(super) struct HtmlPage(String);

impl HtmlPage {
    /// Adds a piece of HTML.
    pub(super) fn line(&mut self, html: &str) {
        self.0.push_str(html);
        self.0.push('\n');
    }

    /// Adds a text as it is to be read by machines, or typed.
    pub(super) fn code(&mut self, text: &str) {
        self.line(&format!("<pre><code>{}</code></pre>", escape_html(text)));
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// Returns a text as HTML shows it.
pub(super) fn escape_html(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            letter => html.push(letter),
        }
    }
    html
}

/// Returns a path as HTML that may be broken where its parts meet.
pub(super) fn breakable(path: &str) -> String {
    escape_html(path).replace('/', "/<wbr>")
}

/// Returns a sentence as HTML: what stands between backticks is code.
pub(super) fn render_inline(text: &str) -> String {
    let pieces = text.split('`').enumerate().map(|(number, piece)| {
        let piece = escape_html(piece);
        if number % 2 == 1 { format!("<code>{piece}</code>") } else { piece }
    });
    pieces.collect()
}

/// Returns a text as paragraphs.
pub(super) fn render_paragraphs(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(str::trim).filter(|it| !it.is_empty());
    paragraphs.map(|it| format!("<p>{}</p>", render_inline(it))).collect()
}
