//! stable-diffusion.cpp, a GGML program whose graphs do not pass a scheduler: operators and
//! dimensions of its ESRGAN compared with those that follow from the tensors in the model file.
//!
//! `ci/engines/others.sh` fetches the program and names its folder in PROFINFER_DIFFUSION_DIR, and that of the model and the image,
//! made by scripts/gen_esrgan.py, in PROFINFER_ESRGAN_DIR.

use std::io::Read;
use std::path::Path;

use profinfer_trace::model::{GraphCallId, Layer};

use crate::nodes::{check_spans, list};
use crate::support::{engine, parts, record};

/// Pixels along an edge of the image, and of the tile that is computed at once.
const SIZE: u64 = 32;

/// Name, outputs and inputs of each convolution, in the order of the file, which is that of the computation.
fn convolutions(path: &Path) -> Vec<(String, u64, u64)> {
    let mut file = std::fs::File::open(path).unwrap();
    let mut length = [0; 8];
    file.read_exact(&mut length).unwrap();
    let mut header = vec![0; usize::try_from(u64::from_le_bytes(length)).unwrap()];
    file.read_exact(&mut header).unwrap();
    let header: serde_json::Value = serde_json::from_slice(&header).unwrap();
    let mut all: Vec<_> = header
        .as_object()
        .unwrap()
        .iter()
        .filter_map(|(name, tensor)| {
            let dim = |i: usize| tensor["shape"][i].as_u64().unwrap();
            let place = tensor["data_offsets"][0].as_u64().unwrap();
            Some((place, (name.strip_suffix(".weight")?.to_owned(), dim(0), dim(1))))
        })
        .collect();
    all.sort();
    all.into_iter().map(|(_, conv)| conv).collect()
}

/// Edge of the image that a convolution processes: it is doubled before each of the two upsampling
/// convolutions.
fn edge(name: &str) -> u64 {
    match name {
        "conv_up1" => 2 * SIZE,
        "conv_up2" | "conv_hr" | "conv_last" => 4 * SIZE,
        _ => SIZE,
    }
}

#[test]
#[ignore = "ci/engines/others.sh runs it"]
fn esrgan_of_two_blocks() {
    let Some(parts) = parts() else { return };
    let (Some(bin), Some(data)) = (engine("PROFINFER_DIFFUSION_DIR"), engine("PROFINFER_ESRGAN_DIR")) else {
        return;
    };
    let (dir, path) = (tempfile::tempdir().unwrap(), |p: &Path| p.to_str().unwrap().to_owned());
    let (model, made) = (data.join("esrgan.safetensors"), dir.path().join("out.png"));
    let size = SIZE.to_string();
    let (program, image, out) = (path(&bin.join("upscale")), path(&data.join("esrgan.png")), path(&made));
    let (trace, _) = record(&parts, &[], &[&program, &path(&model), &image, &out, "2", &size]);
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    let ledger = trace.health.ledger.unwrap();
    assert!(ledger.span_ends > 0);
    assert_eq!((ledger.span_starts, ledger.spans_sent), (ledger.span_ends, ledger.span_ends), "{ledger:?}");
    assert!(trace.graph_calls.layer.iter().all(|l| *l == Layer::Backend), "no scheduler");
    assert_eq!(trace.graph_calls.len(), 1, "one tile");
    check_spans(&trace, GraphCallId(0), 2);

    let nodes = list(&trace, GraphCallId(0));
    let convolutions = convolutions(&model);
    let columns: Vec<_> = nodes.iter().filter(|n| n.op == "IM2COL").map(|n| n.ne).collect();
    let expected: Vec<_> =
        convolutions.iter().map(|(name, _, inputs)| [9 * inputs, edge(name), edge(name), 1]).collect();
    assert_eq!(columns, expected, "each convolution's columns");
    let count = |op: &str| nodes.iter().filter(|n| n.op == op).count();
    let named = |part: &dyn Fn(&str) -> bool| convolutions.iter().filter(|(name, ..)| part(name)).count();
    let dense = named(&|n| n.ends_with("conv5"));
    assert_eq!(count("MUL_MAT"), convolutions.len());
    assert_eq!(count("UPSCALE"), 2, "four times larger");
    assert_eq!(count("CONCAT"), 4 * dense, "a dense block appends each of its first four results");
    // These, both upsampling convolutions, and the one after them are followed by an activation.
    let nested = |n: &str| n.contains(".rdb") && !n.ends_with("conv5");
    assert_eq!(count("LEAKY_RELU"), named(&nested) + 3);
    // Residuals are scaled: those of each dense block and those of each block of three.
    assert_eq!(count("SCALE"), dense + dense / 3);
    let png = std::fs::read(&made).unwrap();
    let edge_of = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!(
        (u64::from(edge_of(16)), u64::from(edge_of(20))),
        (4 * SIZE, 4 * SIZE),
        "the image that was made"
    );
}
