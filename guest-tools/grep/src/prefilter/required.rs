//! Which literals every match of an expression must contain.
//!
//! `regex-syntax` extracts the literals that a match can begin with. Often better ones are further
//! in, as in `\w+_resume`: every match contains a match of each tail of a concatenation, and so
//! one of the literals with which that tail can begin. The set that is rarest in ordinary text
//! wins.

use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind};

use super::needle::{Needle, fold};
use super::teddy::{MAX_NEEDLES, MAX_WIDTH};

/// Enough for every spelling of a word of ten letters; only joined ones are kept.
const MAX_LITERALS: usize = 1024;

/// Longer literals tell nothing more, and make extraction slow.
const MAX_LITERAL_BYTES: usize = 24;

/// How many parts of a concatenation are looked at: bounds the work on a huge expression.
const MAX_PARTS: usize = 64;

/// How deep groups are looked into; the parser's own limit is near this.
const MAX_DEPTH: usize = 32;

/// What every match contains one of.
#[derive(Debug)]
pub struct Required {
    pub needles: Vec<Needle>,
    /// Whether the needles are the whole expression: each one is a match.
    pub exact: bool,
}

impl Required {
    /// Higher is rarer. The needle that is found most often decides, and many are worse than few.
    fn score(&self) -> u32 {
        let width = self.needles.iter().map(|needle| needle.bytes.len()).min().unwrap_or(0);
        let width = width.min(MAX_WIDTH);
        let rarest = |needle: &Needle| needle.rarest_window(width).1;
        let worst = self.needles.iter().map(rarest).min().unwrap_or(0);
        worst.saturating_sub(24 * self.needles.len().ilog2())
    }

    /// One common byte would be found on every line; then the expression may as well run by itself.
    fn pays(&self) -> bool {
        self.exact || self.needles.iter().all(|needle| needle.bytes.len() >= 2)
    }
}

/// The best set, or none where a match need not contain any.
pub fn literals(hir: &Hir) -> Option<Required> {
    let mut best = search(hir, 0)?;
    // Extraction takes look-around for nothing at all.
    best.exact &= hir.properties().look_set().is_empty();
    // The matcher takes `\r` out of classes, where lines may end in it.
    best.exact &= !best.needles.iter().any(|needle| needle.bytes.contains(&b'\r'));
    best.pays().then_some(best)
}

fn search(hir: &Hir, depth: usize) -> Option<Required> {
    let inner = match hir.kind() {
        _ if depth > MAX_DEPTH => None,
        HirKind::Capture(capture) => return search(&capture.sub, depth + 1),
        HirKind::Repetition(repetition) if repetition.min > 0 => {
            search(&repetition.sub, depth + 1).map(inexact)
        }
        HirKind::Concat(parts) => best_part(parts, depth),
        HirKind::Alternation(branches) => every_branch(branches, depth),
        _ => None,
    };
    better(beginning(hir), inner)
}

/// The literals that a match begins with.
fn beginning(hir: &Hir) -> Option<Required> {
    let mut extractor = Extractor::new();
    extractor.limit_total(MAX_LITERALS).limit_literal_len(MAX_LITERAL_BYTES);
    let sequence = extractor.extract(hir);
    let literals: Vec<&[u8]> =
        sequence.literals()?.iter().map(|literal| literal.as_bytes()).collect();
    // A line break cannot be in a match; an expression with one is refused elsewhere, or matches it
    // only among other characters.
    let usable = |literal: &&[u8]| !literal.is_empty() && !literal.contains(&b'\n');
    if literals.is_empty() || !literals.iter().all(usable) {
        return None;
    }
    let (needles, folded_exactly) = fold(&literals);
    let exact = folded_exactly && sequence.is_exact();
    (needles.len() <= MAX_NEEDLES).then_some(Required { needles, exact })
}

fn best_part(parts: &[Hir], depth: usize) -> Option<Required> {
    let mut best = None;
    for (index, part) in parts.iter().enumerate().take(MAX_PARTS) {
        if index > 0 {
            let end = parts.len().min(index + MAX_LITERAL_BYTES);
            let tail = Hir::concat(parts[index..end].to_vec());
            best = better(best, beginning(&tail).map(inexact));
        }
        // What the extractor saw of a plain part, it saw in the tail.
        let plain = matches!(part.kind(), HirKind::Literal(_) | HirKind::Class(_));
        if !plain {
            best = better(best, search(part, depth + 1).map(inexact));
        }
    }
    best
}

