//! Finds where a match could be, many bytes at a time, so that the regular expression runs only
//! on lines that have a chance.
//!
//! The regex crates do the same, but their vectorised search for several literals exists only for
//! x86-64 and aarch64; on WebAssembly they fall back to one byte at a time. Here the literals that
//! every match must contain are taken from the parsed expression ([`required`]) and searched for
//! by `memchr::memmem`, which knows WebAssembly's vectors, or by [`teddy`], for several literals
//! and for those without regard to case.
//!
//! A prefilter may report a place that turns out not to match; it never passes one over. Where the
//! literals are all there is to the expression it is exact, and no regular expression runs at all.

mod lanes;
mod needle;
mod required;
mod teddy;

use memchr::memmem;
use regex_syntax::hir::Hir;

use self::teddy::Teddy;

/// Looks for the literals of one expression.
#[derive(Debug)]
pub struct Prefilter {
    search: Search,
    exact: bool,
}

#[derive(Debug)]
enum Search {
    One(Box<memmem::Finder<'static>>),
    Several(Box<Teddy>),
}

impl Prefilter {
    /// None where there is no literal that every match contains, or where looking for them would
    /// not pay.
    pub fn new(hir: &Hir) -> Option<Prefilter> {
        let required = required::literals(hir)?;
        let search = match required.needles.as_slice() {
            [only] if !only.any_case => {
                Search::One(Box::new(memmem::Finder::new(&only.bytes).into_owned()))
            }
            _ => Search::Several(Box::new(Teddy::new(required.needles)?)),
        };
        Some(Prefilter { search, exact: required.exact })
    }

    /// A position in the first line that holds one of the literals.
    pub fn find(&self, haystack: &[u8]) -> Option<usize> {
        match &self.search {
            Search::One(finder) => finder.find(haystack),
            Search::Several(teddy) => teddy.find(haystack),
        }
    }

    /// Whether what it finds is a match for certain.
    pub fn is_exact(&self) -> bool {
        self.exact
    }
}
