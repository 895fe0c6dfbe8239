//! Data inside a page: gzip in base64, in an element that the browser does not run.
//!
//! Stage: view. From: the output of another view. To: an HTML element. Promises: the data contains no
//! character that is special in HTML, so no text from the traced process can end the element or open
//! another. `page/src/data/read.ts` reads it.

use std::io::{self, BufWriter, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;

/// CPU time and size of the base64 text for the page of the demo recording (2.4 MB of JSON): level 3
/// 16 ms and 371 kB, level 5 23 ms and 350 kB, level 6 44 ms and 342 kB, level 9 67 ms and 340 kB.
const LEVEL: u32 = 5;

/// Serialisers write a few bytes at a time; deflate is faster with more per call.
const CHUNK: usize = 64 << 10;

/// Writes the element `id` with the output of `write`.
///
/// # Errors
/// Those of `out` and of `write`.
pub(super) fn element(
    id: &str,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, "<script type=\"application/gzip\" id=\"{id}\">")?;
    let mut text = EncoderWriter::new(&mut *out, &STANDARD);
    let mut data = BufWriter::with_capacity(CHUNK, GzEncoder::new(&mut text, Compression::new(LEVEL)));
    write(&mut data)?;
    data.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
    text.finish()?;
    drop(text);
    out.write_all(b"</script>\n")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use base64::Engine;
    use flate2::read::GzDecoder;

    use super::*;

    fn element_of(text: &str) -> String {
        let mut out = Vec::new();
        element("x", &mut out, |data| data.write_all(text.as_bytes())).expect("writing into memory");
        String::from_utf8(out).expect("base64 is ASCII")
    }

    #[test]
    fn what_comes_out_is_what_went_in() {
        // Longer than any buffer, and hard to compress.
        let long: String = (0..200_000_u32).map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761))).collect();
        for text in ["", "{}", "a</script><img onerror=x><!-- <![CDATA[ é", &long] {
            let element = element_of(text);
            let data = element
                .strip_prefix("<script type=\"application/gzip\" id=\"x\">")
                .and_then(|rest| rest.strip_suffix("</script>\n"))
                .expect("the element");
            assert!(data.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)), "{data}");
            let mut read = String::new();
            let bytes = STANDARD.decode(data).expect("base64");
            GzDecoder::new(&bytes[..]).read_to_string(&mut read).expect("gzip");
            assert_eq!(read, text);
        }
    }

    #[test]
    fn an_error_of_the_writer_is_returned() {
        let mut out = Vec::new();
        let failed = element("x", &mut out, |_| Err(io::Error::other("no data")));
        assert_eq!(failed.map_err(|e| e.to_string()), Err("no data".to_owned()));
    }
}
