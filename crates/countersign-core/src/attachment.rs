//! What a tool shows the model beside its text: pictures and documents, as the Messages API takes them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Something that is not text, and travels as Base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// What it is.
    pub kind: AttachmentKind,
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// Its bytes in Base64.
    pub data: String,
}

/// What an attachment is to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// It looks at it.
    Image,
    /// It reads it, page by page.
    Document,
}

impl Attachment {
    /// Returns it as a block of the Messages API.
    pub fn to_api_block(&self) -> Value {
        let Self { kind, media_type, data } = self;
        let source = json!({"type": "base64", "media_type": media_type, "data": data});
        json!({"type": kind, "source": source})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_shape_the_api_asks_for() {
        let block = |kind, media_type: &str| {
            Attachment { kind, media_type: media_type.into(), data: "AA==".into() }.to_api_block()
        };
        let source =
            |media_type| json!({"type": "base64", "media_type": media_type, "data": "AA=="});
        assert_eq!(
            block(AttachmentKind::Image, "image/png"),
            json!({"type": "image", "source": source("image/png")})
        );
        assert_eq!(
            block(AttachmentKind::Document, "application/pdf"),
            json!({"type": "document", "source": source("application/pdf")})
        );
    }
}
