//! Joins to the small session, figures by hand from `models/small.rs`.
//!
//! A decode graph has a product (64 × 64, Q8_0), a norm of its reshaped result, a product with a
//! weight, and a second norm of the same name. It was computed twice on the accelerator, and twice
//! on the CPU.

use profinfer_analysis::Analysis;
use profinfer_analysis::accelerator::{Accelerators, OnBackend, Row, Why, several};
use profinfer_views as views;

use super::{joined, split};

pub(super) const VULKAN: &str = "Vulkan Timings:
MUL_MAT_VEC q8_0 m=64 n=1 k=64: 2 x 1.5 us = 3 us (5.4 GFLOPS/s)
RMS_NORM(64,1,1,1): 2 x 1 us = 2 us
RMS_NORM_MUL RMS_NORM(64,1,1,1): 2 x 2 us = 4 us
SOFT_MAX: 1 x 7 us = 7 us
Total time: 16 us.
";

fn row<'a>(analysis: &'a Analysis, op: &str, shapes: usize, backend: &str) -> (&'a Row, &'a OnBackend) {
    let rows = analysis.accelerator.rows.iter();
    let fits = |r: &&Row| r.shapes.len() == shapes && r.shapes[0].op == op && r.shapes[0].ne[1] == 1;
    rows.filter(fits).find_map(|r| Some((r, r.backends.iter().find(|b| b.backend == backend)?))).unwrap()
}

#[test]
fn shapes_join_rows_without_names() {
    let analysis = joined("Vulkan", &[VULKAN]);
    let p = &analysis.accelerator.profiles[0];
    assert_eq!((p.kernels, p.device_ns, p.backend.as_deref()), (7, 16_000, Some("Vulkan")));
    assert_eq!((p.joined.kernels, p.joined.device_ns), (2, 3_000));
    // Both norms have this result, and different sources, so they cannot be distinguished.
    assert_eq!((p.grouped.kernels, p.grouped.device_ns), (4, 6_000));
    assert_eq!((p.unjoined.kernels, p.unjoined.device_ns), (1, 7_000));
    assert_eq!((p.unjoined_kinds[0].text.as_str(), p.unjoined_kinds[0].why), ("SOFT_MAX", Why::NoNode));
    assert!((p.share - 9.0 / 16.0).abs() < 1e-12 && !p.whole());
    let balance: Vec<_> = p
        .operators
        .iter()
        .map(|b| (b.op.as_str(), b.executions, b.kernels, b.fused, b.without, b.beyond))
        .collect();
    assert_eq!(balance, [("RMS_NORM", 4, 4, 0, 0, 0), ("MUL", 2, 0, 2, 0, 0), ("MUL_MAT", 2, 2, 0, 0, 0)]);
}

#[test]
fn both_times_stand_side_by_side() {
    let analysis = joined("Vulkan", &[VULKAN]);
    let (whole, vulkan) = row(&analysis, "MUL_MAT", 1, "Vulkan");
    let product = whole.shapes[0].product.unwrap();
    assert_eq!((product.m, product.n, product.k, product.batch), (64, 1, 64, 1));
    assert_eq!(whole.shapes[0].types, ["q8_0", "f32"]);
    assert_eq!(vulkan.host, None);
    let device = vulkan.device.as_ref().unwrap();
    assert_eq!((vulkan.executions, device.kernels, device.device_ns), (2, 2, 3_000));
    let done = device.work.unwrap();
    // Two products of 64 × 64: 2 · 64 · 64 operations each, in 3 µs.
    assert_eq!(done.operations, 16_384);
    assert!((done.operations_per_s.unwrap() - 16_384e9 / 3_000.0).abs() < 1.0);
    // On the CPU 105 and 130 ns.
    let (_, cpu) = row(&analysis, "MUL_MAT", 1, "CPU");
    let host = cpu.host.as_ref().unwrap();
    assert_eq!(
        (cpu.executions, host.executions, host.wall_ns, host.host_side, &cpu.device),
        (2, 2, 235, false, &None)
    );
    assert_eq!((host.work.operations, host.work.read_bytes), (done.operations, done.read_bytes));
    // No device time is in an operator's time.
    let alone = Analysis::compute(&split("Vulkan"));
    assert_eq!((alone.op, alone.token, alone.budget), (analysis.op, analysis.token, analysis.budget));
    assert!(alone.accelerator.rows.iter().flat_map(|r| &r.backends).all(|b| b.device.is_none()));
}

