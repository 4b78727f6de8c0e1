//! How deep the tags of a page nest, told from its text in one pass, before it is parsed.

/// Elements without content, and those that the parser closes by itself where the next one of
/// their kind begins: pages leave out their end tags, and they only nest inside of others.
const NOT_NESTING: [&str; 38] = [
    "area", "base", "basefont", "bgsound", "body", "br", "col", "colgroup", "dd", "dt", "embed",
    "frame", "head", "hr", "html", "image", "img", "input", "keygen", "li", "link", "meta",
    "optgroup", "option", "p", "param", "rb", "rp", "rt", "rtc", "source", "tbody", "td", "tfoot",
    "th", "thead", "tr", "track",
];

/// Longest name of those; longer ones are of other elements.
const MAX_NAME: usize = 8;

/// The greatest number of tags open at once. Stops counting above `enough`.
pub fn deepest(html: &str, enough: usize) -> usize {
    let mut open = 0_usize;
    let mut deepest = 0;
    let bytes = html.as_bytes();
    for (at, _) in html.match_indices('<') {
        match bytes.get(at + 1) {
            Some(b'/') if nests(&bytes[at + 2..]) => open = open.saturating_sub(1),
            Some(byte) if byte.is_ascii_alphabetic() && nests(&bytes[at + 1..]) => {
                open += 1;
                deepest = deepest.max(open);
                if deepest > enough {
                    return deepest;
                }
            }
            _ => {}
        }
    }
    deepest
}

/// Whether the tag whose name `text` begins with can hold another of its kind.
fn nests(text: &[u8]) -> bool {
    let length = text.iter().take(MAX_NAME + 1).take_while(|byte| byte.is_ascii_alphanumeric());
    let length = length.count();
    let name = &text[..length];
    length > 0 && !NOT_NESTING.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_nests() {
        assert_eq!(deepest("", 100), 0);
        assert_eq!(deepest("a < b </ c", 100), 0);
        assert_eq!(deepest("<div><div></div><b></b></div>", 100), 2);
        assert_eq!(deepest("<p><p><p><br><IMG><li>", 100), 0);
        assert_eq!(deepest("<ul><li><ul><li>", 100), 2);
        assert_eq!(deepest("</div></div><div>", 100), 1);
        assert_eq!(deepest(&"<x>".repeat(50), 10), 11);
    }

    #[test]
    fn known_names_fit() {
        assert!(NOT_NESTING.iter().all(|name| name.len() <= MAX_NAME));
    }
}
