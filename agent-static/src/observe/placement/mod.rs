//! Locates the weights of a new topology: the engine's buffers and their memory.
//!
//! Runs next to lowering, once per new topology. Input: the weights' addresses, /proc/PID/maps, and
//! the engine's buffer structs. Output: [`Buffer`] and [`PlacementBatch`] records. Guarantees:
//! unreadable data is reported as unknown; state is kept for a few hundred buffers at most.

pub mod buffer_type;
pub mod memory;

use std::collections::HashMap;
use std::fs::File;

use profinfer_wire::placements::{MAX_PLACEMENT_LEN, Placement};
use profinfer_wire::record::Record;
use profinfer_wire::record::weight::{Buffer, MAX_PLACEMENT_BYTES, Memory, PlacementBatch};

use crate::link::emit::Emitter;
use crate::link::output::Weight as Importance;
use crate::target::maps;
use buffer_type::BufferTypes;
use memory::{Place, place};

/// Most buffers that are remembered.
const MAX_BUFFERS: usize = 256;
/// Most buffer structs whose record is remembered, 16 bytes each.
const MAX_STRUCTS: usize = 4096;
const MAX_PATH: usize = 1000;

/// The weights of a topology that was just sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplaced {
    /// Its id on the wire.
    pub topology: u32,
    pub pid: u32,
    /// Its weights, by index.
    pub weights: Vec<Weight>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// Index in the topology.
    pub index: u32,
    /// Address of the engine's struct for its buffer, 0 for none.
    pub buffer: u64,
    pub data: u64,
    pub bytes: u64,
}

/// The buffers that were sent.
#[derive(Debug, Default)]
pub struct Placements {
    last_id: u32,
    sent: Vec<Sent>,
    /// The buffer record of each buffer struct, by process and address of the struct. When an
    /// engine ends, the weights of its last topologies cannot be located any more, but may have
    /// been for an earlier topology.
    found: HashMap<(u32, u64), u32>,
}

/// Buffers of one type in the same memory. An engine may have hundreds of them: one for each part
/// of a file between two repacked matrices.
#[derive(Debug, PartialEq, Eq)]
struct Sent {
    id: u32,
    pid: u32,
    /// Set for a buffer on a device, because addresses restart in each; otherwise 0.
    address: u64,
    kind: String,
    place: Place,
}

impl Placements {
    /// Locates the weights and sends the result.
    pub fn send(&mut self, unplaced: &Unplaced, emit: &mut Emitter) {
        let pid = unplaced.pid;
        let mappings = maps::mappings(pid);
        let engine = File::open(format!("/proc/{pid}/mem")).ok();
        let mut types = BufferTypes::new(engine.as_ref(), &mappings);
        let mut batch = Batch::new(unplaced.topology);
        for weight in &unplaced.weights {
            let kind = types.name(weight.buffer);
            let place = place(&mappings, weight).believed(kind);
            let buffer = match self.found.get(&(pid, weight.buffer)) {
                Some(found) if kind.is_empty() => *found,
                _ => self.now(weight, pid, kind, place, emit),
            };
            batch.add(Placement { index: weight.index, buffer }, emit);
        }
        batch.send(emit);
    }

    /// Drops the buffers of all other processes.
    pub fn keep(&mut self, kept: impl Fn(u32) -> bool) {
        self.sent.retain(|sent| kept(sent.pid));
        self.found.retain(|(pid, _), _| kept(*pid));
    }

    /// Id of a weight's current buffer, which is remembered if its type is known.
    fn now(&mut self, weight: &Weight, pid: u32, kind: &str, place: Place, emit: &mut Emitter) -> u32 {
        let address = if place == Place::Device { weight.buffer } else { 0 };
        let buffer = self.buffer(pid, address, kind, place, emit);
        if !kind.is_empty() {
            if self.found.len() >= MAX_STRUCTS {
                self.found.clear();
            }
            self.found.insert((pid, weight.buffer), buffer);
        }
        buffer
    }

    /// Id of the buffer, which is sent if it is new.
    fn buffer(&mut self, pid: u32, address: u64, kind: &str, place: Place, emit: &mut Emitter) -> u32 {
        let same = |s: &&Sent| (s.pid, s.address, s.kind.as_str(), &s.place) == (pid, address, kind, &place);
        if let Some(sent) = self.sent.iter().find(same) {
            return sent.id;
        }
        if self.sent.len() >= MAX_BUFFERS {
            self.sent.clear();
        }
        self.last_id += 1;
        let id = self.last_id;
        let (memory, path) = match &place {
            Place::Unknown => (Memory::Unknown, ""),
            Place::File(path) => (Memory::File, &path[..path.floor_char_boundary(MAX_PATH)]),
            Place::Anonymous => (Memory::Anonymous, ""),
            Place::Device => (Memory::Device, ""),
        };
        emit.emit(&Record::Buffer(Buffer { id, pid, kind, memory, path }), Importance::Essential);
        self.sent.push(Sent { id, pid, address, kind: kind.to_owned(), place });
        id
    }
}

/// Placements that are being packed.
struct Batch {
    topology: u32,
    count: u16,
    last: Option<u32>,
    len: usize,
    bytes: [u8; MAX_PLACEMENT_BYTES],
}

impl Batch {
    fn new(topology: u32) -> Self {
        Self { topology, count: 0, last: None, len: 0, bytes: [0; MAX_PLACEMENT_BYTES] }
    }

    fn add(&mut self, placement: Placement, emit: &mut Emitter) {
        if self.len + MAX_PLACEMENT_LEN > self.bytes.len() {
            self.send(emit);
        }
        if let Some(len) = placement.encode(self.last, &mut self.bytes, self.len) {
            (self.len, self.last, self.count) = (len, Some(placement.index), self.count + 1);
        }
    }

    fn send(&mut self, emit: &mut Emitter) {
        if self.count > 0 {
            let bytes = &self.bytes[..self.len];
            let record = PlacementBatch { topology: self.topology, count: self.count, bytes };
            emit.emit(&Record::PlacementBatch(record), Importance::Essential);
        }
        (self.count, self.last, self.len) = (0, None, 0);
    }
}
