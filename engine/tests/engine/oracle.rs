//! The output of binutils for a file, as a second opinion.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn run(program: &str, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(arguments).arg(file).output();
    let output = output.unwrap_or_else(|e| panic!("{program} (package binutils) is needed: {e}"));
    assert!(output.status.success(), "{program} {}: {:?}", file.display(), output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Loaded segments: (offset, address, size in the file).
pub(crate) fn segments(file: &Path) -> Vec<(u64, u64, u64)> {
    let text = run("readelf", &["-lW"], file);
    let fields = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>());
    fields.filter(|f| f.first() == Some(&"LOAD")).map(|f| (hex(f[1]), hex(f[2]), hex(f[4]))).collect()
}

/// Virtual address of a file offset.
pub(crate) fn address(segments: &[(u64, u64, u64)], offset: u64) -> u64 {
    let (start, address, _) =
        segments.iter().find(|(o, _, size)| (*o..o + size).contains(&offset)).expect("loaded");
    offset - start + address
}

/// Defined symbols: (address, size).
pub(crate) fn symbols(file: &Path) -> BTreeMap<String, (u64, u64)> {
    let text = run("readelf", &["-sW"], file);
    let fields = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>());
    let defined = fields.filter(|f| f.len() > 7 && f[6] != "UND" && f[0].ends_with(':') && f[0] != "Num:");
    // Versions follow an @.
    let name = |f: &[&str]| f[7].split('@').next().unwrap_or_default().to_owned();
    defined.map(|f| (name(&f), (hex(f[1]), f[2].parse().unwrap_or(0)))).collect()
}

/// GNU build id in hexadecimal.
pub(crate) fn build_id(file: &Path) -> String {
    let text = run("readelf", &["-n"], file);
    let line = text.lines().find_map(|l| l.trim().strip_prefix("Build ID: "));
    line.unwrap_or_default().to_owned()
}

/// One instruction as objdump prints it: address, mnemonic, operands.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) address: u64,
    pub(crate) mnemonic: String,
    pub(crate) operands: String,
}

/// Instructions from one address to another.
pub(crate) fn disassemble(file: &Path, from: u64, to: u64) -> Vec<Line> {
    let range = [format!("--start-address={from:#x}"), format!("--stop-address={to:#x}")];
    let text = run("objdump", &["-d", "--no-show-raw-insn", &range[0], &range[1]], file);
    let line = |l: &str| {
        let (address, rest) = l.trim().split_once(":\t")?;
        let rest = rest.split('#').next().unwrap_or_default().trim();
        let rest = rest.strip_prefix("bnd ").unwrap_or(rest);
        let (mnemonic, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        let address = u64::from_str_radix(address, 16).ok()?;
        Some(Line { address, mnemonic: mnemonic.into(), operands: operands.trim().into() })
    };
    text.lines().filter_map(line).collect()
}
