//! Why bytes are not a readable header.

use std::fmt;
use std::io;

/// Why a header could not be read.
#[derive(Debug)]
pub enum Error {
    /// It has another magic.
    NotGguf,
    /// A version that this build does not read. A very large number is a file in big endian.
    Version(u32),
    /// The file, or the allowed size of a header, ends before the header does: at this byte.
    Ends(u64),
    /// More items than a model has.
    TooMany {
        /// The kind of item.
        what: &'static str,
        /// Claimed number.
        count: u64,
        /// Limit.
        most: u64,
    },
    /// A text longer than its limit.
    Long {
        /// The kind of text.
        what: &'static str,
        /// Its length in bytes.
        bytes: u64,
    },
    /// A name that is not UTF-8.
    NotText(&'static str),
    /// Names and values exceed the memory limit.
    Large,
    /// A value of an unknown type.
    ValueType(u32),
    /// Lists nested too deep.
    Nested,
    /// A tensor of an unknown element type.
    TensorType {
        /// The tensor.
        name: String,
        /// Number of its type.
        dtype: u32,
    },
    /// A tensor with impossible dimensions.
    Dimensions(String),
    /// A number that does not fit 64 bits.
    Overflow {
        /// The kind of number.
        what: &'static str,
    },
    /// Two items of one name.
    Twice(String),
    /// The alignment of the weights is not a power of two.
    Alignment(u64),
    /// The weights extend beyond the end of the file.
    Cut {
        /// Size that the header implies, bytes.
        needed: u64,
        /// Size of the file, bytes.
        file_bytes: u64,
    },
    /// The bytes could not be read.
    Read(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGguf => write!(f, "it is not a GGUF file"),
            Self::Version(version) => {
                write!(f, "version {version} of the format is not read here, only 2 and 3 in little endian")
            }
            Self::Ends(at) => write!(f, "the header is cut, or longer than a header may be, at byte {at}"),
            Self::TooMany { what, count, most } => {
                write!(f, "it claims {count} {what}, and a model has at most {most}")
            }
            Self::Long { what, bytes } => write!(f, "a {what} claims {bytes} bytes"),
            Self::NotText(what) => write!(f, "a {what} is no text"),
            Self::Large => write!(f, "its names and settings take more than a header's do"),
            Self::ValueType(dtype) => write!(f, "a setting has type {dtype}, which the format does not have"),
            Self::Nested => write!(f, "a setting has lists in lists"),
            Self::TensorType { name, dtype } => {
                write!(f, "tensor {name:?} has type {dtype}, which is not known here")
            }
            Self::Dimensions(name) => write!(f, "tensor {name:?} has dimensions that no tensor has"),
            Self::Overflow { what } => write!(f, "the {what} is larger than 64 bits"),
            Self::Twice(name) => write!(f, "{name:?} is there twice"),
            Self::Alignment(n) => write!(f, "weights are aligned to {n} bytes, which is no power of two"),
            Self::Cut { needed, file_bytes } => {
                write!(f, "it has {file_bytes} bytes, and its weights end at byte {needed}")
            }
            Self::Read(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for Error {}
