//! Gzip with a header that says nothing.

use miniz_oxide::deflate::compress_to_vec;

/// How hard the deflate tries, 0 to 10: the usual default.
const LEVEL: u8 = 6;
/// Magic, deflate, no flags, no time, no hint, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// `bytes`, compressed. Equal bytes give equal bytes for as long as the deflate is the same.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut file = HEADER.to_vec();
    file.extend(compress_to_vec(bytes, LEVEL));
    file.extend(crc32(bytes).to_le_bytes());
    // Of a longer stream gzip keeps the low 32 bits of the length.
    file.extend_from_slice(&(bytes.len() as u64).to_le_bytes()[..4]);
    file
}

/// The checksum of gzip: CRC-32 with the polynomial 0xEDB88320.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    let step = |crc: u32, byte: &u8| TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8);
    !bytes.iter().fold(!0, step)
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let (mut index, mut first) = (0, 0_u32);
    while index < table.len() {
        let (mut value, mut bit) = (first, 0);
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0xEDB8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
        first += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_gzip() {
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn what_was_compressed_comes_out_again() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|number| (number / 7).to_le_bytes()[0]).collect();
        let file = gzip(&bytes);
        assert_eq!(file[..10], HEADER);
        assert_eq!(miniz_oxide::inflate::decompress_to_vec(&file[10..file.len() - 8]).unwrap(), bytes);
        assert_eq!(file[file.len() - 4..], 100_000_u32.to_le_bytes());
    }
}
