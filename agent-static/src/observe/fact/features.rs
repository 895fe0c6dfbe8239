//! CPU features by which GGML's builds differ.

/// x86 flags by which GGML selects among the variants of its CPU backend (`ggml-cpu`'s
/// `CMakeLists.txt` and feature detection). Every flag that begins with `avx` or `amx` counts too.
const X86: [&str; 8] = ["ssse3", "sse4_1", "sse4_2", "f16c", "fma", "bmi1", "bmi2", "gfni"];

/// The features, separated by spaces: on x86 the flags above, on Arm all.
pub(super) fn of(lines: &[String]) -> Result<String, String> {
    if let Some(features) = lines.iter().find_map(|l| value(l, "Features")) {
        return Ok(features.to_owned());
    }
    let flags =
        lines.iter().find_map(|l| value(l, "flags")).ok_or("/proc/cpuinfo has neither flags nor features")?;
    let counts = |flag: &&str| X86.contains(flag) || flag.starts_with("avx") || flag.starts_with("amx");
    Ok(flags.split_whitespace().filter(counts).collect::<Vec<_>>().join(" "))
}

/// The value of `key` in a line of /proc/cpuinfo.
pub(super) fn value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    line.strip_prefix(key)?.trim_start().strip_prefix(':').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn features() {
        let of = |line: &str| of(&[line.to_owned()]);
        let x86 = "flags\t\t: fpu vme sse2 ssse3 fma avx f16c avx2 bmi2 avx512f avx512_vnni avx_vnni amx_tile hypervisor";
        assert_eq!(
            of(x86).as_deref(),
            Ok("ssse3 fma avx f16c avx2 bmi2 avx512f avx512_vnni avx_vnni amx_tile")
        );
        assert_eq!(of("Features\t: fp asimd asimddp i8mm").as_deref(), Ok("fp asimd asimddp i8mm"));
        assert!(of("isa\t: rv64imafdc").is_err());
    }
}
