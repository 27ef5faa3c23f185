//! How large a picture is, and whether it is whole: from its headers, without decoding it.
//!
//! `imagesize` reads the size. It does not say whether the rest of the picture is there, so that is
//! looked for here.

/// What the headers of a picture say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PictureHeader {
    pub(super) width: u32,
    pub(super) height: u32,
}

impl PictureHeader {
    /// Reads the headers; none where they are damaged or the picture is cut off.
    pub(super) fn read(media_type: &str, bytes: &[u8]) -> Option<Self> {
        let is_whole = match media_type {
            "image/png" => has_last_chunk(bytes)?,
            "image/jpeg" => bytes.windows(2).rev().any(|two| two == [0xff, 0xd9]),
            "image/gif" => bytes.contains(&0x3b),
            "image/webp" => has_whole_container(bytes)?,
            _ => false,
        };
        let size = imagesize::blob_size(bytes).ok().filter(|_| is_whole)?;
        let (width, height) = (size.width.try_into().ok()?, size.height.try_into().ok()?);
        (width > 0 && height > 0).then_some(Self { width, height })
    }
}

fn array(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok()
}

/// The chunks of a PNG follow one another up to `IEND`.
fn has_last_chunk(bytes: &[u8]) -> Option<bool> {
    let mut at = 8_usize;
    loop {
        let length = usize::try_from(u32::from_be_bytes(array(bytes, at)?)).ok()?;
        let kind = array(bytes, at + 4)?;
        at = at.checked_add(length)?.checked_add(12)?;
        if at > bytes.len() || &kind == b"IEND" {
            return Some(at <= bytes.len());
        }
    }
}

/// A WebP says how long it is; its last byte may be filling that was left out.
fn has_whole_container(bytes: &[u8]) -> Option<bool> {
    let length = usize::try_from(u32::from_le_bytes(array(bytes, 4)?)).ok()?;
    Some(length.checked_add(8)? <= bytes.len() + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GIF: &[u8] = b"GIF89a\x02\x00\x03\x00\x00\x00\x00;";
    const JPEG: &[u8] =
        b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08\x00\x03\x00\x02\x01\x01\x11\x00\xff\xd9";
    const WEBP: &[u8] =
        b"RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x02\x00\x00";

    fn png() -> Vec<u8> {
        let mut bytes =
            b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x03\x08\x02\0\0\0crc_".to_vec();
        bytes.extend_from_slice(b"\0\0\0\0IENDcrc_");
        bytes
    }

    #[test]
    fn headers_tell_the_size() {
        let size = Some(PictureHeader { width: 2, height: 3 });
        assert_eq!(PictureHeader::read("image/png", &png()), size);
        assert_eq!(PictureHeader::read("image/jpeg", JPEG), size);
        assert_eq!(PictureHeader::read("image/gif", GIF), size);
        assert_eq!(PictureHeader::read("image/webp", WEBP), size);
    }

    #[test]
    fn what_is_cut_off_is_no_picture() {
        for end in 0..png().len() {
            assert_eq!(PictureHeader::read("image/png", &png()[..end]), None, "{end}");
        }
        assert_eq!(PictureHeader::read("image/jpeg", &JPEG[..JPEG.len() - 2]), None);
        assert_eq!(PictureHeader::read("image/webp", &WEBP[..WEBP.len() - 3]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for kind in ["image/png", "image/jpeg", "image/gif", "image/webp"] {
                PictureHeader::read(kind, &bytes);
            }
        }
    }
}
