//! How one file becomes another, shown: lines where both are text, sizes where not.

use countersign_core::{DiffPreview, Preimage};

use crate::files::text::DecodedText;

/// Shows a change of the bytes at a path; either side may not be there. `preimage` is of `old`.
pub(crate) fn between(
    path: String,
    old: Option<&[u8]>,
    new: Option<&[u8]>,
    preimage: Preimage,
) -> DiffPreview {
    let text = |bytes: Option<&[u8]>| bytes.map(DecodedText::decode).transpose();
    match (text(old), text(new)) {
        (Ok(old), Ok(Some(new))) => {
            let old = old.map(|text| text.content);
            DiffPreview::new(path, old.as_deref(), &new.content, preimage)
        }
        (Ok(Some(old)), Ok(None)) => DiffPreview::for_deletion(path, &old.content, preimage),
        _ => {
            let size = |bytes: Option<&[u8]>| bytes.map(|bytes| bytes.len() as u64);
            DiffPreview::for_binary(path, size(old), size(new), preimage)
        }
    }
}