#[test]
fn groups_have_the_work_of_all_their_nodes() {
    let analysis = joined("Vulkan", &[VULKAN]);
    let (grouped, vulkan) = row(&analysis, "RMS_NORM", 2, "Vulkan");
    assert_eq!((grouped.shapes[0].ne, grouped.shapes[1].ne), ([64, 1, 1, 1], [64, 1, 1, 1]));
    assert_ne!(grouped.shapes[0].src, grouped.shapes[1].src);
    let device = vulkan.device.as_ref().unwrap();
    assert_eq!((vulkan.executions, device.kernels, device.device_ns), (4, 4, 6_000));
    assert_eq!(
        device.fused.iter().map(|f| (f.what.as_str(), f.kernels, f.device_ns)).collect::<Vec<_>>(),
        [("RMS_NORM_MUL", 2, 4_000)]
    );
    assert!(device.work.is_some());
    // One kernel too many: its shape is one of two.
    let more = joined(
        "Vulkan",
        &[&VULKAN.replace("RMS_NORM(64,1,1,1): 2 x 1 us = 2 us", "RMS_NORM(64,1,1,1): 3 x 1 us = 3 us")],
    );
    let (_, vulkan) = row(&more, "RMS_NORM", 2, "Vulkan");
    let norm = more.accelerator.profiles[0].operators.iter().find(|b| b.op == "RMS_NORM").unwrap();
    assert_eq!((norm.executions, norm.kernels, norm.beyond), (4, 5, 1));
    assert_eq!(vulkan.device.as_ref().unwrap().kernels, 5);
    assert_eq!(more.accelerator.profiles[0].open_blocks, 1);
}

/// A log of the engine's complete life, of which the recording has a part. Rates stay, because each
/// execution has the same work.
#[test]
fn longer_logs_keep_their_rates() {
    let log = VULKAN.replace("k=64: 2 x 1.5 us = 3 us", "k=64: 10 x 1.5 us = 15 us");
    let analysis = joined("Vulkan", &[&log]);
    let (_, vulkan) = row(&analysis, "MUL_MAT", 1, "Vulkan");
    let done = vulkan.device.as_ref().unwrap().work.unwrap();
    assert_eq!(done.operations, 10 * 2 * 64 * 64);
    assert!((done.operations_per_s.unwrap() - 81_920e9 / 15_000.0).abs() < 1.0);
    assert_eq!(analysis.accelerator.profiles[0].operators.iter().map(|b| b.beyond).sum::<u64>(), 8);
}

/// Operators that ran at the same time share one time, which belongs to none of them.
#[test]
fn what_ran_at_once_is_one_group() {
    let log = "Vulkan Timings:\nMUL_MAT_VEC q8_0 m=64 n=1 k=64, MUL: 2 x 1.5 us = 3 us\nTotal time: 3 us.\n";
    let analysis = joined("Vulkan", &[log]);
    let p = &analysis.accelerator.profiles[0];
    assert_eq!((p.joined.kernels, p.grouped.kernels, p.unjoined.kernels), (0, 2, 0));
    let device =
        analysis.accelerator.rows.iter().flat_map(|r| &r.backends).find_map(|b| b.device.as_ref()).unwrap();
    assert!(device.at_once && device.work.is_none());
}

fn table(rows: &[(&str, &str, u32)]) -> String {
    let mut text =
        "op name, kernel name, exec duration (ms), global size, local size, output size\n".to_owned();
    for (tensor, kernel, ns) in rows {
        text.push_str(&format!("{tensor},{kernel},0.{ns:06},64x1x1,64x1x1,64x1x1x1\n"));
    }
    text
}

