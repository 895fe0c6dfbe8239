//! Any text, and any damage to a valid one: parsed or not, the sums hold.

use profinfer_analysis::Analysis;
use profinfer_trace::ingest::accelerator;
use profinfer_trace::model::AcceleratorProfile;
use proptest::prelude::*;

use super::split;

const LOG: &str = include_str!("../../../../tests/data/accelerator/lavapipe.log");
const ROWS: &str = "op name, kernel name, exec duration (ms), global size, local size, output size
Qcur-0,kernel_a,0.001500,64x1x1,64x1x1,64x1x1x1
norm-0,kernel_b,0.000500,64x1x1,64x1x1,64x1x1x1
";
const HEXAGON: &str = "ggml-hex: HTP0 profile-op MUL_MAT|wq x inp -> Qcur-0|64:64 x 64:1 -> 64:1|q8_0 x f32 -> f32|s|----|usec 5 cycles 9
ggml-hex: HTP0 profile-op RMS_NORM+MUL|Qcur-0 x wn -> attn_norm-0|8:8 x 64:1 -> 64:1|f32 x q8_0 -> f32|s|----|usec 3 cycles 9
";

fn holds(profile: AcceleratorProfile) -> Result<(), TestCaseError> {
    let lines = profile.lines;
    prop_assert!(lines.other + lines.damaged + lines.left_out <= lines.read);
    let (kernels, device_ns) = profile.total();
    let mut m = split(profile.format.backend());
    m.accelerators = vec![profile];
    let analysis = Analysis::compute(&m);
    let p = &analysis.accelerator.profiles[0];
    prop_assert_eq!(p.kernels, kernels);
    if kernels < u64::MAX && device_ns < u64::MAX {
        prop_assert_eq!(p.joined.kernels + p.grouped.kernels + p.unjoined.kernels, kernels);
        prop_assert_eq!(p.joined.device_ns + p.grouped.device_ns + p.unjoined.device_ns, device_ns);
        let devices =
            analysis.accelerator.rows.iter().flat_map(|r| &r.backends).filter_map(|b| b.device.as_ref());
        let sum = devices.fold((0, 0), |(k, ns), d| (k + d.kernels, ns + d.device_ns));
        prop_assert_eq!(sum, (kernels - p.unjoined.kernels, device_ns - p.unjoined.device_ns));
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = accelerator::read("x", &bytes);
        for beginning in ["Vulkan Timings:\n", "op name, kernel name, duration (ms), output size\n", "profile-op ", "[ \"OpenCL\"\n"] {
            let text = [beginning.as_bytes(), &bytes].concat();
            if let Some(profile) = accelerator::read("x", &text) {
                holds(profile)?;
            }
        }
    }

    #[test]
    fn damaged_and_cut(good in 0..3_usize, at in any::<prop::sample::Index>(), byte in any::<u8>(), end in any::<prop::sample::Index>()) {
        let mut bytes = [LOG, ROWS, HEXAGON][good].as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(end.index(bytes.len() + 1));
        if let Some(profile) = accelerator::read("x", &bytes) {
            holds(profile)?;
        }
    }
}
