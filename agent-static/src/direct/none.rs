//! Where there is no code for the processor: everything is refused before any of this is called.

use profinfer_engine::Machine;

use super::page::Targets;
use super::place::Place;

pub(super) const CHANGED: usize = 4;
pub(super) const MACHINE: Option<Machine> = None;
pub(super) const LAST_CALL: u64 = 0;
pub(super) const THREAD_NUMBERS: [u64; 0] = [];

pub(super) fn thunk(_: &mut Vec<u8>, _: u64, _: &Place, _: &Targets, _: bool) -> Option<()> {
    None
}

pub(super) fn change(_: &Place, _: u64) -> Option<[u8; 8]> {
    None
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Registers;

impl Registers {
    pub(super) fn of(_: i32) -> nix::Result<Self> {
        Err(nix::errno::Errno::ENOSYS)
    }
    pub(super) const fn at(&self) -> u64 {
        0
    }
    pub(super) const fn thread_pointer(&self) -> u64 {
        0
    }
    pub(super) fn rank(&self) -> Option<u8> {
        None
    }
    pub(super) const fn resume(&self) -> [u64; 17] {
        [0; 17]
    }
    pub(super) fn send(&self, _: i32, _: u64) -> nix::Result<()> {
        Err(nix::errno::Errno::ENOSYS)
    }
    pub(super) const fn returned(&self) -> (u64, i64) {
        (0, 0)
    }
}

pub(super) fn call(_: u64) -> &'static str {
    ""
}
