//! JSON in an element of the page.

use std::io::{self, Write};

/// JSON on its way into a page: `<` becomes an escape that means the same, so that nothing can end the element or begin a comment.
/// JSON has `<` in strings only.
pub(crate) struct Embedded<'a>(pub(crate) &'a mut dyn Write);

impl Write for Embedded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut parts = bytes.split(|b| *b == b'<');
        self.0.write_all(parts.next().unwrap_or_default())?;
        for part in parts {
            self.0.write_all(br"\u003c")?;
            self.0.write_all(part)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_embedded_can_end_its_element() -> Result<(), Box<dyn std::error::Error>> {
        let text = "a</script><img onerror=x><!-- <![CDATA[ é";
        let mut out = Vec::new();
        serde_json::to_writer(Embedded(&mut out), text)?;
        assert!(!out.contains(&b'<'));
        assert_eq!(serde_json::from_slice::<String>(&out)?, text);
        Ok(())
    }
}
