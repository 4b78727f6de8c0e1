//! One literal, perhaps without regard to the case of its ASCII letters.

use std::collections::BTreeMap;

use regex_syntax::hir::literal::rank;

/// A literal to look for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needle {
    /// In lower case where `any_case` is set.
    pub bytes: Vec<u8>,
    /// Whether ASCII letters stand for both of their cases.
    pub any_case: bool,
}

impl Needle {
    /// Whether it is at the start of `haystack`.
    pub fn starts(&self, haystack: &[u8]) -> bool {
        match haystack.get(..self.bytes.len()) {
            Some(head) if self.any_case => head.eq_ignore_ascii_case(&self.bytes),
            Some(head) => head == self.bytes,
            None => false,
        }
    }

    /// The bytes that may stand at `position`.
    pub fn variants(&self, position: usize) -> impl Iterator<Item = u8> {
        let byte = self.bytes[position];
        let other = (self.any_case && byte.is_ascii_lowercase()).then(|| byte.to_ascii_uppercase());
        std::iter::once(byte).chain(other)
    }

    /// The window of `width` bytes that is rarest in ordinary text, and how rare: its start and a
    /// score that is higher for rarer bytes.
    pub fn rarest_window(&self, width: usize) -> (usize, u32) {
        let rarity = |position: usize| {
            let commonest = self.variants(position).map(rank).max().unwrap_or(u8::MAX);
            // Even the commonest byte tells something.
            32 + u32::from(u8::MAX - commonest)
        };
        (0..=self.bytes.len().saturating_sub(width))
            .map(|start| (start, (start..self.bytes.len().min(start + width)).map(rarity).sum()))
            .max_by_key(|&(start, score): &(usize, u32)| (score, std::cmp::Reverse(start)))
            .unwrap_or((0, 0))
    }
}

/// Joins literals that differ only in the case of ASCII letters.
///
/// Answers whether what is left means exactly the same: it stands for more where only some of the
/// spellings were there.
pub fn fold(literals: &[&[u8]]) -> (Vec<Needle>, bool) {
    let mut groups: BTreeMap<Vec<u8>, Vec<&[u8]>> = BTreeMap::new();
    for literal in literals {
        let group = groups.entry(literal.to_ascii_lowercase()).or_default();
        if !group.contains(literal) {
            group.push(literal);
        }
    }
    let mut exact = true;
    let needles = groups.into_iter().map(|(folded, spellings)| match spellings.as_slice() {
        [only] => Needle { bytes: only.to_vec(), any_case: false },
        _ => {
            let letters = folded.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
            let all = u32::try_from(letters).ok().and_then(|letters| 1_usize.checked_shl(letters));
            exact &= Some(spellings.len()) == all;
            Needle { bytes: folded, any_case: true }
        }
    });
    let needles = needles.collect();
    (needles, exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needle(text: &str, any_case: bool) -> Needle {
        Needle { bytes: text.into(), any_case }
    }

    #[test]
    fn spellings_are_joined() {
        let (needles, exact) = fold(&[b"ab", b"aB", b"Ab", b"AB", b"x1", b"ab"]);
        assert_eq!(needles, [needle("ab", true), needle("x1", false)]);
        assert!(exact);
    }

    #[test]
    fn some_spellings_stand_for_all_but_not_exactly() {
        let (needles, exact) = fold(&[b"ab", b"AB"]);
        assert_eq!(needles, [needle("ab", true)]);
        assert!(!exact);
    }

    #[test]
    fn one_spelling_stays_as_it_is() {
        let (needles, exact) = fold(&[b"AbC"]);
        assert_eq!(needles, [needle("AbC", false)]);
        assert!(exact);
    }

    #[test]
    fn rare_bytes_make_the_window() {
        assert_eq!(needle("the_QZ_ee", false).rarest_window(2).0, 4);
        assert_eq!(needle("ab", false).rarest_window(2).0, 0);
        assert_eq!(needle("a", false).rarest_window(1).0, 0);
    }

    #[test]
    fn starts_looks_at_the_head_only() {
        assert!(needle("ab", true).starts(b"aBc"));
        assert!(!needle("ab", false).starts(b"aBc"));
        assert!(!needle("ab", true).starts(b"a"));
    }
}
