//! The header of a whisper model, and the tensor dimensions that follow from it.
//!
//! The file begins with a magic number and eleven 32-bit numbers, least significant byte first (`whisper_model_load` in
//! whisper.cpp reads them so).

use std::io::Read;
use std::path::Path;

/// The dimensions of a whisper model.
#[derive(Debug)]
pub(crate) struct Whisper {
    pub(crate) n_vocab: u64,
    pub(crate) n_audio_ctx: u64,
    pub(crate) n_audio_state: u64,
    pub(crate) n_audio_head: u64,
    pub(crate) n_audio_layer: usize,
    pub(crate) n_text_state: u64,
    pub(crate) n_text_head: u64,
    pub(crate) n_text_layer: usize,
    pub(crate) n_mels: u64,
    /// Size of the file.
    pub(crate) bytes: u64,
}

/// Reads the header.
pub(crate) fn header(path: &Path) -> Whisper {
    let mut bytes = [0; 4 * 12];
    std::fs::File::open(path).unwrap().read_exact(&mut bytes).unwrap();
    let mut numbers = bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap()));
    assert_eq!(numbers.next(), Some(0x6767_6d6c), "{} is no model of whisper.cpp", path.display());
    let n: Vec<u32> = numbers.collect();
    Whisper {
        n_vocab: n[0].into(),
        n_audio_ctx: n[1].into(),
        n_audio_state: n[2].into(),
        n_audio_head: n[3].into(),
        n_audio_layer: n[4] as usize,
        n_text_state: n[6].into(),
        n_text_head: n[7].into(),
        n_text_layer: n[8] as usize,
        n_mels: n[9].into(),
        bytes: std::fs::metadata(path).unwrap().len(),
    }
}

/// Width of the convolutions at the start of the encoder: part of whisper's architecture, not in
/// the header.
const CONVOLUTION: u64 = 3;

impl Whisper {
    /// Dimensions that nodes of the convolutions must have, with the number of such nodes: the
    /// spectrum cut into columns, for each of the two convolutions; the second one uses every other
    /// column.
    pub(crate) fn convolutions(&self) -> Vec<(&'static str, [u64; 4], usize)> {
        vec![
            ("IM2COL", [CONVOLUTION * self.n_mels, 2 * self.n_audio_ctx, 1, 1], 1),
            ("IM2COL", [CONVOLUTION * self.n_audio_state, self.n_audio_ctx, 1, 1], 1),
        ]
    }

    /// The same for the encoder: in each layer one attention over the complete window, and a hidden
    /// layer four times as wide.
    pub(crate) fn encoder(&self) -> Vec<(&'static str, [u64; 4], usize)> {
        let head = self.n_audio_state / self.n_audio_head;
        vec![
            ("FLASH_ATTN_EXT", [head, self.n_audio_head, self.n_audio_ctx, 1], self.n_audio_layer),
            ("MUL_MAT", [4 * self.n_audio_state, self.n_audio_ctx, 1, 1], self.n_audio_layer),
        ]
    }

    /// The same for the keys and values that the decoder's layers get from the audio.
    pub(crate) fn cross(&self) -> Vec<(&'static str, [u64; 4], usize)> {
        vec![("MUL_MAT", [self.n_audio_state, self.n_audio_ctx, 1, 1], 2 * self.n_text_layer)]
    }

    /// The same for the decoder with this many tokens: in each layer an attention to the text and
    /// one to the audio.
    pub(crate) fn decoder(&self, n_tokens: u64) -> Vec<(&'static str, [u64; 4], usize)> {
        let head = self.n_text_state / self.n_text_head;
        vec![
            ("FLASH_ATTN_EXT", [head, self.n_text_head, n_tokens, 1], 2 * self.n_text_layer),
            ("MUL_MAT", [4 * self.n_text_state, n_tokens, 1, 1], self.n_text_layer),
            ("MUL_MAT", [self.n_vocab, n_tokens, 1, 1], 1),
        ]
    }
}
