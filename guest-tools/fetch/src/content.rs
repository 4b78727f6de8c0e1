//! What a body is, and its text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes looked at to tell text from anything else, and to find an encoding that HTML names.
const SNIFFED_BYTES: usize = 4096;

/// How a body is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Html,
    Json,
    Text,
    Binary,
}

/// A `Content-Type` taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentType {
    /// Such as `text/html`, in lower case; empty where the server said nothing.
    pub essence: String,
    charset: Option<String>,
}

impl ContentType {
    pub fn parse(header: &str) -> ContentType {
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            name.trim().eq_ignore_ascii_case("charset").then(|| value.to_owned())
        });
        ContentType { essence, charset }
    }

    /// By what the server says where it is plain, else by what the body looks like.
    pub fn kind(&self, body: &[u8]) -> Kind {
        let essence = self.essence.as_str();
        let (class, detail) = essence.split_once('/').unwrap_or((essence, ""));
        let structured = detail.rsplit('+').next().unwrap_or(detail);
        let said = match (class, detail) {
            ("text", "html") | ("application", "xhtml+xml") => Some(Kind::Html),
            ("image" | "audio" | "video" | "font" | "model", _) if structured != "xml" => {
                return Kind::Binary;
            }
            _ if structured == "json" => Some(Kind::Json),
            ("text", _) => Some(Kind::Text),
            _ if is_textual(structured) => Some(Kind::Text),
            _ => None,
        };
        if !self.looks_like_text(body) {
            return Kind::Binary;
        }
        said.unwrap_or_else(|| if looks_like_html(body) { Kind::Html } else { Kind::Text })
    }

    fn looks_like_text(&self, body: &[u8]) -> bool {
        let encoding = self.encoding(body, false);
        if encoding == UTF_16LE || encoding == UTF_16BE {
            return true;
        }
        let head = &body[..body.len().min(SNIFFED_BYTES)];
        if head.contains(&0) {
            return false;
        }
        // Named, so that what is no UTF-8 is most likely in that encoding.
        if self.charset.is_some() || self.essence.starts_with("text/") {
            return true;
        }
        match std::str::from_utf8(head) {
            Ok(_) => true,
            // A character may be cut at the end of what is looked at.
            Err(error) => error.error_len().is_none(),
        }
    }

    /// A byte order mark, then the server's word, then the page's own, then what fits.
    fn encoding(&self, body: &[u8], html: bool) -> &'static Encoding {
        if let Some((encoding, _)) = Encoding::for_bom(body) {
            return encoding;
        }
        let named = |name: &str| Encoding::for_label(name.as_bytes());
        let said = self.charset.as_deref().and_then(named);
        let own = || if html { meta_charset(body).as_deref().and_then(named) } else { None };
        said.or_else(own).unwrap_or_else(|| match std::str::from_utf8(body) {
            Ok(_) => UTF_8,
            Err(error) if error.error_len().is_none() => UTF_8,
            // Mostly UTF-8 with a flaw is more likely than another encoding that looks like it.
            Err(error)
                if error.valid_up_to() > 0 && has_multibyte(&body[..error.valid_up_to()]) =>
            {
                UTF_8
            }
            Err(_) => WINDOWS_1252,
        })
    }

    /// The body as text; what cannot be decoded becomes a replacement character.
    pub fn decode(&self, body: &[u8], kind: Kind) -> String {
        let encoding = self.encoding(body, kind == Kind::Html);
        let (text, _, _) = encoding.decode(body);
        text.into_owned()
    }
}

fn has_multibyte(valid: &[u8]) -> bool {
    !valid.is_ascii()
}

/// Types of `application/` that are text.
fn is_textual(detail: &str) -> bool {
    matches!(
        detail,
        "xml"
            | "javascript"
            | "ecmascript"
            | "typescript"
            | "yaml"
            | "x-yaml"
            | "toml"
            | "sql"
            | "graphql"
            | "x-sh"
            | "x-ndjson"
            | "jsonl"
            | "x-www-form-urlencoded"
            | "rtf"
            | "x-tex"
            | "x-httpd-php"
    )
}

fn looks_like_html(body: &[u8]) -> bool {
    let head = &body[..body.len().min(SNIFFED_BYTES)];
    let head = String::from_utf8_lossy(head).trim_start().to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|start| head.starts_with(start))
}