/// `norm-0` is two nodes. The neighbouring rows show which one it was; after the last row nothing
/// does.
#[test]
fn order_tells_nodes_of_one_name_apart() {
    let graph = [
        ("Qcur-0", "kernel_convert", 500),
        ("Qcur-0", "kernel_mul_mv", 2_500),
        ("norm-0", "kernel_rms_norm", 100),
        ("attn_norm-0", "kernel_mul", 200),
        ("norm-0", "kernel_rms_norm", 300),
    ];
    let analysis = joined("OpenCL", &[&table(&[graph, graph].concat())]);
    let p = &analysis.accelerator.profiles[0];
    assert_eq!((p.joined.kernels, p.grouped.kernels, p.unjoined.kernels), (9, 1, 0));
    let device_of = |reshaped: bool| {
        let rows = analysis.accelerator.rows.iter();
        let norm = |r: &&Row| {
            r.shapes.len() == 1
                && r.shapes[0].op == "RMS_NORM"
                && r.shapes[0].ne[1] == 1
                && (r.shapes[0].src[0] == [8, 8, 1, 1]) == reshaped
        };
        let on = rows.filter(norm).flat_map(|r| &r.backends).find(|b| b.backend == "OpenCL").unwrap();
        on.device.clone().unwrap()
    };
    assert_eq!((device_of(true).kernels, device_of(true).device_ns), (2, 200));
    assert_eq!((device_of(false).kernels, device_of(false).device_ns), (1, 300));
    // Two kernels for each of two products: the work of two in the time of four.
    let (_, opencl) = row(&analysis, "MUL_MAT", 1, "OpenCL");
    let device = opencl.device.as_ref().unwrap();
    assert_eq!((opencl.executions, device.kernels, device.device_ns), (2, 4, 6_000));
    assert_eq!(device.work.unwrap().operations, 16_384);
    assert_eq!(p.unequal(), (0, 0));
}

#[test]
fn nodes_without_a_kernel_are_counted() {
    let analysis = joined("OpenCL", &[&table(&[("Qcur-0", "kernel_mul_mv", 10), ("elsewhere", "k", 7)])]);
    let p = &analysis.accelerator.profiles[0];
    assert_eq!((p.joined.kernels, p.unjoined.kernels, p.unjoined.device_ns), (1, 1, 7));
    let without: Vec<_> = p.operators.iter().map(|b| (b.op.as_str(), b.executions, b.without)).collect();
    assert_eq!(without, [("RMS_NORM", 4, 4), ("MUL", 2, 2), ("MUL_MAT", 2, 0)]);
    // One kernel for two products: it is unknown which one it computed.
    let (_, opencl) = row(&analysis, "MUL_MAT", 1, "OpenCL");
    assert!(opencl.device.as_ref().unwrap().work.is_none());
}

/// A fused row has its first operator's shape, found through the sources of the last.
#[test]
fn rows_of_hexagon_join_by_name_and_operator() {
    let graph = "ggml-hex: HTP0 profile-op MUL_MAT|wq x inp -> Qcur-0|64:64 x 64:1 -> 64:1|q8_0 x f32 -> f32|s|----|usec 5 cycles 9
ggml-hex: HTP0 profile-op RMS_NORM+MUL|Qcur-0 x wn -> attn_norm-0|8:8 x 64:1 -> 64:1|f32 x q8_0 -> f32|s|----|usec 3 cycles 9
ggml-hex: HTP0 profile-op RMS_NORM|attn_norm-0 -> norm-0|64:1 -> 64:1|f32 -> f32|s|----|usec 2 cycles 9
";
    // The agent knows no name for this backend, so it uses the first bytes of its GUID.
    for backend in ["Hexagon", "0102030405060708"] {
        let analysis = joined(backend, &[&graph.repeat(2)]);
        let p = &analysis.accelerator.profiles[0];
        assert_eq!(p.backend.as_deref(), Some(backend));
        assert_eq!((p.joined.kernels, p.joined.device_ns, p.kernels), (6, 20_000, 6));
        let rows = analysis.accelerator.rows.iter().flat_map(|r| r.backends.iter().map(move |b| (r, b)));
        let device: Vec<_> = rows
            .filter_map(|(r, b)| Some((r.shapes[0].op.as_str(), r.shapes[0].src[0], b.device.as_ref()?)))
            .map(|(op, src, d)| (op, src, d.kernels, d.device_ns, d.fused.len()))
            .collect();
        assert_eq!(
            device,
            [
                ("MUL_MAT", [64, 64, 1, 1], 2, 10_000, 0),
                ("RMS_NORM", [8, 8, 1, 1], 2, 6_000, 1),
                ("RMS_NORM", [64, 1, 1, 1], 2, 4_000, 0),
            ]
        );
    }
}

