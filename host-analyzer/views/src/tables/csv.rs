//! CSV by RFC 4180: commas, a header line, quotes for values that need them; unknown values are
//! empty. Line ends are LF, not CRLF, as most tools write and all tools read.

use std::io::{self, Write};

use super::Table;
use super::cell::{self, Cell};
use crate::foreign::field;

/// Writes a table.
pub(super) fn write(table: &impl Table, out: &mut dyn Write) -> io::Result<()> {
    let (mut line, mut written) = (Vec::new(), Ok(()));
    let names = cell::columns(table);
    writeln!(out, "{}", names.iter().map(|name| field(name)).collect::<Vec<_>>().join(","))?;
    cell::rows(table, &mut |cells| {
        for cell in cells {
            add(*cell, &mut line);
            line.push(b',');
        }
        line.pop();
        line.push(b'\n');
        if line.len() > 1 << 16 {
            if written.is_ok() {
                written = out.write_all(&line);
            }
            line.clear();
        }
    })?;
    written.and_then(|()| out.write_all(&line))
}

fn add(cell: Cell<'_>, line: &mut Vec<u8>) {
    match cell {
        Cell::Null => {}
        Cell::Int(n) => line.extend(itoa::Buffer::new().format(n).as_bytes()),
        Cell::Bool(yes) => line.extend(if yes { "true" } else { "false" }.as_bytes()),
        Cell::Text(text) => line.extend(field(text).as_bytes()),
    }
}
