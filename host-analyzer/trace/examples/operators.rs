//! Prints the time of each operator type in a recording: `cargo run -p profinfer-trace --example
//! operators -- FILE.pfi`.

use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: operators FILE.pfi")?;
    let model = profinfer_trace::read(&std::fs::read(path)?)?;
    println!("{} llama_decode calls, {} spans", model.llama_calls.len(), model.spans.len());
    if !model.health.perfect() {
        println!("data was lost: {:?}", model.health.damage);
    }
    let mut time_ns: BTreeMap<&str, u64> = BTreeMap::new();
    for row in 0..model.spans.len() {
        let call = model.spans.graph_call[row];
        // Look up a node in the graph that was current when the operator ran.
        let Some(topology) = model.graph_calls.topology[call.0 as usize] else { continue };
        let node = model.topologies.get(topology).node(model.spans.node[row]);
        *time_ns.entry(model.texts.get(node.op)).or_default() += model.spans.work_ns[row];
    }
    for (op, ns) in time_ns {
        println!("{op:20} {:10.3} ms", ns as f64 / 1e6);
    }
    Ok(())
}
