//! Texts and how they are written down: encodings and byte order marks, kept as they were found.

use std::time::Duration;

use encoding_rs::{UTF_16BE, UTF_16LE};

/// How a file writes its text down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextEncoding {
    Utf8,
    Utf8Bom,
    Utf16Le,
    Utf16Be,
}

/// The content of a file that is text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodedText {
    /// Without the byte order mark.
    pub(crate) content: String,
    pub(crate) encoding: TextEncoding,
}

/// Why a file is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TextDecodeError {
    #[error("is a binary file")]
    Binary,
    #[error("is in an encoding that is neither UTF-8 nor UTF-16 with a byte order mark")]
    UnknownEncoding,
}

impl TextEncoding {
    /// Returns the encoding a file starts in, by its byte order mark.
    pub(crate) fn at_start_of(bytes: &[u8]) -> Self {
        match bytes {
            [0xef, 0xbb, 0xbf, ..] => Self::Utf8Bom,
            [0xff, 0xfe, ..] => Self::Utf16Le,
            [0xfe, 0xff, ..] => Self::Utf16Be,
            _ => Self::Utf8,
        }
    }

    /// Returns the encoding of a text that takes the place of a file: that of the file, where it is text.
    pub(crate) fn for_overwriting(old: Option<&[u8]>) -> Self {
        match old.map(DecodedText::decode) {
            Some(Ok(text)) => text.encoding,
            Some(Err(_)) | None => Self::Utf8,
        }
    }

    /// Returns the byte order mark.
    pub(crate) fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 => &[],
            Self::Utf8Bom => &[0xef, 0xbb, 0xbf],
            Self::Utf16Le => &[0xff, 0xfe],
            Self::Utf16Be => &[0xfe, 0xff],
        }
    }

    /// Returns the bytes of a text, mark in front.
    pub(crate) fn encode(self, content: &str) -> Vec<u8> {
        let content = match self {
            Self::Utf8 => content,
            // The mark is ours to write: a text that brings its own does not get two.
            Self::Utf8Bom | Self::Utf16Le | Self::Utf16Be => {
                content.strip_prefix('\u{feff}').unwrap_or(content)
            }
        };
        let mut bytes = self.mark().to_vec();
        match self {
            Self::Utf8 | Self::Utf8Bom => bytes.extend_from_slice(content.as_bytes()),
            Self::Utf16Le => bytes.extend(content.encode_utf16().flat_map(u16::to_le_bytes)),
            Self::Utf16Be => bytes.extend(content.encode_utf16().flat_map(u16::to_be_bytes)),
        }
        bytes
    }
}

impl DecodedText {
    /// Reads bytes as text; what would not come back the same when written is no text.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, TextDecodeError> {
        let encoding = TextEncoding::at_start_of(bytes);
        let body = bytes.strip_prefix(encoding.mark()).unwrap_or(bytes);
        let wide = |encoding: &'static encoding_rs::Encoding| {
            encoding
                .decode_without_bom_handling_and_without_replacement(body)
                .map(std::borrow::Cow::into_owned)
        };
        let content = match encoding {
            TextEncoding::Utf8 | TextEncoding::Utf8Bom => {
                std::str::from_utf8(body).ok().map(str::to_owned)
            }
            TextEncoding::Utf16Le => wide(UTF_16LE),
            TextEncoding::Utf16Be => wide(UTF_16BE),
        };
        match content {
            Some(content) if content.contains('\0') => Err(TextDecodeError::Binary),
            Some(content) => Ok(Self { content, encoding }),
            None if bytes.contains(&0) => Err(TextDecodeError::Binary),
            None => Err(TextDecodeError::UnknownEncoding),
        }
    }
}

/// Returns a number of bytes as people say it.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None if bytes == 1 => "1 byte".to_owned(),
        None => format!("{bytes} bytes"),
    }
}

/// Returns a time as people say it.
pub(crate) fn format_duration(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (0, millis) => format!("{millis}ms"),
        (seconds @ 1..60, 0) => format!("{seconds}s"),
        (seconds @ 1..60, millis) => format!("{seconds}.{millis:03}s"),
        (seconds, _) => format!("{}m {}s", seconds / 60, seconds % 60),
    }
}

/// Appends a line with its number, as `cat -n` does.
pub(crate) fn push_numbered(out: &mut String, number: usize, line: &str) {
    use std::fmt::Write;
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{number:>6}\t{line}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn binary_and_unknown_encodings_are_no_text() {
        assert_eq!(DecodedText::decode(b"a\0b"), Err(TextDecodeError::Binary));
        assert_eq!(DecodedText::decode(b"caf\xe9"), Err(TextDecodeError::UnknownEncoding));
        assert_eq!(
            DecodedText::decode(b"\xff\xfea"),
            Err(TextDecodeError::UnknownEncoding),
            "half a unit"
        );
        assert_eq!(
            DecodedText::decode(b"\xff\xfe\x00\xd8"),
            Err(TextDecodeError::Binary),
            "half a pair"
        );
    }

    #[test]
    fn sizes_are_said_as_people_say_them() {
        let said = [0, 1, 999, 1_500, 12_345_678, 3_000_000_000].map(size);
        assert_eq!(said, ["0 bytes", "1 byte", "999 bytes", "1.5 kB", "12.3 MB", "3.0 GB"]);
    }

    #[test]
    fn times_are_said_as_people_say_them() {
        let said = [50, 1_500, 30_000, 120_000, 61_000]
            .map(|ms| format_duration(Duration::from_millis(ms)));
        assert_eq!(said, ["50ms", "1.500s", "30s", "2m 0s", "1m 1s"]);
    }

    proptest! {
        #[test]
        fn what_was_decoded_is_written_back_byte_by_byte(content in "[^\0\u{feff}]*") {
            use TextEncoding::{Utf8, Utf8Bom, Utf16Be, Utf16Le};
            for encoding in [Utf8, Utf8Bom, Utf16Le, Utf16Be] {
                let bytes = encoding.encode(&content);
                let text = DecodedText::decode(&bytes).unwrap();
                prop_assert_eq!(&text, &DecodedText { content: content.clone(), encoding });
                prop_assert_eq!(text.encoding.encode(&text.content), bytes);
            }
        }
    }
}
