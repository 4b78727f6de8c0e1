//! Reads a body up to a size, and undoes a compression that was not asked for.

use std::io::Read;

use xzatoma_tool::{Error, Result};

use crate::exchange::Chunks;

/// A body as far as it was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    pub bytes: Vec<u8>,
    /// Whether there is more that was not read.
    pub cut: bool,
}

/// Why reading stopped before the end and before the limit.
#[derive(Debug)]
pub struct Broken {
    pub error: Error,
    /// What had arrived.
    pub bytes: Vec<u8>,
}

/// Reads at most `limit` bytes; the rest is never asked for.
pub fn read(body: &mut impl Chunks, limit: usize) -> std::result::Result<Bytes, Broken> {
    let mut bytes = Vec::new();
    loop {
        match body.chunk() {
            Ok(Some(chunk)) => {
                let room = limit - bytes.len();
                bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    return Ok(Bytes { bytes, cut: true });
                }
            }
            Ok(None) => return Ok(Bytes { bytes, cut: false }),
            Err(error) => return Err(Broken { error, bytes }),
        }
    }
}

/// Undoes `Content-Encoding`. The limit holds for what comes out, so that a few compressed bytes
/// cannot become gigabytes.
pub fn decompress(body: Bytes, encoding: Option<&str>, limit: usize) -> Result<Bytes> {
    let encoding = encoding.unwrap_or("identity").trim().to_ascii_lowercase();
    let compressed = body.bytes.as_slice();
    match encoding.as_str() {
        "" | "identity" => Ok(body),
        "gzip" | "x-gzip" => {
            inflate(flate2::read::MultiGzDecoder::new(compressed), body.cut, limit)
        }
        "deflate" => inflate(flate2::read::ZlibDecoder::new(compressed), body.cut, limit),
        other => Err(Error::failed(format!(
            "the server sent the body compressed as {other:?} although it was not asked to; try \
             another address for the same content"
        ))),
    }
}

fn inflate(decoder: impl Read, input_cut: bool, limit: usize) -> Result<Bytes> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    match decoder.take(most).read_to_end(&mut bytes) {
        Ok(_) => {}
        // Cut input ends too early; what came before it is good.
        Err(_) if input_cut => {}
        Err(error) => {
            return Err(Error::failed(format!(
                "the body is damaged: its compression cannot be undone ({error}); try again"
            )));
        }
    }
    let cut = input_cut || bytes.len() > limit;
    bytes.truncate(limit);
    Ok(Bytes { bytes, cut })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    struct Scripted(Vec<Result<Option<Vec<u8>>>>);

    impl Chunks for Scripted {
        fn chunk(&mut self) -> Result<Option<Vec<u8>>> {
            if self.0.is_empty() { Ok(None) } else { self.0.remove(0) }
        }
    }

    fn chunks(parts: &[&str]) -> Scripted {
        Scripted(parts.iter().map(|part| Ok(Some(part.as_bytes().to_vec()))).collect())
    }

    #[test]
    fn reading_stops_at_the_limit() {
        let read = |limit| read(&mut chunks(&["abc", "def"]), limit).unwrap();
        assert_eq!(read(10), Bytes { bytes: b"abcdef".to_vec(), cut: false });
        assert_eq!(read(6), Bytes { bytes: b"abcdef".to_vec(), cut: false });
        assert_eq!(read(5), Bytes { bytes: b"abcde".to_vec(), cut: true });
        assert_eq!(read(3), Bytes { bytes: b"abc".to_vec(), cut: true });
        let mut endless = chunks(&["abc"; 1000]);
        assert!(super::read(&mut endless, 4).unwrap().cut);
        assert_eq!(endless.0.len(), 998);
    }

    #[test]
    fn what_arrived_before_a_failure_is_kept() {
        let mut body = Scripted(vec![Ok(Some(b"abc".to_vec())), Err(Error::failed("gone"))]);
        let broken = read(&mut body, 10).unwrap_err();
        assert_eq!(broken.bytes, b"abc");
        assert_eq!(broken.error.message(), "gone");
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn undo(bytes: Vec<u8>, cut: bool, encoding: &str, limit: usize) -> Result<Bytes> {
        decompress(Bytes { bytes, cut }, Some(encoding), limit)
    }

    #[test]
    fn compression_is_undone_within_the_limit() {
        let whole = undo(gzip(b"hello"), false, "GZIP", 100).unwrap();
        assert_eq!(whole, Bytes { bytes: b"hello".to_vec(), cut: false });
        let bomb = gzip(&vec![0; 50 << 20]);
        assert!(bomb.len() < 100_000);
        let bounded = undo(bomb, false, "gzip", 1000).unwrap();
        assert_eq!((bounded.bytes.len(), bounded.cut), (1000, true));
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"zz").unwrap();
        assert_eq!(undo(encoder.finish().unwrap(), false, "deflate", 9).unwrap().bytes, b"zz");
    }

    #[test]
    fn cut_damaged_and_unknown_compression() {
        let text: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut half = gzip(&text);
        half.truncate(half.len() / 2);
        let partial = undo(half.clone(), true, "gzip", usize::MAX - 1).unwrap();
        assert!(partial.cut && text.starts_with(&partial.bytes) && !partial.bytes.is_empty());
        assert_eq!(undo(half, false, "gzip", 1 << 30).unwrap_err().case(), "failed");
        assert_eq!(undo(b"x".to_vec(), false, "br", 10).unwrap_err().case(), "failed");
        assert_eq!(undo(b"x".to_vec(), false, "identity", 10).unwrap().bytes, b"x");
    }
}
