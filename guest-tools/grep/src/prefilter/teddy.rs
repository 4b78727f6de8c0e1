//! Looks for several literals at once, sixteen positions at a time.
//!
//! The idea is Teddy's, from Intel's Hyperscan: every literal belongs to one of eight buckets, a
//! bit each. For every byte of a short window two tables of sixteen entries say, by the byte's low
//! and high half, in which buckets a literal could have that byte there. A byte shuffle looks up
//! sixteen bytes at once; the lookups of all window bytes are joined by "and", and where a bit is
//! left a literal of that bucket may be. Those places are compared in full, so what is reported is
//! always one of the literals.
//!
//! The window need not be a literal's beginning: each has its own, where its rarest bytes are.
//!
//! The algorithm is written once, over [`Lanes`].

use super::lanes::{BLOCK, LANES, Lanes, Native, UNROLL};
use super::needle::Needle;

/// More literals would make nearly every place a candidate.
pub const MAX_NEEDLES: usize = 64;

/// Bytes of a window; with three, false candidates are rare already.
pub const MAX_WIDTH: usize = 3;

const BUCKETS: usize = 8;

/// In which buckets a byte may be at one place of the window.
#[derive(Debug, Clone, Copy, Default)]
struct Table {
    by_low_half: [u8; LANES],
    by_high_half: [u8; LANES],
}

impl Table {
    fn add(&mut self, byte: u8, bucket: usize) {
        self.by_low_half[usize::from(byte & 0x0F)] |= 1 << bucket;
        self.by_high_half[usize::from(byte >> 4)] |= 1 << bucket;
    }

    fn buckets(&self, byte: u8) -> u8 {
        self.by_low_half[usize::from(byte & 0x0F)] & self.by_high_half[usize::from(byte >> 4)]
    }
}

/// The buckets that have a candidate at each of the sixteen positions from `start`.
#[inline(always)]
fn candidates<L: Lanes, const WIDTH: usize>(
    block: &[u8; BLOCK],
    start: usize,
    low: &[L; WIDTH],
    high: &[L; WIDTH],
) -> L {
    let at = |place: usize| {
        let bytes = L::load_at(block, start + place);
        bytes.low_halves().look_up(low[place]).and(bytes.high_halves().look_up(high[place]))
    };
    let mut found = at(0);
    for place in 1..WIDTH {
        found = found.and(at(place));
    }
    found
}

/// A needle and where in it its window is.
#[derive(Debug)]
struct Member {
    needle: Needle,
    window: usize,
}

/// A search for any of some literals.
#[derive(Debug)]
pub struct Teddy {
    width: usize,
    tables: [Table; MAX_WIDTH],
    buckets: [Vec<Member>; BUCKETS],
}

impl Teddy {
    /// None for no needles, an empty one, or too many.
    pub fn new(needles: Vec<Needle>) -> Option<Teddy> {
        let shortest = needles.iter().map(|needle| needle.bytes.len()).min()?;
        if shortest == 0 || needles.len() > MAX_NEEDLES {
            return None;
        }
        let width = shortest.min(MAX_WIDTH);
        let mut members: Vec<Member> = needles
            .into_iter()
            .map(|needle| Member { window: needle.rarest_window(width).0, needle })
            .collect();
        // Like windows share a bucket, so that the tables let little else through.
        members.sort_by(|one, other| {
            let window = |member: &Member| member.needle.bytes[member.window..].to_vec();
            window(one).cmp(&window(other))
        });
        let mut teddy = Teddy { width, tables: Default::default(), buckets: Default::default() };
        let count = members.len();
        for (index, member) in members.into_iter().enumerate() {
            let bucket = if count <= BUCKETS { index } else { index * BUCKETS / count };
            for place in 0..width {
                for byte in member.needle.variants(member.window + place) {
                    teddy.tables[place].add(byte, bucket);
                }
            }
            teddy.buckets[bucket].push(member);
        }
        Some(teddy)
    }

    /// The start of the occurrence whose window comes first. No literal holds a line break, so
    /// this is in the first line that has any.
    pub fn find(&self, haystack: &[u8]) -> Option<usize> {
        self.find_by::<Native>(haystack)
    }

    fn find_by<L: Lanes>(&self, haystack: &[u8]) -> Option<usize> {
        match self.width {
            1 => self.scan::<L, 1>(haystack),
            2 => self.scan::<L, 2>(haystack),
            _ => self.scan::<L, 3>(haystack),
        }
    }

