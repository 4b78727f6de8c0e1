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
//! The algorithm is written once over [`Lanes`]. [`Portable`] is plain Rust, for other targets and
//! for tests; on WebAssembly with vectors it is one instruction each.

use super::needle::Needle;

/// More literals would make nearly every place a candidate.
pub const MAX_NEEDLES: usize = 64;

/// Bytes of a window; with three, false candidates are rare already.
pub const MAX_WIDTH: usize = 3;

const LANES: usize = 16;
const BUCKETS: usize = 8;

/// Vectors looked at before the first decision: one branch for all of them.
const UNROLL: usize = 4;

/// Sixteen bytes that are worked on at once.
trait Lanes: Copy {
    fn load(bytes: &[u8; LANES]) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn low_halves(self) -> Self;
    fn high_halves(self) -> Self;
    /// For each byte of `self`, all below sixteen, the byte of `table` at that place.
    fn look_up(self, table: Self) -> Self;
    fn any(self) -> bool;
    fn to_bytes(self) -> [u8; LANES];
}

/// The lanes one after the other.
#[derive(Clone, Copy)]
#[cfg_attr(all(target_arch = "wasm32", target_feature = "simd128"), allow(dead_code))]
struct Portable([u8; LANES]);

impl Portable {
    fn each(self, change: impl Fn(u8) -> u8) -> Self {
        Portable(self.0.map(change))
    }

    fn pairs(self, other: Self, join: impl Fn(u8, u8) -> u8) -> Self {
        Portable(std::array::from_fn(|lane| join(self.0[lane], other.0[lane])))
    }
}

impl Lanes for Portable {
    fn load(bytes: &[u8; LANES]) -> Self {
        Portable(*bytes)
    }

    fn and(self, other: Self) -> Self {
        self.pairs(other, |one, two| one & two)
    }

    fn or(self, other: Self) -> Self {
        self.pairs(other, |one, two| one | two)
    }

    fn low_halves(self) -> Self {
        self.each(|byte| byte & 0x0F)
    }

    fn high_halves(self) -> Self {
        self.each(|byte| byte >> 4)
    }

    fn look_up(self, table: Self) -> Self {
        self.each(|index| table.0[usize::from(index & 0x0F)])
    }

    fn any(self) -> bool {
        self.0 != [0; LANES]
    }

    fn to_bytes(self) -> [u8; LANES] {
        self.0
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod vector {
    use core::arch::wasm32::{
        i8x16_swizzle, u8x16_shr, u8x16_splat, v128, v128_and, v128_any_true, v128_load, v128_or,
        v128_store,
    };

    use super::{LANES, Lanes};

    /// One 128-bit register.
    #[derive(Clone, Copy)]
    pub struct Vector(v128);

    impl Lanes for Vector {
        #[inline(always)]
        fn load(bytes: &[u8; LANES]) -> Self {
            // SAFETY: the reference covers sixteen readable bytes, and v128_load needs no alignment.
            Vector(unsafe { v128_load(bytes.as_ptr().cast()) })
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            Vector(v128_and(self.0, other.0))
        }

        #[inline(always)]
        fn or(self, other: Self) -> Self {
            Vector(v128_or(self.0, other.0))
        }

        #[inline(always)]
        fn low_halves(self) -> Self {
            Vector(v128_and(self.0, u8x16_splat(0x0F)))
        }

        #[inline(always)]
        fn high_halves(self) -> Self {
            Vector(u8x16_shr(self.0, 4))
        }

        #[inline(always)]
        fn look_up(self, table: Self) -> Self {
            Vector(i8x16_swizzle(table.0, self.0))
        }

        #[inline(always)]
        fn any(self) -> bool {
            v128_any_true(self.0)
        }

        #[inline(always)]
        fn to_bytes(self) -> [u8; LANES] {
            let mut bytes = [0; LANES];
            // SAFETY: the array is sixteen writable bytes, and v128_store needs no alignment.
            unsafe { v128_store(bytes.as_mut_ptr().cast(), self.0) };
            bytes
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
type Native = vector::Vector;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
type Native = Portable;

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
        let candidates = |bytes: &[u8; LANES], place: usize| {
            let bytes = L::load(bytes);
            bytes.low_halves().look_up(low[place]).and(bytes.high_halves().look_up(high[place]))
        };
        // The candidates among the sixteen positions from `start`.
        let vector = |block: &[u8], start: usize| -> Option<L> {
            let mut found = candidates(block.get(start..)?.first_chunk()?, 0);
            for place in 1..WIDTH {
                found = found.and(candidates(block.get(start + place..)?.first_chunk()?, place));
            }
            Some(found)
        };

        let mut at = 0;
        while let Some(block) = haystack.get(at..at + UNROLL * LANES + WIDTH - 1) {
            let mut found = [L::load(&[0; LANES]); UNROLL];
            for (index, found) in found.iter_mut().enumerate() {
                *found = vector(block, index * LANES)?;
            }
            if found.into_iter().reduce(L::or)?.any() {
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
