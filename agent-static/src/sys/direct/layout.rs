//! What the stubs in an engine and the agent share: where each word lies. All numbers are bytes but where another unit is named.
//!
//! ```text
//! near the engine's library   code page (r-x): header, stubs, thunks │ control page (rw-, zeros in a forked child)
//! anywhere                    shared memory: slots │ common words │ a ring for each slot
//! ```

/// Size of the code page and of the control page; arm64's kernels have pages of 4 to 64 KiB.
pub const PAGE: usize = if cfg!(target_arch = "aarch64") { 65_536 } else { 4096 };

/// First word of the code page: `profinf` and the number of this layout.
pub const MAGIC: u64 = 0x01_66_6e_69_66_6f_72_70;
/// Places that a page serves at most.
pub const PLACES: usize = 20;
/// Header of the code page: seven words, then the places.
pub const HEADER_WORDS: usize = 7;
/// Words of one place in the header: address, file offset, bytes as in the file, bytes as changed.
pub const PLACE_WORDS: usize = 4;
/// The header. The stubs lie behind it.
pub const HEADER: usize = 8 * (HEADER_WORDS + 1 + PLACES * PLACE_WORDS);

/// Control page: address of the shared memory in the engine; 0: record nothing.
pub const CONTROL_DATA: usize = 0;
/// Where a thread's control block holds the thread's number.
pub const CONTROL_TID: usize = 8;
/// Address of the shared memory, also while nothing is recorded. Written last by the bootstrap.
pub const CONTROL_MAP: usize = 16;
/// Process id of the agent that owns the probes, and when it began, in clock ticks since boot as /proc/PID/stat has it.
pub const CONTROL_OWNER: usize = 24;
/// See [`CONTROL_OWNER`].
pub const CONTROL_OWNER_BEGAN: usize = 32;
/// On arm64: where a thread's control block holds the thread's CPU; 0: nowhere.
pub const CONTROL_CPU: usize = 40;
/// Words of the control page that are used.
pub const CONTROL_WORDS: usize = 6;

/// How much of a thread's control block is looked at; on arm64 it ends at the thread pointer.
pub const BLOCK: usize = 2048;

/// Threads that are recorded at once, as a power of two.
pub const SLOT_BITS: usize = 6;
/// The same.
pub const SLOTS: usize = 1 << SLOT_BITS;
/// A slot has two cache lines: the thread's, and the agent's.
pub const SLOT_SHIFT: usize = 7;
/// The thread's number, 32 bits; 0: the slot is free.
pub const SLOT_KEY: usize = 0;
/// CPU at the start of the operator that runs, 32 bits.
pub const SLOT_CPU: usize = 4;
/// Clock at its start.
pub const SLOT_START: usize = 8;
/// Its first node; 0: none runs.
pub const SLOT_NODE: usize = 16;
/// Its last node.
pub const SLOT_LAST: usize = 24;
/// Records written, ever.
pub const SLOT_HEAD: usize = 32;
/// Operators dropped because the ring was full.
pub const SLOT_FULL: usize = 40;
/// Starts that another start followed.
pub const SLOT_NO_END: usize = 48;
/// Ends without a start.
pub const SLOT_NO_START: usize = 56;
/// Records read, ever: written by the agent.
pub const SLOT_TAIL: usize = 64;

/// Behind the slots: 1 while operators are recorded. Written by the agent.
pub const ON: usize = SLOTS << SLOT_SHIFT;
/// Starts, and 8 bytes on ends, in threads for which no slot was free.
pub const NO_SLOT_STARTS: usize = ON + 64;
/// See [`NO_SLOT_STARTS`].
pub const NO_SLOT_ENDS: usize = NO_SLOT_STARTS + 8;

/// Records of a ring, as a power of two: at 100,000 operators a second and thread, a ring holds 80 ms.
pub const RING_BITS: usize = 13;
/// A record has half a cache line.
pub const RECORD_SHIFT: usize = 5;
/// Size of a ring, as a power of two.
pub const RING_SHIFT: usize = RING_BITS + RECORD_SHIFT;
/// Where the rings begin.
pub const RINGS: usize = (NO_SLOT_ENDS + 8).next_multiple_of(PAGE);
/// Size of the shared memory. Only what was written takes memory.
pub const DATA: usize = RINGS + (SLOTS << RING_SHIFT);

/// Clock at the start.
pub const RECORD_START: usize = 0;
/// First node, and above 48 bits the CPU at the start.
pub const RECORD_NODE: usize = 8;
/// Ticks from start to end, and above 48 bits the CPU at the end.
pub const RECORD_TOOK: usize = 16;
/// Thread, 32 bits.
pub const RECORD_TID: usize = 24;
/// Last node minus first, in units of 8 bytes, 32 bits with a sign.
pub const RECORD_LAST: usize = 28;