    fn scan<L: Lanes, const WIDTH: usize>(&self, haystack: &[u8]) -> Option<usize> {
        let low: [L; WIDTH] = std::array::from_fn(|place| L::load(&self.tables[place].by_low_half));
        let high: [L; WIDTH] =
            std::array::from_fn(|place| L::load(&self.tables[place].by_high_half));
        let mut at = 0;
        // The block has a fixed size, so that all places in it are known when this is compiled.
        while let Some(block) = haystack.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) {
            let found = [0, 1, 2, 3].map(|index| candidates(block, index * LANES, &low, &high));
            let [first, second, third, fourth] = found;
            if first.or(second).or(third.or(fourth)).any() {
                for (index, found) in found.into_iter().enumerate() {
                    if found.any()
                        && let Some(start) =
                            self.confirm(haystack, at + index * LANES, found.to_bytes())
                    {
                        return Some(start);
                    }
                }
            }
            at += UNROLL * LANES;
        }
        self.scan_rest(haystack, at)
    }

    /// The end of the haystack, too short for vectors.
    fn scan_rest(&self, haystack: &[u8], from: usize) -> Option<usize> {
        let windows = haystack.get(from..)?.windows(self.width);
        windows.enumerate().find_map(|(offset, window)| {
            let tables = self.tables.iter().zip(window);
            let buckets = tables.fold(u8::MAX, |left, (table, byte)| left & table.buckets(*byte));
            self.verify(haystack, from + offset, buckets)
        })
    }

    #[cold]
    fn confirm(&self, haystack: &[u8], start: usize, lanes: [u8; LANES]) -> Option<usize> {
        lanes
            .into_iter()
            .enumerate()
            .find_map(|(lane, buckets)| self.verify(haystack, start + lane, buckets))
    }

    /// Compares the literals of `buckets` whose window would be at `position`.
    fn verify(&self, haystack: &[u8], position: usize, mut buckets: u8) -> Option<usize> {
        while buckets != 0 {
            let bucket = buckets.trailing_zeros() as usize;
            buckets &= buckets - 1;
            for member in &self.buckets[bucket] {
                let start = position.checked_sub(member.window);
                if let Some(start) = start
                    && member.needle.starts(&haystack[start..])
                {
                    return Some(start);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lanes::Portable;
    use super::*;

    fn needle(bytes: &[u8], any_case: bool) -> Needle {
        let bytes = if any_case { bytes.to_ascii_lowercase() } else { bytes.to_vec() };
        Needle { bytes, any_case }
    }

    /// Whether the answer is an occurrence with none in an earlier line.
    fn check(needles: &[Needle], haystack: &[u8], found: Option<usize>) -> Result<(), String> {
        let holds = |at: usize| needles.iter().any(|needle| needle.starts(&haystack[at..]));
        let first = (0..haystack.len()).find(|&at| holds(at));
        let line = |at: usize| haystack[..at].iter().filter(|&&byte| byte == b'\n').count();
        match (found, first) {
            (None, None) => Ok(()),
            (Some(found), Some(first)) if holds(found) && line(found) == line(first) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn found_at_every_offset() {
        let needles =
            [needle(b"needle", false), needle(b"PIN", true), needle(b"\xFF\x00\x80", false)];
        let teddy = Teddy::new(needles.to_vec()).unwrap();
        for length in [3, 15, 16, 17, 18, 63, 64, 65, 66, 67, 130, 200] {
            for literal in [&b"needle"[..], b"pIn", b"\xFF\x00\x80"] {
                for at in 0..=usize::saturating_sub(length, literal.len()) {
                    let mut haystack = vec![b'.'; length.max(literal.len())];
                    haystack[at..at + literal.len()].copy_from_slice(literal);
                    assert_eq!(teddy.find(&haystack), Some(at), "{length} {at}");
                }
            }
            assert_eq!(teddy.find(&vec![b'e'; length]), None);
        }
        assert_eq!(teddy.find(b""), None);
        assert_eq!(teddy.find(b"p"), None);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Teddy::new(Vec::new()).is_none());
        assert!(Teddy::new(vec![needle(b"", false)]).is_none());
        assert!(Teddy::new(vec![needle(b"ab", false); MAX_NEEDLES + 1]).is_none());
    }

    fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            8 => prop::sample::select(&b"abcABCkKsS"[..]),
            2 => prop::sample::select(&b"\n\x80\xE2\xC5\xFF\x1A"[..]),
        ];
        prop::collection::vec(byte, 0..most)
    }

    fn literal() -> impl Strategy<Value = Needle> {
        (bytes(6), any::<bool>()).prop_filter_map("usable", |(bytes, any_case)| {
            (!bytes.is_empty() && !bytes.contains(&b'\n')).then(|| needle(&bytes, any_case))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn the_same_as_looking_everywhere(
            needles in prop::collection::vec(literal(), 1..20),
            haystack in bytes(300),
        ) {
            let teddy = Teddy::new(needles.clone()).unwrap();
            let found = teddy.find(&haystack);
            prop_assert_eq!(check(&needles, &haystack, found), Ok(()));
            prop_assert_eq!(teddy.find_by::<Portable>(&haystack), found);
        }
    }
}
