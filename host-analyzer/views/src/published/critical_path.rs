//! `critical_paths`: operators that wait for each other.

use super::Publish;
use profinfer_analysis::critical_path;

fields! {
    critical_path::CriticalPath => CriticalPath {
        graph, nodes, sum_ns, path_ns, path_nodes, width_ratio, saving_ns, branches,
    }
    critical_path::Branch => Branch { name, op, nodes, time_ns, parallel_to }
}