#[test]
fn without_the_backend_nothing_joins() {
    let analysis = joined("BLAS", &[VULKAN]);
    let p = &analysis.accelerator.profiles[0];
    assert_eq!((p.backend.as_deref(), p.unjoined.kernels, p.share), (None, 7, 0.0));
    assert!(p.unjoined_kinds.iter().all(|u| u.why == Why::NoBackend));
    let trace = r#"[
{"name": "k", "cat": "OpenCL", "ph": "B", "ts": 1, "pid": "", "tid": "Device"},
{"name": "k", "cat": "OpenCL", "ph": "E", "ts": 3, "pid": "", "tid": "Device"},
"#;
    let analysis = joined("OpenCL", &[trace]);
    assert_eq!(analysis.accelerator.profiles[0].unjoined_kinds[0].why, Why::NotTold);
    // One backend without a profile leaves nothing to compare.
    assert!(Analysis::compute(&crate::models::small::model()).accelerator.rows.is_empty());
}

#[test]
fn what_does_not_join_is_said_first() {
    let mut m = split("Vulkan");
    m.accelerators = vec![super::profile(&format!("{VULKAN}MUL: 3 x 1 us cut\n"))];
    let analysis = Analysis::compute(&m);
    let mut text = Vec::new();
    views::terminal::terminal(&m, &analysis, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    // Without colours.
    let text: String = text
        .split("\u{1b}[")
        .map(|t| t.split_once('m').filter(|(c, _)| !c.contains(' ')).map_or(t, |(_, t)| t))
        .collect();
    let said: String =
        text.lines().skip_while(|l| !l.contains("accelerator profile")).take(4).collect::<Vec<_>>().join(" ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = "1 kernel (7.00 µs on the device) without a node, first `SOFT_MAX`: no node of the backend has this name, operator or \
                 shape; 1 lines truncated or mixed with others;";
    assert!(said.contains(first), "{said}");
    let line = text.lines().find(|l| l.starts_with("MUL_MAT q8_0 m=64 n=1 k=64")).unwrap();
    assert!(line.contains("Vulkan") && line.contains("3.00 µs") && line.contains("1.50 µs"), "{line}");
}

/// A recording of the CPU alone, and one with a profile of the accelerator.
#[test]
fn recordings_side_by_side() {
    let alone = Accelerators::of_recording(&crate::models::small::model());
    assert!(alone.rows.iter().all(|r| r.backends.iter().all(|b| b.backend == "CPU")));
    let with = joined("Vulkan", &[VULKAN]).accelerator;
    let rows = several(&[alone, with]);
    let product = rows.iter().find(|r| r.shapes[0].op == "MUL_MAT" && r.shapes[0].ne[1] == 1).unwrap();
    let times: Vec<_> = product
        .backends
        .iter()
        .map(|b| {
            let host = b.on.host.as_ref().map(|h| h.wall_ns);
            (b.recording, b.on.backend.as_str(), host, b.on.device.as_ref().map(|d| d.device_ns))
        })
        .collect();
    assert_eq!(
        times,
        [(0, "CPU", Some(235), None), (1, "Vulkan", None, Some(3_000)), (1, "CPU", Some(235), None)]
    );
    // Rows that only one recording has come last.
    let several: Vec<bool> = rows.iter().map(|r| r.backends.len() > 1).collect();
    assert!(several.is_sorted_by(|a, b| a >= b), "{several:?}");
}
