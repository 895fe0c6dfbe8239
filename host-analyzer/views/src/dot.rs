//! `dag.dot`: the graphs for Graphviz.
//!
//! Stage: view. From: the `dag` analysis. To: one digraph per graph; `dot -Tsvg -O dag.dot` draws them all.
//! Weights are boxes with a heavy outline; nodes that only give a tensor other dimensions are grey; the
//! others are coloured by their mean wall time on a logarithmic scale.

use std::io::{self, Write};

use crate::foreign::{one_line, quoted};
use crate::words::{self, count, duration};
use profinfer_analysis::Analysis;
use profinfer_analysis::dag::{Dag, DagNode, Edge};
use profinfer_analysis::empty::is_empty_op;
use profinfer_trace::model::Model;

/// Writes the graphs.
///
/// # Errors
/// Those of `out`.
pub fn dot(_model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "// One picture per graph: dot -Tsvg -O dag.dot")?;
    for line in words::health::lines(&analysis.health) {
        writeln!(out, "// {line}")?;
    }
    for graph in &analysis.dag {
        digraph(graph, out)?;
    }
    // Graphviz refuses a file without a graph.
    if analysis.dag.is_empty() {
        writeln!(out, "digraph none {{ label=\"no graph was recorded\" }}")?;
    }
    Ok(())
}

fn digraph(graph: &Dag, out: &mut dyn Write) -> io::Result<()> {
    let scale = Scale::new(graph);
    writeln!(out, "digraph g{} {{", graph.id)?;
    writeln!(out, "  label={}; labelloc=t; fontname=\"sans-serif\";", quoted(&title(graph, &scale)))?;
    writeln!(out, "  node [fontname=\"sans-serif\", fontsize=10, style=\"filled,rounded\", shape=box];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=8, color=\"#777777\"];")?;
    for node in &graph.nodes {
        let tooltip = node.fused_with.map(|w| format!("computed by node {w}")).unwrap_or_default();
        writeln!(
            out,
            "  n{} [label={}, {}, tooltip={}];",
            node.index,
            quoted(&label(node)),
            style(node, &scale),
            quoted(&tooltip)
        )?;
    }
    for edge in &graph.edges {
        writeln!(out, "  n{} -> n{} [{}];", edge.from, edge.to, edge_style(graph, edge))?;
    }
    writeln!(out, "}}")
}

fn title(graph: &Dag, scale: &Scale) -> String {
    let context = graph.context.as_deref().map(|c| format!(" of context {c}")).unwrap_or_default();
    let tokens = graph.n_tokens.map(|n| format!(", n_tokens {}", count(n.into()))).unwrap_or_default();
    let part = if graph.complete { "" } else { "; a part of the topology was lost" };
    format!(
        "{}{context}{tokens}: {} nodes, {} calls{part}\ncolour: mean wall time, {} (light) to {} (dark)",
        graph.phase.name(),
        graph.n_nodes,
        count(graph.calls),
        duration(scale.least),
        duration(scale.most)
    )
}

fn label(node: &DagNode) -> String {
    let name = if node.name.is_empty() { "?".into() } else { one_line(&node.name) };
    let kind = match node.role {
        "node" => node.desc.as_str(),
        role => role,
    };
    let mut label = format!("{name}\n{kind} {} {}", node.dtype, dims(&node.ne));
    if let (Some(order), Some(wall)) = (node.order, node.wall_ns) {
        label.push_str(&format!("\n#{order}  {}", duration(wall)));
    } else if node.not_captured {
        label.push_str("\nnot captured");
    }
    label
}

fn edge_style(graph: &Dag, edge: &Edge) -> String {
    let dims = dims(&edge.ne);
    // The kernel that computes a node, by index; leaves have none.
    let kernel = |i: u32| graph.nodes.get(i as usize).map(|n| n.fused_with.unwrap_or(i));
    if edge.from >= graph.n_nodes {
        // A lower weight, so that the nodes stay in line with the leaves next to them.
        format!("label={}", quoted(&dims))
    } else if kernel(edge.from) == kernel(edge.to) {
        format!("label={}, weight=20, style=dashed, color=\"#c0392b\"", quoted(&format!("{dims} fused")))
    } else {
        format!("label={}, weight=20", quoted(&dims))
    }
}

/// Dimensions, the trailing ones left out: `2048×8`.
fn dims(ne: &[u64; 4]) -> String {
    let used = ne.iter().rposition(|n| *n != 1).map_or(1, |last| last + 1);
    ne[..used].iter().map(u64::to_string).collect::<Vec<_>>().join("×")
}

fn style(node: &DagNode, scale: &Scale) -> String {
    match (node.role, node.wall_ns) {
        ("weight", _) => "style=\"filled\", fillcolor=\"#ffffff\", penwidth=2.5".into(),
        ("cache", _) => "shape=cylinder, style=\"filled\", fillcolor=\"#eaf2fb\"".into(),
        ("input", _) => "shape=parallelogram, style=\"filled\", fillcolor=\"#eef7ea\"".into(),
        ("other", _) => "style=\"filled\", fillcolor=\"#ffffff\"".into(),
        (_, Some(wall)) => {
            let (fill, font) = scale.colour(wall);
            let path = if node.critical == Some(true) { ", color=\"#d9822b\", penwidth=2" } else { "" };
            format!("fillcolor=\"{fill}\", fontcolor=\"{font}\"{path}")
        }
        _ if is_empty_op(&node.op) => {
            "fillcolor=\"#e4e4e4\", color=\"#b0b0b0\", fontcolor=\"#707070\"".into()
        }
        _ => "fillcolor=\"#ffffff\", style=\"filled,rounded,dashed\"".into(),
    }
}

/// Range of times in one graph.
struct Scale {
    least: u64,
    most: u64,
}

impl Scale {
    fn new(graph: &Dag) -> Self {
        let times = || graph.nodes.iter().filter_map(|n| n.wall_ns);
        Self { least: times().min().unwrap_or(0), most: times().max().unwrap_or(0) }
    }

    /// Colours of the node and of its text: light yellow over orange to dark red.
    fn colour(&self, wall_ns: u64) -> (String, &'static str) {
        const STOPS: [[f64; 3]; 3] = [[255.0, 247.0, 209.0], [253.0, 141.0, 60.0], [140.0, 10.0, 38.0]];
        let log = |ns: u64| (ns.max(1) as f64).ln();
        let range = log(self.most) - log(self.least);
        let at = if range > 0.0 { (log(wall_ns) - log(self.least)) / range } else { 0.5 };
        let (from, to, t) =
            if at < 0.5 { (STOPS[0], STOPS[1], at * 2.0) } else { (STOPS[1], STOPS[2], at * 2.0 - 1.0) };
        let mix = |i: usize| (from[i] + (to[i] - from[i]) * t).round() as u8;
        let fill = format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
        (fill, if at > 0.7 { "#ffffff" } else { "#202020" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_ones_are_left_out() {
        assert_eq!(dims(&[1, 1, 1, 1]), "1");
        assert_eq!(dims(&[64, 1, 8, 1]), "64×1×8");
        assert_eq!(dims(&[0, 1, 1, 1]), "0");
    }

    #[test]
    fn colours_reach_both_ends() {
        let scale = Scale { least: 100, most: 1_000_000 };
        assert_eq!(scale.colour(100).0, "#fff7d1");
        assert_eq!(scale.colour(10_000).0, "#fd8d3c");
        assert_eq!(scale.colour(1_000_000).0, "#8c0a26");
        assert_eq!(Scale { least: 0, most: 0 }.colour(0).0, "#fd8d3c");
    }
}
