//! Probed functions of backends other than the CPU: operators, or work inside them. build.rs
//! generates the list from the shipped backend profiles.

use profinfer_engine::BackendFunction;

/// A function that is probed in every engine file that contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Mangled if it is C++.
    pub symbol: &'static str,
    /// Name of the backend in its graphs, or else in its profile.
    backend: &'static str,
    /// Index of the argument that is the tensor, from 0.
    pub tensor: Option<u8>,
    /// A call computes one complete operator of a split that the backend was given.
    pub whole: bool,
}

/// All functions. The index is the slot in `bpf/backend.bpf.c`.
pub const FUNCTIONS: &[Function] = include!(concat!(env!("OUT_DIR"), "/backend_functions.rs"));

impl Function {
    /// Title of the backend.
    #[must_use]
    pub const fn backend(&self) -> &'static str {
        self.backend
    }
}

/// The fields that the search for probes needs, in the same order.
#[must_use]
pub fn searched() -> Vec<BackendFunction> {
    let searched = |f: &Function| BackendFunction {
        symbol: f.symbol.to_owned(),
        backend: f.backend.to_owned(),
        whole: f.whole,
    };
    FUNCTIONS.iter().map(searched).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use profinfer_boards::{Catalog, Level};

    use super::*;
    use crate::lower::backend;

    #[test]
    fn functions_are_those_of_the_profiles() {
        let catalog = Catalog::shipped().unwrap();
        let mut ours = FUNCTIONS.iter();
        for profile in catalog.backends() {
            // Graphs name the backend by its GUID; its functions must have the same name.
            if let Some(guid) = profile.guid {
                let first = u64::from_le_bytes(guid.0[..8].try_into().unwrap());
                assert_eq!(backend::name(first), profile.title());
            }
            for probe in profile.probes().filter(|p| p.level == Level::Op) {
                let function = ours.next().unwrap();
                assert_eq!((function.symbol, function.whole), (probe.symbol.as_str(), probe.whole));
                assert_eq!(function.tensor.map(usize::from), probe.tensor);
            }
        }
        assert_eq!(ours.next(), None);
        let named = |symbol: &str| FUNCTIONS.iter().find(|f| f.symbol.contains(symbol)).unwrap().backend();
        assert_eq!(named("ggml_cl_compute_forward"), "OpenCL");
        assert_eq!(named("ggml_rk_compute_forward"), "RKNN");
        assert_eq!(named("ggml_cl_mul_mat"), "clblast");
        assert_eq!(named("rknn_matmul_run"), "librknnrt");
    }
}
