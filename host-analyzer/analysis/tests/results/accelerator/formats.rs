//! What each format records. The lines follow the backends' sources unless a comment says
//! otherwise.

use profinfer_trace::ingest::accelerator;
use profinfer_trace::model::{KernelDims, KernelPart, ProfileFormat};

use super::profile;

const TRACE: &str = r#"[
{"name": "kernel_a", "cat": "OpenCL", "ph": "B", "ts": 100, "pid": "", "tid": "Host"},
{"name": "kernel_a", "cat": "OpenCL", "ph": "E", "ts": 103, "pid": "", "tid": "Host"},
{"name": "kernel_a", "cat": "OpenCL", "ph": "B", "ts": 110, "pid": "", "tid": "Device"},
{"name": "kernel_a", "cat": "OpenCL", "ph": "E", "ts": 112, "pid": "", "tid": "Device"},
{"name": "kernel_b", "cat": "OpenCL", "ph": "B", "ts": 101, "pid": "", "tid": "Host"},
{"name": "kernel_b", "cat": "OpenCL", "ph": "E", "ts": 105, "pid": "", "tid": "Host"},
{"name": "kernel_b", "cat": "OpenCL", "ph": "B", "ts": 112, "pid": "", "tid": "Device"},
{"name": "kernel_b", "cat": "OpenCL", "ph": "E", "ts": 120, "pid": "", "tid": "Device"},
"#;

const TABLE: &str = "op name, kernel name, exec duration (ms), global size, local size, output size
Qcur-0,kernel_a,0.001500,64x1x1,64x1x1,64x3x1x1
a, b (view),kernel_b,0.008001,64x1x1,0x0x0,8x8x3x1
";

fn part(text: &str) -> KernelPart {
    let log = format!("----------------\nVulkan Timings:\n{text}: 1 x 2 us\nTotal time: 2 us.\n");
    let profile = profile(&log);
    assert_eq!((profile.lines.damaged, profile.lines.open_blocks), (0, 0), "{text}");
    let [kind] = &profile.kinds[..] else { panic!("{text}: {:?}", profile.kinds) };
    let [part] = &kind.parts[..] else { panic!("{text}: {:?}", kind.parts) };
    part.clone()
}

#[test]
fn names_of_rows_of_vulkan() {
    let p = part("MUL_MAT_ADD MUL_MAT_VEC q8_0 m=256 n=1 k=512");
    assert_eq!(
        (p.fusion.as_str(), p.op.as_str(), &p.types[..]),
        ("MUL_MAT_ADD", "MUL_MAT", &["q8_0".to_owned()][..])
    );
    assert_eq!(p.dims, KernelDims::Product { m: 256, n: 1, k: 512, batch: 1, experts: None });
    let p = part("MUL_MAT_ID_VEC q4_K m=64 n=2 k=32 n_expert=8 batch=3");
    assert_eq!(p.op, "MUL_MAT_ID");
    assert_eq!(p.dims, KernelDims::Product { m: 64, n: 2, k: 32, batch: 3, experts: Some(8) });
    assert_eq!(part("RMS_NORM(256,12,1,1)").dims, KernelDims::Output([256, 12, 1, 1]));
    assert_eq!(part("SILU").op, "SILU");
    let p = part("FLASH_ATTN_EXT dst(32,8,12,1),  q(32,12,8,1),  k(32,256,2,1),  v(16,256,2,1),  m(0,0,0,0)");
    let sources = [[32, 12, 8, 1], [32, 256, 2, 1], [16, 256, 2, 1]].map(Some);
    assert_eq!(p.dims, KernelDims::Tensors(sources.into_iter().chain([None]).collect(), [32, 8, 12, 1]));
    let p = part("CPY f32->f16 src(64,3,1,1,1) dst(192,1,1,1,1) [contig]");
    assert_eq!((&p.types[..], p.dtype.as_str()), (&["f32".to_owned()][..], "f16"));
    assert_eq!(p.dims, KernelDims::Tensors(vec![Some([64, 3, 1, 1])], [192, 1, 1, 1]));
    assert_eq!(part("CONV_2D M=Cout=8, K=Cin*KW*KH=27, N=N*OW*OH=100").op, "CONV_2D");
    assert_eq!(part("TOP_K K=4 (60,1,1,1)").op, "TOP_K");
}

