//! Blocks of memory that are files.
#![allow(unsafe_code, reason = "files are mapped; every block says why it is sound")]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use memmap2::{MmapMut, RemapOptions};

use super::folder::{file_of, reserve};

/// A file without a name and where it is mapped.
#[derive(Debug)]
pub(crate) struct Block {
    file: File,
    map: MmapMut,
}

impl Block {
    fn new(folder: &Path, size: usize) -> io::Result<Self> {
        let file = file_of(folder, size)?;
        // SAFETY: no other program can open a file without a name, and this one shortens it in `resize` only, after its map.
        let map = unsafe { MmapMut::map_mut(&file)? };
        Ok(Self { file, map })
    }

    /// Makes it longer or shorter; it may move.
    fn resize(&mut self, size: usize) -> io::Result<()> {
        let longer = size > self.map.len();
        if longer {
            reserve(&self.file, size)?;
        }
        // SAFETY: the file is as long as the new map, and whoever has the old address gave it to us to be moved.
        unsafe { self.map.remap(size, RemapOptions::new().may_move(true))? };
        if longer { Ok(()) } else { self.file.set_len(size as u64) }
    }

    fn address(&mut self) -> *mut u8 {
        self.map.as_mut_ptr()
    }
}

/// All blocks that are in use. There are some hundred, so they are looked through one by one.
#[derive(Debug)]
pub(crate) struct Blocks {
    folder: PathBuf,
    blocks: Vec<(usize, Block)>,
}

impl Blocks {
    pub(crate) const fn new(folder: PathBuf) -> Self {
        Self { folder, blocks: Vec::new() }
    }

    /// Where they lie.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A new block, all zero.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn add(&mut self, size: usize) -> io::Result<*mut u8> {
        let mut block = Block::new(&self.folder, size)?;
        let address = block.address();
        self.blocks.push((address.addr(), block));
        Ok(address)
    }

    fn find(&self, address: *const u8) -> Option<usize> {
        self.blocks.iter().rposition(|(at, _)| *at == address.addr())
    }

    /// There is a block at this address.
    pub(crate) fn has(&self, address: *const u8) -> bool {
        self.find(address).is_some()
    }

    /// Takes a block out. It is unmapped when it is dropped.
    pub(crate) fn remove(&mut self, address: *const u8) -> Option<Block> {
        Some(self.blocks.swap_remove(self.find(address)?).1)
    }

    /// Changes a block's size; `None`: there is none at this address.
    ///
    /// # Errors
    /// There is no room for it; it is as it was.
    pub(crate) fn resize(&mut self, address: *const u8, size: usize) -> Option<io::Result<*mut u8>> {
        let place = self.find(address)?;
        let (at, block) = self.blocks.get_mut(place)?;
        let resized = block.resize(size).map(|()| block.address());
        *at = block.address().addr();
        Some(resized)
    }
}
