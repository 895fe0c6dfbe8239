//! The command `engine`: what the agent would probe in an engine, from its files or from a running process.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::engine::elf::{ElfError, Image};
use crate::engine::{self, strategies};
use crate::error::{Diagnostic, Result};
use crate::sys::file::map;
use crate::target::maps::code_files;
use crate::target::process;

/// Prints the findings. The returned number is the exit status: 1 if a level cannot be traced.
///
/// # Errors
/// When a named file cannot be read, or there is no such process.
pub fn engine(targets: &[String], all_tables: bool) -> Result<i32> {
    let mut files = Vec::new();
    for target in targets {
        files.extend(files_of(target)?);
    }
    let mut maps = Vec::new();
    for file in &files {
        match File::open(&file.open).and_then(|f| map(&f)) {
            Ok(bytes) => maps.push((file, bytes)),
            // A folder or a process may name files that cannot be read. They are not needed.
            Err(_) if !file.named => {}
            Err(e) => {
                return Err(Diagnostic::new(
                    format!("reading {}", file.path),
                    e,
                    "give the path of a file that this user may read",
                ));
            }
        }
    }
    let mut out = std::io::stdout().lock();
    let mut images = Vec::new();
    for (file, bytes) in &maps {
        match Image::parse(&file.path, bytes) {
            Ok(image) if file.named || engine::is_engine_part(&image) => {
                if let Some(packed) = packed(bytes) {
                    let _ = writeln!(out, "{}: {packed}", file.path);
                }
                images.push(image);
            }
            Err(e) if file.named => {
                let _ = writeln!(out, "{}", refused(&e, bytes));
            }
            Ok(_) | Err(_) => {}
        }
    }
    let plan = engine::examine(&images);
    let _ = write!(out, "{}", engine::describe(&plan, &images, all_tables));
    Ok(i32::from(strategies(&plan).iter().any(|s| s.way.is_err())))
}

/// A file to examine.
struct Named {
    /// As it is printed.
    path: String,
    open: PathBuf,
    /// The command line names it. Otherwise it was found in a folder or a process.
    named: bool,
}

/// A file, all files of a folder, or the files that a process maps as code.
fn files_of(target: &str) -> Result<Vec<Named>> {
    let path = Path::new(target);
    if let (Ok(pid), false) = (target.parse(), path.exists()) {
        process::check(pid)?;
        let mapped = code_files(pid).into_iter();
        return Ok(mapped.map(|f| Named { path: f.path, open: f.open_path, named: false }).collect());
    }
    if !path.is_dir() {
        return Ok(vec![Named { path: target.to_owned(), open: path.to_owned(), named: true }]);
    }
    let no = |e| {
        Diagnostic::new(
            format!("reading the folder {target}"),
            e,
            "give the path of a folder that this user may read",
        )
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in path.read_dir().map_err(no)? {
        // A library and its links are one file.
        let Ok(file) = entry.map_err(no)?.path().canonicalize() else { continue };
        if file.is_file() && !found.contains(&file) {
            found.push(file);
        }
    }
    found.sort();
    Ok(found.into_iter().map(|f| Named { path: f.display().to_string(), open: f, named: false }).collect())
}

/// Why a file was refused, with a hint from its first bytes.
fn refused(e: &ElfError, bytes: &Mmap) -> String {
    match e {
        ElfError::NotElf { .. } if bytes.starts_with(b"#!") => {
            let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
            let line = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            format!("{e}: it is a script ({line}); name the program that it starts, or its process id")
        }
        _ => e.to_string(),
    }
}

/// The message about a file that a packer made.
fn packed(bytes: &[u8]) -> Option<&'static str> {
    let head = &bytes[..bytes.len().min(4096)];
    let upx = head.windows(4).any(|w| w == b"UPX!");
    upx.then_some("packed with UPX, so nothing in it can be found or probed; unpack it with `upx -d`")
}
