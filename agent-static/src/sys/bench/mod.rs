//! Measuring loops for the ceilings: reading memory, copying it, and arithmetic with the widest instructions that the
//! CPU has.
//!
//! They are assembly, so that a debug build measures the same as a release build, that no compiler takes a loop
//! without a result away, and that instructions without stable intrinsics are within reach. A table of the architecture names
//! each loop together with the ability of the CPU that it needs; a loop whose ability is missing is never given out.

#[cfg_attr(target_arch = "x86_64", path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "arm64.rs")]
mod loops;

/// 64-bit words of a block.
pub const BLOCK_WORDS: usize = 64;
/// Bytes of a block: the unit in which memory is read and copied, eight cache lines of 64 bytes.
pub const BLOCK_BYTES: usize = BLOCK_WORDS * 8;

/// A piece of memory to read or copy.
#[repr(C, align(64))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block(pub [u64; BLOCK_WORDS]);

/// Most accumulators of an arithmetic loop, and bytes of the widest.
const MAX_ACCUMULATORS: usize = 16;
const MAX_WIDTH: usize = 64;

/// The two factors of an arithmetic loop, as the registers hold them.
#[repr(C, align(64))]
#[derive(Debug, Clone)]
pub struct Factors(pub [[u8; MAX_WIDTH]; 2]);

/// What an arithmetic loop leaves: its accumulators one behind the other.
#[repr(C, align(64))]
#[derive(Debug, Clone)]
pub struct Accumulators(pub [u8; MAX_ACCUMULATORS * MAX_WIDTH]);

impl Default for Accumulators {
    fn default() -> Self {
        Self([0; MAX_ACCUMULATORS * MAX_WIDTH])
    }
}

/// A loop that reads memory.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// Its instructions, for people.
    pub how: &'static str,
    run: unsafe extern "C" fn(from: *const Block, blocks: u64) -> u64,
}

impl Reader {
    /// Reads all of it. The result is the sum of its 64-bit words, modulo 2^64.
    #[must_use]
    pub fn read(&self, memory: &[Block]) -> u64 {
        if memory.is_empty() {
            return 0;
        }
        // SAFETY: The loop reads exactly this slice, which is not empty, as its count says. The CPU has its instructions:
        // only `readers` makes such a value, after it asked the CPU. It keeps the C calling convention.
        unsafe { (self.run)(memory.as_ptr(), memory.len() as u64) }
    }
}

/// A loop that copies memory.
#[derive(Debug, Clone, Copy)]
pub struct Copier {
    /// Its instructions, for people.
    pub how: &'static str,
    run: unsafe extern "C" fn(to: *mut Block, from: *const Block, blocks: u64),
}

impl Copier {
    /// Copies the common length of both.
    pub fn copy(&self, to: &mut [Block], from: &[Block]) {
        let blocks = to.len().min(from.len());
        if blocks > 0 {
            // SAFETY: Both slices have this many blocks, more than 0, and do not overlap, since one is borrowed mutably. Every
            // CPU of the architecture has the instructions of the loops for copying. They keep the C calling convention.
            unsafe { (self.run)(to.as_mut_ptr(), from.as_ptr(), blocks as u64) }
        }
    }
}

/// Type of the numbers of an arithmetic loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// 8-bit integers, sums in 32 bits.
    Int8,
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
}

/// Which products an accumulator gets from the factors in each round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// 32-bit lane `i` gets the products of the 8-bit numbers `4i` to `4i + 3`.
    Dot,
    /// 32-bit lane `i` gets the products of the 8-bit numbers `2i`, `2i + 1`, `8 + 2i` and `9 + 2i`.
    Pairs,
    /// The factors are matrices of two rows; 32-bit lane `2r + c` gets the products of row `r` of one and row `c` of the other.
    Matrix,
    /// 32-bit float lane `i` gets the product of the numbers `i`.
    Lanes,
    /// The same with 16-bit float lanes.
    HalfLanes,
}

/// A loop of multiplications and additions on registers, with so many accumulators that no instruction waits for the
/// result of another.
#[derive(Debug, Clone, Copy)]
pub struct Arithmetic {
    /// Numbers that it multiplies.
    pub numbers: Numbers,
    /// Its instructions, for people.
    pub how: &'static str,
    /// What each accumulator gets.
    pub form: Form,
    /// Bytes of an accumulator, at most 64.
    pub width: usize,
    /// Accumulators, at most 16.
    pub accumulators: usize,
    /// Multiplications and additions of one accumulator in one round.
    pub ops: u64,
    run: unsafe extern "C" fn(rounds: u64, factors: *const Factors, to: *mut Accumulators),
}

impl Arithmetic {
    /// Multiplies and adds `rounds` times, into accumulators that begin at 0.
    pub fn run(&self, rounds: u32, factors: &Factors, to: &mut Accumulators) {
        if rounds > 0 {
            // SAFETY: The loop reads at most the 128 bytes of `factors` and writes `accumulators` × `width` bytes, which
            // `Accumulators` has room for (see the tables); rounds are not 0. The CPU has its instructions: only
            // `arithmetic` makes such a value, after it asked the CPU. It keeps the C calling convention.
            unsafe { (self.run)(u64::from(rounds), factors, to) }
        }
    }

    /// Multiplications and additions of one round.
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

/// The loops that copy. Which one is the fastest depends on the memory.
#[must_use]
pub fn copiers() -> &'static [Copier] {
    loops::COPIERS
}

/// The arithmetic loops that this CPU can run, for each type of numbers the widest first.
#[must_use]
pub fn arithmetic() -> Vec<Arithmetic> {
    loops::ARITHMETIC.iter().filter(|(available, _)| available()).map(|(_, a)| *a).collect()
}
