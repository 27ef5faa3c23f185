//! Archives with one short file in them, made by hand so that no test needs a packer.

/// Returns a gzip file that holds a text.
pub(super) fn gzip(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap();
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(text.as_bytes());
    packed.extend(crc32(text.as_bytes()).to_le_bytes());
    packed.extend(u32::from(length).to_le_bytes());
    packed
}

/// Returns a zip file that holds a text under a name.
pub(super) fn zip(name: &str, text: &str) -> Vec<u8> {
    let described = |mut header: Vec<u8>| {
        header.extend([0, 0, 0, 0, 0, 0, 0x21, 0x58]);
        header.extend(crc32(text.as_bytes()).to_le_bytes());
        header.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        header.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        header.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        header.extend([0, 0]);
        header
    };
    let mut packed = described(b"PK\x03\x04\x0a\x00".to_vec());
    packed.extend(name.as_bytes());
    packed.extend(text.as_bytes());
    let directory_at = u32::try_from(packed.len()).unwrap();
    let mut entry = described(b"PK\x01\x02\x14\x00\x0a\x00".to_vec());
    entry.extend([0; 14]);
    entry.extend(name.as_bytes());
    packed.extend(&entry);
    packed.extend(b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00");
    packed.extend(u32::try_from(entry.len()).unwrap().to_le_bytes());
    packed.extend(directory_at.to_le_bytes());
    packed.extend([0, 0]);
    packed
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 }
        })
    })
}