/// The encoding that a page names in a `meta` element.
fn meta_charset(body: &[u8]) -> Option<String> {
    let head = &body[..body.len().min(SNIFFED_BYTES)];
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let metas = head.match_indices("<meta").map(|(start, _)| &head[start..]);
    metas.into_iter().find_map(|meta| {
        let tag = meta.split('>').next()?;
        let (_, value) = tag.split_once("charset")?;
        let value = value.trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let end = value.find(['"', '\'', ' ', ';', '/']).unwrap_or(value.len());
        // A page that could be read so far is not UTF-16, whatever it says.
        match &value[..end] {
            "" => None,
            wide if wide.starts_with("utf-16") => Some("utf-8".to_owned()),
            name => Some(name.to_owned()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(header: &str, body: &[u8]) -> Kind {
        ContentType::parse(header).kind(body)
    }

    #[test]
    fn kinds() {
        assert_eq!(kind("text/html; charset=utf-8", b"x"), Kind::Html);
        assert_eq!(kind("TEXT/HTML", b"x"), Kind::Html);
        assert_eq!(kind("application/json", b"{}"), Kind::Json);
        assert_eq!(kind("application/vnd.api+json", b"{}"), Kind::Json);
        assert_eq!(kind("text/plain", b"x"), Kind::Text);
        assert_eq!(kind("application/xml", b"<a/>"), Kind::Text);
        assert_eq!(kind("image/svg+xml", b"<svg/>"), Kind::Text);
        assert_eq!(kind("image/png", b"abc"), Kind::Binary);
        assert_eq!(kind("application/pdf", b"%PDF-1.7\n\0\x80"), Kind::Binary);
        assert_eq!(kind("application/octet-stream", b"\x7fELF\0"), Kind::Binary);
        assert_eq!(kind("application/zip", b"PK\x03\x04\xFF\xFE\xFD"), Kind::Binary);
        assert_eq!(kind("text/plain", b"a\0b"), Kind::Binary);
        assert_eq!(kind("", b"  <!DOCTYPE HTML><p>"), Kind::Html);
        assert_eq!(kind("", b"plain"), Kind::Text);
        assert_eq!(kind("", b""), Kind::Text);
        assert_eq!(kind("application/octet-stream", b"readme"), Kind::Text);
    }

    fn decode(header: &str, body: &[u8], kind: Kind) -> String {
        ContentType::parse(header).decode(body, kind)
    }

    #[test]
    fn encodings() {
        assert_eq!(decode("text/plain; charset=iso-8859-1", b"gr\xFC\xDF", Kind::Text), "grüß");
        assert_eq!(decode("text/plain; Charset=\"Shift_JIS\"", b"\x82\xA0", Kind::Text), "あ");
        assert_eq!(decode("text/plain", "grüß".as_bytes(), Kind::Text), "grüß");
        assert_eq!(decode("text/plain", b"gr\xFC\xDF", Kind::Text), "grüß");
        assert_eq!(decode("text/plain", b"\xC3\xA9 \xFF", Kind::Text), "é \u{FFFD}");
        assert_eq!(decode("text/plain", b"\xFF\xFEa\0", Kind::Text), "a");
        assert_eq!(decode("text/plain; charset=latin1", b"\xEF\xBB\xBF\xC3\xA9", Kind::Text), "é");
        assert_eq!(decode("text/plain; charset=nonsense", b"a\xC3\xA9", Kind::Text), "aé");
        // Cut in the middle of a character.
        assert_eq!(decode("text/plain", b"a\xC3", Kind::Text), "a\u{FFFD}");
    }

    #[test]
    fn pages_name_their_encoding() {
        for meta in [
            "<meta charset=windows-1251>",
            "<META CHARSET='windows-1251'/>",
            "<meta name=x><meta http-equiv=Content-Type content=\"text/html; charset=windows-1251\">",
        ] {
            let page = [b"<html>", meta.as_bytes(), b"\xCF\xF0"].concat();
            assert!(decode("text/html", &page, Kind::Html).ends_with("Пр"), "{meta}");
        }
        let page = "<meta charset=utf-16>é".as_bytes();
        assert!(decode("text/html", page, Kind::Html).ends_with('é'));
    }
}
