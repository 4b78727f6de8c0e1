//! What kind of file it is, by its first bytes.

/// Bytes from the start that are looked at for NUL, the usual sign of a binary file.
pub const SNIFFED: usize = 8 * 1024;

/// Signatures at the start of a file.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"%PDF-", "PDF document"),
    (b"\x7fELF", "ELF executable or library"),
    (b"MZ", "Windows executable or library"),
    (b"\xfe\xed\xfa\xce", "Mach-O executable or library"),
    (b"\xfe\xed\xfa\xcf", "Mach-O executable or library"),
    (b"\xce\xfa\xed\xfe", "Mach-O executable or library"),
    (b"\xcf\xfa\xed\xfe", "Mach-O executable or library"),
    (b"\0asm\x01\0\0\0", "WebAssembly module"),
    (b"\0asm", "WebAssembly component"),
    (b"\xca\xfe\xba\xbe", "Java class or universal binary"),
    (b"!<arch>\n", "ar archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"PK\x03\x04", "zip archive or a document in one"),
    (b"PK\x05\x06", "empty zip archive"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"wOFF", "web font"),
    (b"wOF2", "web font"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

/// The kind of a file that is not plain text.
pub fn kind(head: &[u8]) -> &'static str {
    if let Some((_, kind)) = SIGNATURES.iter().find(|(start, _)| head.starts_with(start)) {
        return kind;
    }
    match (head.get(..4), head.get(8..12)) {
        (Some(b"RIFF"), Some(b"WEBP")) => return "WebP image",
        (Some(b"RIFF"), Some(b"WAVE")) => return "WAVE audio",
        (Some(b"RIFF"), _) => return "RIFF media",
        _ => {}
    }
    if head.get(4..8) == Some(b"ftyp") {
        return "MP4 media or HEIF image";
    }
    if head.get(257..262) == Some(b"ustar") {
        return "tar archive";
    }
    "binary data"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_kinds() {
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n...."), "PNG image");
        assert_eq!(kind(b"\x7fELF\x02\x01"), "ELF executable or library");
        assert_eq!(kind(b"\0asm\x0d\0\x01\0"), "WebAssembly component");
        assert_eq!(kind(b"\0asm\x01\0\0\0"), "WebAssembly module");
        assert_eq!(kind(b"RIFF\0\0\0\0WEBPVP8 "), "WebP image");
        assert_eq!(kind(b"\0\0\0\x18ftypmp42"), "MP4 media or HEIF image");
        let mut tar = vec![b'a'; 512];
        tar[257..262].copy_from_slice(b"ustar");
        assert_eq!(kind(&tar), "tar archive");
        assert_eq!(kind(b"\0\x01\x02"), "binary data");
        assert_eq!(kind(b""), "binary data");
    }
}
