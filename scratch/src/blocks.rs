//! Memory blocks that are files.
#![allow(unsafe_code, reason = "files are mapped; every block states why it is sound")]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use memmap2::{MmapMut, RemapOptions};

use super::folder::{file_of, reserve};

/// An unnamed file and its mapping.
#[derive(Debug)]
pub(crate) struct Block {
    file: File,
    map: MmapMut,
}

impl Block {
    fn new(folder: &Path, size: usize) -> io::Result<Self> {
        let file = file_of(folder, size)?;
        // SAFETY: No other program can open an unnamed file, and this one truncates it only in
        // `resize`, after its mapping.
        let map = unsafe { MmapMut::map_mut(&file)? };
        Ok(Self { file, map })
    }

    /// Resizes the block, which may move it.
    fn resize(&mut self, size: usize) -> io::Result<()> {
        let longer = size > self.map.len();
        if longer {
            reserve(&self.file, size)?;
        }
        // SAFETY: The file is as long as the new mapping, and the owner of the old address passed
        // it to be moved.
        unsafe { self.map.remap(size, RemapOptions::new().may_move(true))? };
        if longer { Ok(()) } else { self.file.set_len(size as u64) }
    }

    fn address(&mut self) -> *mut u8 {
        self.map.as_mut_ptr()
    }
}

/// All blocks in use. There are some hundred, so a linear search is enough.
#[derive(Debug)]
pub(crate) struct Blocks {
    folder: PathBuf,
    blocks: Vec<(usize, Block)>,
}

impl Blocks {
    pub(crate) const fn new(folder: PathBuf) -> Self {
        Self { folder, blocks: Vec::new() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A new zero-filled block.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn add(&mut self, size: usize) -> io::Result<*mut u8> {
        let mut block = Block::new(&self.folder, size)?;
        let address = block.address();
        self.blocks.push((address.addr(), block));
        Ok(address)
    }

    fn find(&self, address: *const u8) -> Option<usize> {
        self.blocks.iter().rposition(|(at, _)| *at == address.addr())
    }

    /// True if there is a block at this address.
    pub(crate) fn has(&self, address: *const u8) -> bool {
        self.find(address).is_some()
    }

    /// Removes a block. Dropping it unmaps it.
    pub(crate) fn remove(&mut self, address: *const u8) -> Option<Block> {
        Some(self.blocks.swap_remove(self.find(address)?).1)
    }

    /// Resizes a block. `None`: there is none at this address.
    ///
    /// # Errors
    /// If there is no space for it; then the block is unchanged.
    pub(crate) fn resize(&mut self, address: *const u8, size: usize) -> Option<io::Result<*mut u8>> {
        let place = self.find(address)?;
        let (at, block) = self.blocks.get_mut(place)?;
        let resized = block.resize(size).map(|()| block.address());
        *at = block.address().addr();
        Some(resized)
    }
}
