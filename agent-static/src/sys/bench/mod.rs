//! Measurement loops for the ceilings: reading memory, copying it, and arithmetic with the widest
//! instructions of the CPU.
//!
//! They are assembly for three reasons. A debug build measures the same as a release build. No
//! compiler removes a loop without a result. Instructions without stable intrinsics are available.
//! A table per architecture lists each loop with the CPU feature that it needs. A loop whose
//! feature is missing is never returned.

#[cfg_attr(target_arch = "x86_64", path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "arm64.rs")]
mod loops;

/// Number of 64-bit words of a block.
pub const BLOCK_WORDS: usize = 64;
/// Bytes of a block: the unit in which memory is read and copied, eight cache lines of 64 bytes.
pub const BLOCK_BYTES: usize = BLOCK_WORDS * 8;

/// Memory to read or copy.
#[repr(C, align(64))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block(pub [u64; BLOCK_WORDS]);

/// Maximum number of accumulators of an arithmetic loop, and bytes of the widest one.
const MAX_ACCUMULATORS: usize = 16;
const MAX_WIDTH: usize = 64;

/// The two factors of an arithmetic loop, as in the registers.
#[repr(C, align(64))]
#[derive(Debug, Clone)]
pub struct Factors(pub [[u8; MAX_WIDTH]; 2]);

/// The result of an arithmetic loop: its accumulators one after another.
#[repr(C, align(64))]
#[derive(Debug, Clone)]
pub struct Accumulators(pub [u8; MAX_ACCUMULATORS * MAX_WIDTH]);

impl Default for Accumulators {
    fn default() -> Self {
        Self([0; MAX_ACCUMULATORS * MAX_WIDTH])
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// Display name of its instructions.
    pub how: &'static str,
    run: unsafe extern "C" fn(from: *const Block, blocks: u64) -> u64,
}

impl Reader {
    /// Reads the memory. Returns the sum of its 64-bit words, modulo 2^64.
    #[must_use]
    pub fn read(&self, memory: &[Block]) -> u64 {
        if memory.is_empty() {
            return 0;
        }
        // SAFETY: The loop reads exactly this slice, which is not empty, as its count says. The CPU
        // has its instructions: only `readers` creates such a value, after it checked the CPU. The
        // loop follows the C calling convention.
        unsafe { (self.run)(memory.as_ptr(), memory.len() as u64) }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Copier {
    /// Display name of its instructions.
    pub how: &'static str,
    run: unsafe extern "C" fn(to: *mut Block, from: *const Block, blocks: u64),
}

impl Copier {
    /// Copies as much as both slices have.
    pub fn copy(&self, to: &mut [Block], from: &[Block]) {
        let blocks = to.len().min(from.len());
        if blocks > 0 {
            // SAFETY: Both slices have this number of blocks, more than 0. They do not overlap,
            // since one is borrowed mutably. Every CPU of the architecture has the instructions of
            // the copy loops. The loops follow the C calling convention.
            unsafe { (self.run)(to.as_mut_ptr(), from.as_ptr(), blocks as u64) }
        }
    }
}

/// Number type of an arithmetic loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// 8-bit integers, sums in 32 bits.
    Int8,
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
}

/// The products that an accumulator receives in each round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// 32-bit lane `i` receives the products of the 8-bit numbers `4i` to `4i + 3`.
    Dot,
    /// 32-bit lane `i` receives the products of the 8-bit numbers `2i`, `2i + 1`, `8 + 2i` and `9 +
    /// 2i`.
    Pairs,
    /// The factors are matrices of two rows. 32-bit lane `2r + c` receives the products of row `r`
    /// of one and row `c` of the other.
    Matrix,
    /// 32-bit float lane `i` receives the product of the numbers `i`.
    Lanes,
    /// The same with 16-bit float lanes.
    HalfLanes,
}

/// A loop of multiplications and additions on registers. It has enough accumulators that no
/// instruction waits for the result of another.
#[derive(Debug, Clone, Copy)]
pub struct Arithmetic {
    /// Type of the multiplied numbers.
    pub numbers: Numbers,
    /// Display name of its instructions.
    pub how: &'static str,
    /// The products that each accumulator receives.
    pub form: Form,
    /// Bytes per accumulator, at most 64.
    pub width: usize,
    /// Number of accumulators, at most 16.
    pub accumulators: usize,
    /// Multiplications and additions per accumulator and round.
    pub ops: u64,
    run: unsafe extern "C" fn(rounds: u64, factors: *const Factors, to: *mut Accumulators),
}

impl Arithmetic {
    /// Multiplies and adds `rounds` times, into accumulators that start at 0.
    pub fn run(&self, rounds: u32, factors: &Factors, to: &mut Accumulators) {
        if rounds > 0 {
            // SAFETY: The loop reads at most the 128 bytes of `factors` and writes `accumulators` ×
            // `width` bytes, for which `Accumulators` has space (see the tables). `rounds` is not
            // 0. The CPU has its instructions: only `arithmetic` creates such a value, after it
            // checked the CPU. The loop follows the C calling convention.
            unsafe { (self.run)(u64::from(rounds), factors, to) }
        }
    }

    /// Multiplications and additions per round.
    #[must_use]
    pub const fn ops_per_round(&self) -> u64 {
        self.ops * self.accumulators as u64
    }
}

/// The loop that reads with the widest registers of this CPU.
#[must_use]
pub fn reader() -> Reader {
    loops::reader()
}

/// The copy loops. Which one is fastest depends on the memory.
#[must_use]
pub fn copiers() -> &'static [Copier] {
    loops::COPIERS
}

/// The arithmetic loops that this CPU can run, for each number type the widest first.
#[must_use]
pub fn arithmetic() -> Vec<Arithmetic> {
    loops::ARITHMETIC.iter().filter(|(available, _)| available()).map(|(_, a)| *a).collect()
}
