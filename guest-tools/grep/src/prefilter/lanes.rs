//! Sixteen bytes at once, as far as the search in [`super::teddy`] needs it.
//!
//! [`Portable`] is plain Rust, for other targets and for tests; on WebAssembly with vectors each
//! function is about one instruction.

use super::teddy::MAX_WIDTH;

pub const LANES: usize = 16;

/// Vectors looked at before the first decision: one branch for all of them.
pub const UNROLL: usize = 4;

/// Bytes that those vectors touch, with the widest window.
pub const BLOCK: usize = UNROLL * LANES + MAX_WIDTH - 1;

/// Sixteen bytes that are worked on at once.
pub trait Lanes: Copy {
    fn load(bytes: &[u8; LANES]) -> Self;
    /// The sixteen bytes of `block` from `at`; panics where there are fewer.
    fn load_at(block: &[u8; BLOCK], at: usize) -> Self;
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
pub struct Portable([u8; LANES]);

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

    fn load_at(block: &[u8; BLOCK], at: usize) -> Self {
        Portable(std::array::from_fn(|lane| block[at + lane]))
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

    use super::{BLOCK, LANES, Lanes};

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
        fn load_at(block: &[u8; BLOCK], at: usize) -> Self {
            // Known when this is compiled, so that it costs nothing.
            assert!(at + LANES <= BLOCK);
            // SAFETY: the sixteen bytes from `at` are inside the block, as was just checked, and
            // v128_load needs no alignment.
            Vector(unsafe { v128_load(block.as_ptr().add(at).cast()) })
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
pub type Native = vector::Vector;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub type Native = Portable;
