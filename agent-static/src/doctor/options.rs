//! The kernel configuration.

use super::Row;
use crate::kernel_options;

pub(super) fn rows() -> Vec<Row> {
    let Some((from, config)) = kernel_options::config() else {
        let said = "unknown (neither /proc/config.gz nor /boot/config-* exists): see the rows above";
        return vec![Row::info("options", said)];
    };
    let lacking = kernel_options::missing(&config, &kernel_options::NEEDED);
    let needed = if lacking.is_empty() {
        Row::yes("options", format!("all required options are set ({from})"))
    } else {
        Row::no(
            "options",
            format!("{} missing: nothing can be traced on this kernel ({from})", lacking.join(", ")),
        )
    };
    let lacking = kernel_options::missing(&config, &kernel_options::USEFUL);
    let useful =
        (!lacking.is_empty()).then(|| Row::info("useful options", format!("{} missing", lacking.join(", "))));
    [needed].into_iter().chain(useful).collect()
}
