//! How large a picture is, and whether it is whole: from its headers, without decoding it.

/// What the headers of a picture say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PictureHeader {
    pub(super) width: u32,
    pub(super) height: u32,
}

impl PictureHeader {
    /// Reads the headers; none where they are damaged or the picture is cut off.
    pub(super) fn read(media_type: &str, bytes: &[u8]) -> Option<Self> {
        let found = match media_type {
            "image/png" => png(bytes),
            "image/jpeg" => jpeg(bytes),
            "image/gif" => gif(bytes),
            "image/webp" => webp(bytes),
            _ => None,
        };
        found.filter(|it| it.width > 0 && it.height > 0)
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn big(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_be_bytes)
}

/// Chunks follow one another up to `IEND`.
fn png(bytes: &[u8]) -> Option<PictureHeader> {
    let picture = PictureHeader { width: big(bytes, 16)?, height: big(bytes, 20)? };
    let mut at = 8_usize;
    loop {
        let length = usize::try_from(big(bytes, at)?).ok()?;
        let kind: [u8; 4] = array(bytes, at + 4)?;
        at = at.checked_add(length)?.checked_add(12)?;
        if at > bytes.len() {
            return None;
        }
        if &kind == b"IEND" {
            return Some(picture);
        }
    }
}

/// Segments follow one another; the one that starts the frame has the size.
fn jpeg(bytes: &[u8]) -> Option<PictureHeader> {
    let is_whole = bytes.windows(2).rev().any(|two| two == [0xff, 0xd9]);
    let mut at = 2_usize;
    loop {
        let [mark, kind] = array(bytes, at)?;
        if mark != 0xff {
            return None;
        }
        match kind {
            // Filling, and marks that have no content.
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            0xc0..=0xcf if !matches!(kind, 0xc4 | 0xc8 | 0xcc) => {
                let height = u16::from_be_bytes(array(bytes, at + 5)?);
                let width = u16::from_be_bytes(array(bytes, at + 7)?);
                let picture = PictureHeader { width: width.into(), height: height.into() };
                return is_whole.then_some(picture);
            }
            // The picture itself or its end, and no size before it.
            0xd9 | 0xda => return None,
            _ => at += 2 + usize::from(u16::from_be_bytes(array(bytes, at + 2)?)),
        }
    }
}

fn gif(bytes: &[u8]) -> Option<PictureHeader> {
    let side = |at| array(bytes, at).map(|two| u32::from(u16::from_le_bytes(two)));
    let is_whole = bytes.iter().rev().any(|byte| *byte == 0x3b);
    is_whole.then_some(PictureHeader { width: side(6)?, height: side(8)? })
}

fn webp(bytes: &[u8]) -> Option<PictureHeader> {
    let length = u32::from_le_bytes(array(bytes, 4)?);
    let is_whole = usize::try_from(length).ok()?.checked_add(8)? <= bytes.len() + 1;
    let kind: [u8; 4] = array(bytes, 12)?;
    let picture = match &kind {
        b"VP8 " => {
            let side = |at| array(bytes, at).map(|two| u32::from(u16::from_le_bytes(two) & 0x3fff));
            PictureHeader { width: side(26)?, height: side(28)? }
        }
        b"VP8L" => {
            let bits = u32::from_le_bytes(array(bytes, 21)?);
            PictureHeader { width: (bits & 0x3fff) + 1, height: (bits >> 14 & 0x3fff) + 1 }
        }
        b"VP8X" => {
            let side = |at| {
                array(bytes, at)
                    .map(|[low, middle, high]| u32::from_le_bytes([low, middle, high, 0]))
            };
            PictureHeader { width: side(24)? + 1, height: side(27)? + 1 }
        }
        _ => return None,
    };
    is_whole.then_some(picture)
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
