//! A coded column as pages of Parquet: the list is the dictionary, with the indices of the rows.
//!
//! The library's writer decodes any dictionary and hashes the value of every row to build a new one,
//! which took half of the time of `ops.parquet`. Here the list is the dictionary.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

use super::super::column::{ABSENT, Coded, Values};
use super::LEVEL;
use super::hybrid::{pack, width};

/// Makes the chunks of coded columns.
pub(super) struct Chunks(Compressor<'static>);

impl Chunks {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(Compressor::new(LEVEL)?))
    }

    /// The bytes of a chunk and its metadata.
    pub(super) fn chunk(&mut self, column: &Coded, of: &ColumnDescPtr) -> Result<(Bytes, ColumnCloseResult)> {
        let mut places: Vec<u32> = (0..column.keys.len()).map(|row| column.place(row)).collect();
        let rows = places.len();
        let mut data = Vec::with_capacity(rows * 2);
        if of.max_def_level() > 0 {
            let present: Vec<u32> = places.iter().map(|place| u32::from(*place != ABSENT)).collect();
            places.retain(|place| *place != ABSENT);
            levels(&present, &mut data);
        }
        let bits = width(column.values.len());
        data.push(bits as u8);
        pack(&places, bits, &mut data);

        let mut bytes = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut bytes);
        let dictionary = plain(&column.values);
        let dictionary = pages.write_page(CompressedPage::new(
            Page::DictionaryPage {
                buf: self.0.compress(&dictionary)?.into(),
                num_values: count(column.values.len())?,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            },
            dictionary.len(),
        ))?;
        let data = pages.write_page(CompressedPage::new(
            Page::DataPage {
                buf: self.0.compress(&data)?.into(),
                num_values: count(rows)?,
                encoding: Encoding::RLE_DICTIONARY,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            },
            data.len(),
        ))?;
        bytes.flush()?;
        let sum = |a: usize, b: usize| i64::try_from(a + b).unwrap_or(i64::MAX);
        let metadata = ColumnChunkMetaData::builder(Arc::clone(of))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_total_compressed_size(sum(dictionary.compressed_size, data.compressed_size))
            .set_total_uncompressed_size(sum(dictionary.uncompressed_size, data.uncompressed_size))
            .set_num_values(sum(rows, 0))
            .set_dictionary_page_offset(Some(0))
            .set_data_page_offset(i64::try_from(data.offset).unwrap_or(i64::MAX))
            .set_statistics(statistics(&column.values, (rows - places.len()) as u64))
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.bytes_written() as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes.into_inner()?.into(), close))
    }
}

fn count(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| ParquetError::General(format!("{n} values in one page")))
}

/// The definition levels (which rows have a value), with their length first.
fn levels(present: &[u32], data: &mut Vec<u8>) {
    data.extend_from_slice(&[0; 4]);
    pack(present, 1, data);
    let len = u32::try_from(data.len() - 4).unwrap_or(u32::MAX);
    data[..4].copy_from_slice(&len.to_le_bytes());
}

/// The list in the encoding PLAIN, where numbers below 32 bits take 32 bits.
fn plain(values: &Values) -> Vec<u8> {
    match values {
        Values::U16(list) => list.iter().flat_map(|v| u32::from(*v).to_le_bytes()).collect(),
        Values::U32(list) => list.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Values::U64(list) => list.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Values::Texts(list) => {
            let one = |text: &String| {
                let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
                [&len.to_le_bytes(), text.as_bytes()].concat()
            };
            list.iter().flat_map(one).collect()
        }
    }
}

/// Minimum and maximum. Numbers are stored as signed but compared as unsigned, as the type of the
/// column requires.
fn statistics(values: &Values, absent: u64) -> Statistics {
    fn ends<T: Ord, U>(list: &[T], stored: impl Fn(&T) -> U) -> (Option<U>, Option<U>) {
        (list.iter().min().map(&stored), list.iter().max().map(&stored))
    }
    let absent = Some(absent);
    match values {
        Values::U16(list) => {
            let (least, greatest) = ends(list, |v| i32::from(*v));
            Statistics::int32(least, greatest, None, absent, false)
        }
        Values::U32(list) => {
            let (least, greatest) = ends(list, |v| v.cast_signed());
            Statistics::int32(least, greatest, None, absent, false)
        }
        Values::U64(list) => {
            let (least, greatest) = ends(list, |v| v.cast_signed());
            Statistics::int64(least, greatest, None, absent, false)
        }
        Values::Texts(list) => {
            let (least, greatest) = ends(list, |v| ByteArray::from(v.as_str()));
            Statistics::byte_array(least, greatest, None, absent, false)
        }
    }
}