/// Each branch by its own best literals.
fn every_branch(branches: &[Hir], depth: usize) -> Option<Required> {
    let mut needles = Vec::new();
    let mut exact = true;
    for branch in branches {
        let required = search(branch, depth + 1)?;
        exact &= required.exact;
        needles.extend(required.needles);
        if needles.len() > MAX_NEEDLES {
            return None;
        }
    }
    needles.sort();
    needles.dedup();
    Some(Required { needles, exact })
}

fn inexact(required: Required) -> Required {
    Required { exact: false, ..required }
}

/// An exact set is worth more than a rare one: it saves the expression altogether.
fn better(one: Option<Required>, other: Option<Required>) -> Option<Required> {
    match (one, other) {
        (Some(one), Some(other)) => {
            let rank = |required: &Required| (required.pays(), required.exact, required.score());
            Some(if rank(&other) > rank(&one) { other } else { one })
        }
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str) -> Option<(Vec<String>, bool)> {
        let hir = regex_syntax::parse(pattern).unwrap();
        literals(&hir).map(|required| {
            let show = |needle: &Needle| {
                let text = String::from_utf8_lossy(&needle.bytes).into_owned();
                if needle.any_case { format!("(?i){text}") } else { text }
            };
            (required.needles.iter().map(show).collect(), required.exact)
        })
    }

    fn some(literals: &[&str], exact: bool) -> Option<(Vec<String>, bool)> {
        Some((literals.iter().map(|literal| (*literal).to_owned()).collect(), exact))
    }

    #[test]
    fn plain_literals_are_exact() {
        assert_eq!(found("resume"), some(&["resume"], true));
        assert_eq!(found("(alpha|beta)"), some(&["alpha", "beta"], true));
        assert_eq!(found("x"), some(&["x"], true));
    }

    #[test]
    fn case_is_joined_and_unicode_spellings_are_kept() {
        assert_eq!(found("(?i)ab_c"), some(&["(?i)ab_c"], true));
        assert_eq!(found("(?i)kid"), some(&["(?i)kid", "(?i)\u{212A}id"], true));
        assert_eq!(found("(?i)so"), some(&["(?i)so", "(?i)\u{17F}o"], true));
        assert_eq!(found("(?i-u)kid"), some(&["(?i)kid"], true));
    }

    #[test]
    fn look_around_is_not_exact() {
        assert_eq!(found(r"\bresume\b"), some(&["resume"], false));
        assert_eq!(found(r"^(?:alpha|beta)$"), some(&["alpha", "beta"], false));
        assert_eq!(found(r"(?:\balpha|beta)"), some(&["alpha", "beta"], false));
        assert_eq!(found(r"[b\r]eta"), some(&["\reta", "beta"], false));
    }

    #[test]
    fn literals_further_in_are_found() {
        assert_eq!(found(r"\w+_resume"), some(&["_resume"], false));
        assert_eq!(found(r"\w+(?:_resume)+\d*"), some(&["_resume"], false));
        assert_eq!(found(r"\d+alpha|\d+beta"), some(&["alpha", "beta"], false));
    }

    #[test]
    fn nothing_where_a_match_need_not_contain_any() {
        for pattern in [r"\w+", "a*", "(?:foo)?", r"foo|\d+", "", ".*", "[a-z]{3}", r"(?-u:[a&&b])"]
        {
            assert_eq!(found(pattern), None, "{pattern}");
        }
        // Found on nearly every line, and the expression would have to run there.
        assert_eq!(found(r"e\w+"), None);
    }

    #[test]
    fn long_words_without_case_stay_few() {
        let (needles, exact) = found("(?i)international_business_machines").unwrap();
        assert!(needles.len() <= 4, "{needles:?}");
        assert!(!exact);
    }

    #[test]
    fn huge_expressions_are_bounded() {
        let words: Vec<String> = (0..5000).map(|number| format!("word{number}")).collect();
        let started = std::time::Instant::now();
        found(&words.join("|"));
        found(&format!("(?i){}", "abcdefgh".repeat(1000)));
        found(&format!("(?i){}", r"a\w*".repeat(1000)));
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}
