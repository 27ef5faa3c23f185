//! Pictures and documents, as the Messages API takes them.
//!
//! A model is shown everything that was ever shown to it again with each request, and the API refuses
//! the whole request for one picture it cannot take. So what it would not take is refused here.

use std::fs::File;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_core::{Attachment, AttachmentKind, ToolOutput};

use super::pdf;
use super::picture::PictureHeader;
use crate::files::disk::DiskError;
use crate::files::text::size;
use crate::tool_error::ToolError;

/// The API takes 5 MiB of Base64 for a picture.
pub(super) const PICTURE_LIMIT: u64 = 5 * 1024 * 1024 / 4 * 3;

/// How many pixels a side may have.
const SIDE: u32 = 8_000;

/// A request has room for 32 MB, and holds more than this one file.
const DOCUMENT_LIMIT: u64 = 8 * 1024 * 1024;

/// How many pages the API reads.
const PAGES: usize = 100;

/// What a file is that is shown as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaKind {
    Picture(&'static str),
    Document,
}

impl MediaKind {
    /// Tells by the first bytes of a file what it is; its name says nothing.
    pub(crate) fn from_first_bytes(start: &[u8]) -> Option<Self> {
        match start {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => {
                Some(Self::Picture("image/png"))
            }
            [0xff, 0xd8, 0xff, ..] => Some(Self::Picture("image/jpeg")),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Picture("image/gif")),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
                Some(Self::Picture("image/webp"))
            }
            [b'%', b'P', b'D', b'F', b'-', ..] => Some(Self::Document),
            _ => None,
        }
    }

    fn limit(self) -> u64 {
        match self {
            Self::Picture(_) => PICTURE_LIMIT,
            Self::Document => DOCUMENT_LIMIT,
        }
    }

    /// Shows a file whose first bytes were read already.
    pub(super) fn show(
        self,
        path: &str,
        start: &[u8],
        rest: File,
        length: u64,
    ) -> Result<ToolOutput, ToolError> {
        let mut bytes = start.to_vec();
        if length <= self.limit() {
            let read = rest.take(self.limit()).read_to_end(&mut bytes);
            read.map_err(|error| DiskError::Io("read", error).into_tool_error(path))?;
        }
        let length = length.max(bytes.len() as u64);
        self.attach(path, &bytes, length).map_err(ToolError::invalid)
    }

    /// Returns the answer that shows these bytes, or why the model cannot be shown them.
    pub(crate) fn attach(
        self,
        path: &str,
        bytes: &[u8],
        length: u64,
    ) -> Result<ToolOutput, String> {
        let (total, limit) = (size(length), size(self.limit()));
        if length > self.limit() {
            let how = match self {
                Self::Picture(_) => "make it smaller with a program in Bash (`convert -resize`)",
                Self::Document => "look at it with a program in Bash (`pdftotext`, `qpdf --pages`)",
            };
            return Err(format!(
                "`{path}` is too large to be shown ({total}, the limit is {limit}); {how}"
            ));
        }
        let (text, kind, media_type) = match self {
            Self::Picture(media_type) => {
                let PictureHeader { width, height } = PictureHeader::read(media_type, bytes)
                    .ok_or_else(|| format!("`{path}` is damaged or cut off: it cannot be shown"))?;
                if width.max(height) > SIDE {
                    return Err(format!(
                        "`{path}` has {width} x {height} pixels, the limit is {SIDE} a side; make it \
                         smaller with a program in Bash (`convert -resize`)"
                    ));
                }
                let text = format!("Picture {path} ({media_type}, {width} x {height}, {total})");
                (text, AttachmentKind::Image, media_type)
            }
            Self::Document => {
                let pages = pages(path, bytes)?;
                let text = format!("Document {path} (PDF, pages: {pages}, {total})");
                (text, AttachmentKind::Document, "application/pdf")
            }
        };
        let data = STANDARD.encode(bytes);
        Ok(ToolOutput::ok(text).with_attachment(Attachment {
            kind,
            media_type: media_type.to_owned(),
            data,
        }))
    }
}

fn pages(path: &str, bytes: &[u8]) -> Result<usize, String> {
    if pdf::is_locked(bytes) {
        return Err(format!("`{path}` is protected by a password: it cannot be shown"));
    }
    match pdf::pages(bytes) {
        0 => Err(format!(
            "`{path}`: no page was found in it, it may be damaged; look at it with `pdftotext` in Bash"
        )),
        many if many > PAGES => Err(format!(
            "`{path}` has {many} pages, the limit is {PAGES}; take some out with a program in Bash \
             (`qpdf --pages`), or read it with `pdftotext`"
        )),
        some => Ok(some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_what_a_file_is() {
        assert_eq!(
            MediaKind::from_first_bytes(b"\x89PNG\r\n\x1a\n"),
            Some(MediaKind::Picture("image/png"))
        );
        assert_eq!(
            MediaKind::from_first_bytes(b"\xff\xd8\xff\xe0"),
            Some(MediaKind::Picture("image/jpeg"))
        );
        assert_eq!(MediaKind::from_first_bytes(b"GIF89a"), Some(MediaKind::Picture("image/gif")));
        assert_eq!(
            MediaKind::from_first_bytes(b"RIFF\0\0\0\0WEBPVP8 "),
            Some(MediaKind::Picture("image/webp"))
        );
        assert_eq!(MediaKind::from_first_bytes(b"%PDF-1.7"), Some(MediaKind::Document));
        for other in [b"".as_slice(), b"PNG", b"RIFF\0\0\0\0WAVE", b"GIF90a", b"<svg"] {
            assert_eq!(MediaKind::from_first_bytes(other), None);
        }
    }
}
