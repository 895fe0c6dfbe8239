//! The files that a user names, in words: the output of the command `engine`.

use super::whole;
use crate::file::elf::Image;
use crate::file::error::ElfError;
use crate::plan::examine::{examine, is_engine_part};
use crate::plan::strategy::strategies;
use crate::plan::types::EnginePlan;
use crate::symbols::names::BackendFunction;

/// A file to examine.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// Its path, as printed.
    pub path: &'a str,
    /// Its complete content.
    pub bytes: &'a [u8],
    /// The user named it. For a file from a folder or process, problems are not reported.
    pub named: bool,
}

/// Result for the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// In words.
    pub text: String,
    /// Whether every level can be traced.
    pub complete: bool,
}

/// Examined files.
#[derive(Debug)]
pub struct Examined<'a> {
    /// Examined files, in the order of the plan.
    pub images: Vec<Image<'a>>,
    /// Their combined plan.
    pub plan: EnginePlan,
    /// Remarks on single files, also on refused ones.
    pub remarks: Vec<String>,
}

impl Examined<'_> {
    /// Whether every level can be traced.
    #[must_use]
    pub fn complete(&self) -> bool {
        strategies(&self.plan).iter().all(|s| s.ways.is_ok())
    }
}

/// Examines files.
#[must_use]
pub fn examined<'a>(files: &[Given<'a>], backends: &[BackendFunction]) -> Examined<'a> {
    let mut remarks = Vec::new();
    let mut images = Vec::new();
    for file in files {
        match Image::parse(file.path, file.bytes) {
            Ok(image) if file.named || is_engine_part(&image, backends) => {
                remarks.extend(packed(file.bytes).map(|packed| format!("{}: {packed}", file.path)));
                images.push(image);
            }
            Err(e) if file.named => remarks.push(refused(&e, file.bytes)),
            Ok(_) | Err(_) => {}
        }
    }
    let plan = examine(&images, backends);
    Examined { images, plan, remarks }
}

/// Examines files and describes the result. With `all`, it prints the names in the tables,
/// otherwise only their number.
#[must_use]
pub fn files(files: &[Given<'_>], backends: &[BackendFunction], all: bool) -> Described {
    let found = examined(files, backends);
    Described { text: text(&found, all), complete: found.complete() }
}

/// What was found, in words.
#[must_use]
pub fn text(found: &Examined<'_>, all: bool) -> String {
    let remarks: String = found.remarks.iter().map(|remark| format!("{remark}\n")).collect();
    remarks + &whole::plan(&found.plan, &found.images, all)
}

/// Why a file was refused, from its first bytes where possible.
fn refused(e: &ElfError, bytes: &[u8]) -> String {
    match e {
        ElfError::NotElf { .. } if bytes.starts_with(b"#!") => {
            let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
            let line = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            format!("{e}: it is a script ({line}); name the program that it starts, or its process")
        }
        _ => e.to_string(),
    }
}

/// The remark on a file that a packer has made.
fn packed(bytes: &[u8]) -> Option<&'static str> {
    let head = &bytes[..bytes.len().min(4096)];
    let upx = head.windows(4).any(|w| w == b"UPX!");
    upx.then_some("packed with UPX: nothing in it can be found or probed. Unpack it with `upx -d`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_named_with_its_first_line_and_only_where_it_was_asked_for() {
        let script = Given { path: "run.sh", bytes: b"#!/bin/sh\nexec engine\n", named: true };
        let described = files(&[script], &[], false);
        assert!(described.text.starts_with("run.sh: not an ELF file"), "{}", described.text);
        assert!(
            described.text.contains("it is a script (#!/bin/sh); name the program"),
            "{}",
            described.text
        );
        assert!(!described.complete);
        let found = Given { named: false, ..script };
        assert!(files(&[found], &[], false).text.starts_with("version   not stated"));
    }
}
