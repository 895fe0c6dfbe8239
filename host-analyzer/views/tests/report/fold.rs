//! The graph folded by module and by layer: no node and no time is lost or counted twice, and folded
//! boxes open again.

use serde_json::{Value, json};

use crate::Shown;

fn wall(node: &Value) -> u64 {
    node["wall_ns"].as_u64().unwrap_or(0)
}

/// `first`: the initial state of the page.
pub(crate) fn by_module_and_layer(Shown { page, dag, .. }: &Shown, first: &str) {
    let folding = &page["folding"];
    assert_eq!(folding["first"], first);
    let graph = dag["graphs"].as_array().unwrap().iter().find(|g| g["phase"] == "decode").unwrap();
    let n_nodes = graph["n_nodes"].as_u64().unwrap();
    let nodes = &graph["nodes"].as_array().unwrap()[..n_nodes as usize];
    for level in ["Modules", "Layers"] {
        let drawn = folding["levels"][level].as_array().unwrap();
        let computed: Vec<&Value> = drawn.iter().filter(|b| b["index"].as_u64().unwrap() < n_nodes).collect();
        let count: u64 = computed.iter().map(|b| b["count"].as_u64().unwrap()).sum();
        let time = |b: &&Value| {
            b["wall"].as_u64().unwrap_or_else(|| wall(&nodes[b["index"].as_u64().unwrap() as usize]))
        };
        assert_eq!(count, n_nodes, "{level}");
        assert_eq!(computed.iter().map(time).sum::<u64>(), nodes.iter().map(wall).sum::<u64>(), "{level}");
        assert!(computed.len() as u64 * 3 < n_nodes, "{level}: {} boxes of {n_nodes} nodes", computed.len());
    }
    // A layer is one box, with the time of its nodes.
    let layers = folding["levels"]["Layers"].as_array().unwrap();
    for layer in [0, 1] {
        let name = json!(format!("layer {layer}"));
        let [found] = &layers.iter().filter(|b| b["name"] == name).collect::<Vec<_>>()[..] else {
            panic!("{layers:?}")
        };
        let of_layer = nodes.iter().filter(|n| n["layer"] == layer).map(wall).sum::<u64>();
        assert_eq!(found["wall"], of_layer);
    }
    assert!(
        folding["levels"]["Modules"].as_array().unwrap().iter().any(|b| b["name"] == "attention, layer 1")
    );
    // Opened twice, and closed twice.
    let boxes = |key: &str| folding[key].as_u64().unwrap();
    assert!(layers.len() < boxes("opened") as usize && boxes("opened") < boxes("deeper"), "{folding}");
    assert_eq!((boxes("back"), boxes("closed")), (boxes("opened"), layers.len() as u64));
    assert!(folding["found"].as_str().unwrap().starts_with("ffn_out"), "{folding}");
}
