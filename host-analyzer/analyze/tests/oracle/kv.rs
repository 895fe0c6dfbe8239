//! Growth with the context, on a real engine: attention grows, and products with weights do not.

use profinfer_analysis::Analysis;
use profinfer_analysis::kv::Growth;

use crate::support::{model, parts, record, tool};

fn check(attention: &[&str], options: &[&str]) {
    let Some(parts) = parts() else { return };
    let Some(program) = tool("llama-bench") else { return };
    let gguf = model(&parts, "smollm2");
    let command = [program.to_str().unwrap(), "-m", &gguf, "-t", "1", "-p", "0", "-n", "800", "-r", "1"];
    // Without the scheduler level: if a busy disk stalls the agent, its interrupts are dropped
    // first, and counted.
    let levels = ["--levels", "token,graph,op"];
    let (trace, _) = record(&parts, &levels, &[&command[..], options].concat());
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    let all = Analysis::compute(&trace).kv;
    assert_eq!(all.len(), 1);
    let kv = &all[0];
    // Steps of 256 cells; the cache has room for this test only.
    let cells: Vec<_> = kv.steps.iter().map(|s| (s.cells, s.tokens)).collect();
    assert_eq!(cells, [(256, 256), (512, 256), (768, 256), (1_024, 32)]);
    assert_eq!(kv.limit_cells, Some(1_024));
    let of = |name: &str, op: &str| -> Growth {
        let found = kv.names.iter().find(|o| o.name.as_deref() == Some(name) && o.op == op);
        found.unwrap_or_else(|| panic!("{name}: {:#?}", kv.names)).growth
    };
    let grown: i64 = attention
        .iter()
        .map(|name| of(name, if *name == "node" { "FLASH_ATTN_EXT" } else { "MUL_MAT" }))
        .map(|g| {
            println!("attention: {g:?}");
            assert!(g.ns_per_1000_cells > 0, "{g:?}");
            g.ns_per_1000_cells
        })
        .sum();
    for name in ["ffn_gate", "ffn_up", "ffn_out"] {
        let g = of(name, "MUL_MAT");
        println!("{name}: {g:?}");
        // A longer context leaves less of the caches to the weights; that effect is real, but small
        // compared with attention. And all operators grow if another program uses more and more of
        // the CPU.
        assert!(!g.grows || g.ns_per_1000_cells * 4 < grown, "{name}: {g:?} beside {grown}");
    }
    println!("token: {:?}, limit: {:?}", kv.token, kv.at_limit);
}

#[test]
fn flash_attention_grows() {
    check(&["node"], &["-fa", "1"]);
}

#[test]
fn products_with_the_cache_grow() {
    check(&["kq", "kqv"], &["-fa", "0"]);
}
