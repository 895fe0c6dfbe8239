//! The layout of the memory that the stubs in an engine share with the agent. All numbers are bytes
//! unless another unit is named.
//!
//! ```text
//! near the library of the engine   code page (r-x): header, stubs, thunks
//!                                  control page (rw-, zeros in a forked child)
//! anywhere                         shared memory: slots │ common words │ a ring per slot
//! ```

/// Size of the code page and of the control page. Pages of arm64 kernels have 4 to 64 KiB.
pub const PAGE: usize = if cfg!(target_arch = "aarch64") { 65_536 } else { 4096 };

/// First word of the code page: `profinf` and the layout version.
pub const MAGIC: u64 = 0x01_66_6e_69_66_6f_72_70;
/// Maximum number of probed places per page.
pub const PLACES: usize = 20;
/// Header of the code page: seven words, followed by the places.
pub const HEADER_WORDS: usize = 7;
/// Words of one place in the header: address, file offset, original bytes, changed bytes.
pub const PLACE_WORDS: usize = 4;
/// Size of the header, which the stubs follow.
pub const HEADER: usize = 8 * (HEADER_WORDS + 1 + PLACES * PLACE_WORDS);

/// Control page: address of the shared memory in the engine. 0: record nothing.
pub const CONTROL_DATA: usize = 0;
/// Offset of the thread ID in the control block of a thread.
pub const CONTROL_TID: usize = 8;
/// Address of the shared memory, also while recording is off. The bootstrap writes it last.
pub const CONTROL_MAP: usize = 16;
/// Process ID of the agent that owns the probes, and its start time, in clock ticks since boot as
/// in /proc/PID/stat.
pub const CONTROL_OWNER: usize = 24;
/// See [`CONTROL_OWNER`].
pub const CONTROL_OWNER_BEGAN: usize = 32;
/// arm64: offset of the CPU in the control block of a thread; 0: none.
pub const CONTROL_CPU: usize = 40;
/// Number of used words of the control page.
pub const CONTROL_WORDS: usize = 6;

/// Number of bytes of the control block that are searched. On arm64, they end at the thread
/// pointer.
pub const BLOCK: usize = 2048;

/// Maximum number of recorded threads, as a power of two.
pub const SLOT_BITS: usize = 6;
/// The same as a number.
pub const SLOTS: usize = 1 << SLOT_BITS;
/// A slot has two cache lines: one that the thread writes, one that the agent writes.
pub const SLOT_SHIFT: usize = 7;
/// Thread ID, 32 bits. 0: the slot is free.
pub const SLOT_KEY: usize = 0;
/// CPU at the start of the running operator, 32 bits.
pub const SLOT_CPU: usize = 4;
/// Clock at the start of the running operator.
pub const SLOT_START: usize = 8;
/// First node of the running operator. 0: none is running.
pub const SLOT_NODE: usize = 16;
/// Last node of the running operator.
pub const SLOT_LAST: usize = 24;
/// Total number of records written.
pub const SLOT_HEAD: usize = 32;
/// Number of operators dropped because the ring was full.
pub const SLOT_FULL: usize = 40;
/// Number of starts without an end before the next start.
pub const SLOT_NO_END: usize = 48;
/// Number of ends without a start.
pub const SLOT_NO_START: usize = 56;
/// Total number of records read. The agent writes it.
pub const SLOT_TAIL: usize = 64;

/// After the slots: 1 while operators are recorded. The agent writes it.
pub const ON: usize = SLOTS << SLOT_SHIFT;
/// Number of starts, and 8 bytes later of ends, in threads without a free slot.
pub const NO_SLOT_STARTS: usize = ON + 64;
/// See [`NO_SLOT_STARTS`].
pub const NO_SLOT_ENDS: usize = NO_SLOT_STARTS + 8;

/// Records per ring, as a power of two. At 100,000 operators per second and thread, a ring holds 80
/// ms.
pub const RING_BITS: usize = 13;
/// Size of a record: half a cache line.
pub const RECORD_SHIFT: usize = 5;
/// Size of a ring, as a power of two.
pub const RING_SHIFT: usize = RING_BITS + RECORD_SHIFT;
/// Offset of the rings.
pub const RINGS: usize = (NO_SLOT_ENDS + 8).next_multiple_of(PAGE);
/// Size of the shared memory. Only written pages use memory.
pub const DATA: usize = RINGS + (SLOTS << RING_SHIFT);

/// Clock at the start of the operator.
pub const RECORD_START: usize = 0;
/// First node; from bit 48 on, the CPU at the start.
pub const RECORD_NODE: usize = 8;
/// Ticks from start to end; from bit 48 on, the CPU at the end.
pub const RECORD_TOOK: usize = 16;
/// Thread ID, 32 bits.
pub const RECORD_TID: usize = 24;
/// Last node minus first node, in units of 8 bytes, signed 32 bits.
pub const RECORD_LAST: usize = 28;