/// With `GGML_VK_PERF_LOGGER_CONCURRENT`, operators that ran at the same time share a row.
#[test]
fn rows_of_several_operators() {
    let log = "Vulkan Timings:
MUL_MAT_VEC q8_0 m=64 n=1 k=64, FLASH_ATTN_EXT dst(1,1,1,1),  q(1,1,1,1),  k(1,1,1,1),  v(1,1,1,1),  m(0,0,0,0), ADD: 2 x 1.5 us = 3 us (1.2 GFLOPS/s)
Total time: 3 us.
";
    let profile = profile(log);
    let ops: Vec<_> = profile.kinds[0].parts.iter().map(|p| p.op.as_str()).collect();
    assert_eq!(ops, ["MUL_MAT", "FLASH_ATTN_EXT", "ADD"]);
    assert_eq!(profile.total(), (2, 3_000));
}

/// The first releases had no total; long times have an exponent.
#[test]
fn times_of_vulkan() {
    let old = profile("Vulkan Timings:\nADD: 3 x 1.25 us\nGLU: 1 x 1.5e+06 us\nTotal time: 1.5e+06 us.\n");
    assert_eq!(
        old.rows.iter().map(|r| (r.kernels, r.device_ns)).collect::<Vec<_>>(),
        [(3, 3_750), (1, 1_500_000_000)]
    );
    assert_eq!(old.lines.open_blocks, 0);
    // The same row of two graphs is one.
    let twice = profile(
        "Vulkan Timings:\nADD: 3 x 1 us = 3 us\nTotal time: 3 us.\nnoise\nVulkan Timings:\nADD: 2 x 2 us = 4 us\nTotal time: 4 us.\n",
    );
    assert_eq!((twice.rows.len(), twice.total()), (1, (5, 7_000)));
    assert_eq!((twice.lines.read, twice.lines.other, twice.lines.damaged), (7, 1, 0));
}

/// Text of another thread in a line, and cut lines, are counted, not read. The total shows that a
/// block lost a row.
#[test]
fn damage_in_logs_of_vulkan() {
    let log = "Vulkan Timings:
ADD: 3 x 1 us = 3 us
MUL: 3 x 1 us load: done
GLU: 3 x -1 us = 3 us
ROPE: 0 x 1 us = 0 us
SUM: 1 x inf us
Total time: 6 us.
Vulkan Timings:
ADD: 1 x 1 us = 1 us
Vulkan Timings:
ADD: 1 x 1 us";
    let profile = profile(log);
    assert_eq!(profile.total(), (5, 5_000));
    assert_eq!((profile.lines.damaged, profile.lines.open_blocks), (4, 3));
}

#[test]
fn table_of_opencl() {
    let table = profile(TABLE);
    assert_eq!(table.format, ProfileFormat::OpenClTable);
    let rows: Vec<_> = table
        .rows
        .iter()
        .map(|r| {
            let kind = &table.kinds[r.kind as usize];
            (kind.parts[0].tensor.as_str(), kind.kernel.as_str(), kind.parts[0].dims.clone(), r.device_ns)
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("Qcur-0", "kernel_a", KernelDims::Output([64, 3, 1, 1]), 1_500),
            ("a, b (view)", "kernel_b", KernelDims::Output([8, 8, 3, 1]), 8_001),
        ]
    );
    // Releases with more columns, and with one time only.
    let more = "op name, kernel name, queued duration (ms), submit duration(ms), exec duration (ms), complete duration (ms), total duration (ms), global size, local size, output size\nx,k,1,2,0.5,3,4,1x1x1,1x1x1,1x1x1x1\ncut,k,1,2\n";
    let more = profile(more);
    assert_eq!((more.total(), more.lines.damaged), ((1, 500_000), 1));
    let first = profile(
        "op name, kernel name, duration (ms), global size, local size, output size\nx,k,0.25,1x1x1,1x1x1,1x1x1x1\n",
    );
    assert_eq!(first.total(), (1, 250_000));
}

