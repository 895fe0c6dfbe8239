//! `--probes`.

use clap::Args;
use profinfer_wire::record::direct::Probes;

/// Which kind of operator probes.
#[derive(Debug, Default, Clone, Copy, Args)]
pub struct ProbesArgs {
    /// How operators are probed: `uprobe`, by a trap for each start and end; `direct`, without a trap, by changing some
    /// instructions of the running engine; `auto`, which is `uprobe`
    #[arg(long = "probes", value_name = "KIND", default_value = "auto", value_parser = kind)]
    pub kind: Probes,
}

fn kind(name: &str) -> Result<Probes, String> {
    match name {
        "auto" => Ok(Probes::Auto),
        "uprobe" => Ok(Probes::Uprobe),
        "direct" => Ok(Probes::Direct),
        other => Err(format!("`{other}` is no kind of probe: use auto, uprobe, direct")),
    }
}
