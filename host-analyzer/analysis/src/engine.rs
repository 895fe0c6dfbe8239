//! Which engine each process runs, and which of its CPU backends.
//!
//! Builds of llama.cpp that load their backends come with a CPU backend for each generation of CPUs, of which the engine loads
//! the one that fits best: `libggml-cpu-zen4.so`. Which one decides what the operators cost and where weights lie.

use profinfer_trace::model::{Library, Model};

/// The engine in one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Process.
    pub pid: u32,
    /// Short name of the process.
    pub name: String,
    /// Version as the engine says itself; empty when it does not.
    pub version: String,
    /// How the CPU backend came into the process; `None` when none was found.
    pub cpu_backend: Option<CpuBackend>,
    /// Which of several CPU backends is loaded, for example `zen4`.
    pub cpu_variant: Option<String>,
    /// The file that holds the CPU backend.
    pub cpu_library: Option<String>,
}

/// How the CPU backend came into the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuBackend {
    /// One of several variants was loaded.
    Variant,
    /// A library of its own, the only one of its build.
    Library,
    /// A part of the program or of a library with other parts of the engine.
    BuiltIn,
}

/// The engines, in order of the processes.
#[must_use]
pub fn engines(model: &Model) -> Vec<Engine> {
    let mut engines: Vec<Engine> = Vec::new();
    for p in &model.session.processes {
        let of_process = model.session.libraries.iter().filter(|l| l.pid == p.pid);
        let cpu = cpu_backend(of_process);
        engines.push(Engine {
            pid: p.pid,
            name: p.name.clone(),
            version: p.engine_version.clone(),
            cpu_backend: cpu.as_ref().map(|(kind, ..)| *kind),
            cpu_variant: cpu.as_ref().and_then(|(_, variant, _)| variant.clone()),
            cpu_library: cpu.map(|(.., path)| path),
        });
    }
    engines
}

/// The CPU backend among a process's libraries: the file that is called one, else the file with the CPU's operators.
fn cpu_backend<'a>(
    libraries: impl Iterator<Item = &'a Library> + Clone,
) -> Option<(CpuBackend, Option<String>, String)> {
    let called = libraries.clone().find_map(|l| {
        let found = match named(&l.path)? {
            Named::Variant(variant) => (CpuBackend::Variant, Some(variant.to_owned())),
            Named::Plain => (CpuBackend::Library, None),
        };
        Some((found.0, found.1, l.path.clone()))
    });
    called.or_else(|| {
        let library = libraries.clone().find(|l| l.has_cpu_backend())?;
        Some((CpuBackend::BuiltIn, None, library.path.clone()))
    })
}

/// What the name of a CPU backend's file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named<'a> {
    Variant(&'a str),
    Plain,
}

/// What the file name says, if it is that of a CPU backend: `libggml-cpu.so`, `libggml-cpu-VARIANT.so`, a version behind it.
fn named(path: &str) -> Option<Named<'_>> {
    let file = path.rsplit('/').next()?;
    let rest = file.strip_prefix("libggml-cpu").or_else(|| file.strip_prefix("ggml-cpu"))?;
    // A variant of arm64 may have a point itself: libggml-cpu-armv8.2_1.so.
    let end =
        rest.find(".so").filter(|end| rest[end + 3..].is_empty() || rest[end + 3..].starts_with('.'))?;
    let middle = &rest[..end];
    let variant = match middle.strip_prefix('-') {
        Some(variant) => variant,
        None if middle.is_empty() => return Some(Named::Plain),
        None => return None,
    };
    // Python wheels name the libraries that they carry after their content: libggml-cpu-67036419.so.0.13.1 (auditwheel).
    let hash = variant.len() == 8 && variant.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    match variant {
        "" => None,
        _ if hash => Some(Named::Plain),
        _ => Some(Named::Variant(variant)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::LibraryRole;

    #[test]
    fn names_of_real_builds() {
        let cases = [
            // Debian.
            ("/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-cpu-zen4.so", Some(Named::Variant("zen4"))),
            (
                "/usr/lib/aarch64-linux-gnu/ggml/backends0/libggml-cpu-armv8.2_1.so",
                Some(Named::Variant("armv8.2_1")),
            ),
            ("/usr/lib/x86_64-linux-gnu/libggml-base.so.0.27.0", None),
            // node-llama-cpp.
            ("/x/bins/linux-x64/libggml-cpu-sapphirerapids.so", Some(Named::Variant("sapphirerapids"))),
            ("/x/bins/linux-arm64/libggml-cpu.so", Some(Named::Plain)),
            // Before the CPU backend had a library of its own.
            ("/x/bins/linux-x64/libggml.so", None),
            // PyPI: llama.cpp's own server, and a wheel whose libraries are renamed.
            ("/x/skulk/libggml-cpu.so.0.20.0", Some(Named::Plain)),
            ("/x/pywhispercpp.libs/libggml-cpu-67036419.so.0.13.1", Some(Named::Plain)),
            // Android's name for the same.
            (
                "/data/app/lib/arm64/libggml-cpu-android_armv8.6_1.so",
                Some(Named::Variant("android_armv8.6_1")),
            ),
            ("/x/libggml-cpu-.so", None),
            ("/x/libggml-cpuid.so", None),
            ("/x/libggml-cpu-zen4.sock", None),
            ("/opt/llama-cli", None),
            ("", None),
        ];
        for (path, expected) in cases {
            assert_eq!(named(path), expected, "{path}");
        }
    }

    fn library(path: &str, has_cpu_backend: bool) -> Library {
        let roles = if has_cpu_backend { vec![LibraryRole::CpuGraph] } else { Vec::new() };
        Library { pid: 1, path: path.to_owned(), build_id: String::new(), roles }
    }

    #[test]
    fn what_is_in_no_library_of_its_own_is_built_in() {
        let of = |libraries: &[Library]| cpu_backend(libraries.iter());
        let one = [library("/opt/llama-cli", true)];
        assert_eq!(of(&one), Some((CpuBackend::BuiltIn, None, "/opt/llama-cli".to_owned())));
        let old = [library("/x/libllama.so", false), library("/x/libggml.so", true)];
        assert_eq!(of(&old), Some((CpuBackend::BuiltIn, None, "/x/libggml.so".to_owned())));
        // The file's name decides, whatever could be probed in it.
        let bare = [library("/x/libggml-base.so", false), library("/x/libggml-cpu-x64.so", false)];
        let expected = (CpuBackend::Variant, Some("x64".to_owned()), "/x/libggml-cpu-x64.so".to_owned());
        assert_eq!(of(&bare), Some(expected));
        assert_eq!(of(&[library("/x/libggml-vulkan.so", false)]), None);
    }
}