/// A trace of the same kernels adds its timeline to the table. Another trace stays separate, and
/// its kernels are not counted twice.
#[test]
fn trace_of_opencl() {
    let trace = profile(TRACE);
    assert_eq!((trace.format, trace.total()), (ProfileFormat::OpenClTrace, (2, 10_000)));
    let mut both = vec![trace.clone(), profile(TABLE)];
    accelerator::pair(&mut both);
    assert_eq!((both.len(), both[0].format, both[0].total()), (1, ProfileFormat::OpenClTable, (2, 9_501)));
    let timeline = both[0].timeline.unwrap();
    // 110 to 120; 3 and 4 in the queue.
    assert_eq!((timeline.span_ns, timeline.queued_ns), (10_000, 7_000));
    let mut other = vec![trace, profile(&TABLE.replace("kernel_b", "kernel_c"))];
    accelerator::pair(&mut other);
    assert_eq!(other.len(), 2);
    let cut = profile(&TRACE[..TRACE.len() - 60]);
    assert_eq!((cut.total(), cut.lines.damaged), ((1, 2_000), 1));
}

/// The three published forms, each as the last line of a log with others.
#[test]
fn logs_of_hexagon() {
    let rows = [
        "ggml-hex: HTP0 profile-op MUL_MAT: wq x inp -> Qcur-0 : 64:64 x 64:1 -> 64:1 : q8_0 x f32 -> f32 : 68:68 x 4:256 -> 4:256 : HTP0 x HTP0 -> HTP0 : op-usec 25 op-cycles 30000 op-pkts 900 (33.3) call-usec 40",
        "ggml-hex: HTP0 profile-op MUL_MAT: wq x inp -> Qcur-0 : 64:64 x 64:1 -> 64:1 : q8_0 x f32 -> f32 : 68:68 x 4:256 -> 4:256 : usec 25 cycles 30000 pmu [1,2,3,4,5,6,7,8]",
        "0.00.123.456 D ggml-hex: HTP0 profile-op MUL_MAT|wq x inp -> Qcur-0|64:64 x 64:1 -> 64:1|q8_0 x f32 -> f32|68:68 x 4:256 -> 4:256|hvx-tiled vtcm 1024|usec 25 cycles 30000 start 77 mhz 1200.0",
    ];
    for row in rows {
        let log = format!(
            "llama: loading\n{row}\nggml-hex: HTP0 profile-op OPBATCH|----|n-ops 1|----|----|----|usec 30 cycles 1\n"
        );
        let profile = profile(&log);
        assert_eq!((profile.format, profile.total()), (ProfileFormat::HexagonLog, (1, 25_000)), "{row}");
        assert_eq!((profile.lines.other, profile.lines.damaged), (2, 0));
        let part = &profile.kinds[0].parts[0];
        assert_eq!(
            (part.op.as_str(), part.tensor.as_str(), part.dtype.as_str()),
            ("MUL_MAT", "Qcur-0", "f32")
        );
        assert_eq!(part.types, ["q8_0", "f32"]);
        assert_eq!(
            part.dims,
            KernelDims::Tensors(vec![Some([64, 64, 1, 1]), Some([64, 1, 1, 1])], [64, 1, 1, 1])
        );
    }
    let fused = profile(
        "profile-op RMS_NORM+MUL|x x wn -> y|64:1 x 64:1:2:1 x NONE -> 64:1|f32 x f32 x NONE -> f32|s|----|usec 3 cycles 4\nprofile-op ADD|a",
    );
    assert_eq!(
        (fused.kinds[0].parts[0].op.as_str(), &fused.kinds[0].parts[0].behind[..]),
        ("RMS_NORM", &["MUL".to_owned()][..])
    );
    assert_eq!(fused.lines.damaged, 1);
}

#[test]
fn what_is_no_profile() {
    for text in [
        "",
        "\n",
        "op name",
        "[1, 2]",
        "llama_perf_context_print: load time = 3 ms",
        "op name, kernel name, exec duration (h), output size\n",
    ] {
        assert!(accelerator::read("x", text.as_bytes()).is_none(), "{text}");
    }
}
