//! The ceilings of emulated boards with different processors. `ci/board/bench.sh` makes the
//! recordings, and names their folder in PROFINFER_BOARD_BENCH.

use profinfer_trace::model::CeilingKind;

use crate::support::read;

/// Ceilings of every kind, with the instructions of the processor, and a ceilings file for a
/// session.
#[test]
#[ignore = "ci/board/bench.sh runs it"]
fn every_ceiling_with_the_instructions_of_the_processor() {
    let Some(dir) = profinfer_skip::needed_path("PROFINFER_BOARD_BENCH", "ci/board/bench.sh") else { return };
    for (cpu, int8) in [("cortex-a76", &["sdot"][..]), ("max", &["sdot", "smmla"])] {
        let told = read(&dir.join(format!("bench-{cpu}.pfi"))).ceilings;
        for kind in CeilingKind::ALL {
            assert!(told.iter().any(|c| c.kind == kind && c.measured() && c.min > 0), "{cpu}: {kind:?}");
        }
        // A loop with wrong results is not measured, and is reported.
        assert!(told.iter().all(|c| c.measured()), "{cpu}: {told:#?}");
        let how = |kind: CeilingKind| {
            let mut how: Vec<&str> = told.iter().filter(|c| c.kind == kind).map(|c| c.how.as_str()).collect();
            how.sort_unstable();
            how.dedup();
            how
        };
        assert_eq!(how(CeilingKind::Int8), int8, "{cpu}");
        assert_eq!(how(CeilingKind::F32), ["fmla 4s"], "{cpu}");
        assert_eq!(how(CeilingKind::F16), ["fcvtl, fmla 4s", "fmla 8h"], "{cpu}");
        // The agent's list has them, and `analyze --ceilings` used them.
        for file in [format!("bench-{cpu}.json"), format!("bench-{cpu}/summary.json")] {
            let json: serde_json::Value =
                serde_json::from_slice(&std::fs::read(dir.join(&file)).unwrap()).unwrap();
            assert_eq!(json["ceilings"].as_array().unwrap().len(), told.len(), "{file}");
        }
    }
}
