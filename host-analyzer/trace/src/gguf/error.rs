//! What makes bytes no header.

use std::fmt;
use std::io;

/// Why a header could not be read.
#[derive(Debug)]
pub enum Error {
    /// It begins otherwise.
    NotGguf,
    /// A version that this build does not read; one that is very large is of a file in big endian.
    Version(u32),
    /// The file ends, or its header takes more than it may, before the header does: at this byte.
    Ends(u64),
    /// More of something than a model has.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: u64,
        /// How many there may be.
        most: u64,
    },
    /// A text that is longer than such a text may be.
    Long {
        /// What text.
        what: &'static str,
        /// Its bytes.
        bytes: u64,
    },
    /// A name that is not UTF-8.
    NotText(&'static str),
    /// Names and values take more than is kept.
    Large,
    /// A value of a type that the format does not have.
    ValueType(u32),
    /// Lists in lists, too deep.
    Nested,
    /// A tensor of a type that is not known here.
    TensorType {
        /// The tensor.
        name: String,
        /// Number of its type.
        dtype: u32,
    },
    /// A tensor with dimensions that no tensor has.
    Dimensions(String),
    /// A number that is larger than 64 bits.
    Overflow {
        /// What number.
        what: &'static str,
    },
    /// Two of one name.
    Twice(String),
    /// Weights that begin at no multiple of a power of two.
    Alignment(u64),
    /// The weights go on behind the end of the file.
    Cut {
        /// Bytes that the file should have.
        needed: u64,
        /// Bytes that it has.
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
