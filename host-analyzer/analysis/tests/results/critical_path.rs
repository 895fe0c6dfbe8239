//! The critical path of graphs that are small enough to see it.

use profinfer_analysis::Analysis;
use profinfer_analysis::critical_path::CriticalPath;
use profinfer_trace::model::*;

use crate::models::{rows, small};

/// Name, operator, sources, the tensor of which it is a view, and its time. A tensor without a time
/// never runs.
type Row = (&'static str, &'static str, &'static [u32], Option<u32>, u64);

/// A decode call of these nodes, then leafs. `fused` is the last node that the kernel of a node
/// also computes.
fn analysed(nodes: &[Row], n_nodes: u32, fused: &[(u32, u32)]) -> (CriticalPath, Vec<bool>) {
    let mut m = Model::default();
    let thread = m.threads.find_or_add(100);
    let name = m.texts.intern("engine");
    m.threads.describe(thread, small::PID, name);
    let mut node = |(name, op, src, view_of, _): &Row| Node {
        role: Role::Other,
        view_of: view_of.map(NodeIdx),
        src: rows::sources(src),
        ..rows::tensor(&mut m.texts, name, op, "")
    };
    let rows: Vec<Node> = nodes.iter().map(&mut node).collect();
    m.topologies.rows.push(Topology { pid: small::PID, n_nodes, nodes: rows, complete: true });
    let mut now = 100;
    let mut spans: Vec<small::Row> = Vec::new();
    for (i, (.., time)) in (0_u32..).zip(nodes).filter(|(_, n)| n.4 > 0) {
        let last = fused.iter().find(|f| f.0 == i).map_or(i, |f| f.1);
        spans.push((0, i, last, now, *time, 0));
        now += time;
    }
    small::call(&mut m, 0, [now + 10, now, now], 1, 0, &spans);
    let a = Analysis::compute(&m);
    let dag = &a.dag[0];
    (dag.path.clone().unwrap(), dag.nodes.iter().map(|n| n.critical.unwrap()).collect())
}

/// One layer's attention: the cache is written through one view and read through another.
const ATTENTION: [Row; 12] = [
    ("norm-0", "RMS_NORM", &[10], None, 10),
    ("Qcur-0", "MUL_MAT", &[0], None, 50),
    ("Kcur-0", "MUL_MAT", &[0], None, 60),
    ("Vcur-0", "MUL_MAT", &[0], None, 30),
    ("cache_k_l0 (view)", "SET_ROWS", &[2, 11], Some(11), 5),
    ("cache_k_l0 (view)", "VIEW", &[11], Some(11), 0),
    ("cache_k_l0 (view) (permuted)", "PERMUTE", &[5], Some(11), 0),
    ("kqv-0", "FLASH_ATTN_EXT", &[1, 6, 3], None, 40),
    ("attn_out-0", "MUL_MAT", &[7], None, 60),
    ("shift", "CPY", &[10, 11], Some(11), 100),
    ("inp", "NONE", &[], None, 0),
    ("cache_k_l0", "NONE", &[], None, 0),
];

#[test]
fn what_reads_the_cache_waits_for_what_wrote_it() {
    let mut rows = ATTENTION;
    rows[9].4 = 0;
    let (path, critical) = analysed(&rows, 10, &[]);
    // norm, K, writing K, attention, product: 10 + 60 + 5 + 40 + 60.
    assert_eq!((path.sum_ns, path.path_ns, path.saving_ns), (255, 175, 80));
    let on: Vec<usize> = (0..critical.len()).filter(|i| critical[*i]).collect();
    assert_eq!(on, [0, 2, 4, 7, 8]);
    assert_eq!((path.nodes, path.path_nodes), (7, 5));
    assert_eq!(path.width_ratio, Some(255.0 / 175.0));
    let branches: Vec<_> = path
        .branches
        .iter()
        .map(|b| (b.name.as_str(), b.nodes, b.time_ns, b.parallel_to.as_deref().unwrap()))
        .collect();
    assert_eq!(branches, [("Qcur", 1, 50, "Kcur"), ("Vcur", 1, 30, "Kcur")]);
}

#[test]
fn what_overwrites_the_cache_waits_for_what_read_it() {
    // The copy reads only an input, but must not write before attention has read.
    let (path, critical) = analysed(&ATTENTION, 10, &[]);
    assert_eq!(path.path_ns, 10 + 60 + 5 + 40 + 100);
    assert!(critical[9] && critical[7] && !critical[8]);
}

#[test]
fn a_kernel_of_several_nodes_waits_for_the_sources_of_all() {
    let rows: [Row; 6] = [
        ("a", "MUL_MAT", &[5], None, 20),
        ("b", "MUL_MAT", &[5], None, 70),
        ("norm", "RMS_NORM", &[0], None, 10),
        ("scaled", "MUL", &[2, 1], None, 0),
        ("c", "MUL_MAT", &[3], None, 30),
        ("inp", "NONE", &[], None, 0),
    ];
    let (path, critical) = analysed(&rows, 5, &[(2, 3)]);
    assert_eq!(path.path_ns, 70 + 10 + 30);
    assert_eq!(critical, [false, true, true, true, true, false]);
}

#[test]
fn a_chain_saves_nothing_and_a_damaged_graph_has_no_path() {
    let rows: [Row; 3] =
        [("a", "MUL_MAT", &[2], None, 20), ("b", "ADD", &[0], Some(0), 5), ("inp", "NONE", &[], None, 0)];
    let (path, _) = analysed(&rows, 2, &[]);
    assert_eq!((path.path_ns, path.saving_ns, path.width_ratio), (25, 0, Some(1.0)));
    assert!(path.branches.is_empty());
    let mut m = small::model();
    m.topologies.rows[1].complete = false;
    assert!(Analysis::compute(&m).dag.iter().all(|d| d.path.is_none() && d.nodes[0].critical.is_none()));
}
