//! `--probes`.

use clap::Args;
use profinfer_wire::record::direct::Probes;

#[derive(Debug, Default, Clone, Copy, Args)]
pub struct ProbesArgs {
    /// Kind of operator probes: uprobe, direct, or auto (which is uprobe)
    ///
    /// `uprobe` traps at each start and end. `direct` uses no trap; it changes some instructions of
    /// the running engine.
    #[arg(long = "probes", value_name = "KIND", default_value = "auto", value_parser = kind)]
    pub kind: Probes,
}

fn kind(name: &str) -> Result<Probes, String> {
    match name {
        "auto" => Ok(Probes::Auto),
        "uprobe" => Ok(Probes::Uprobe),
        "direct" => Ok(Probes::Direct),
        other => Err(format!("unknown probe kind `{other}`: use auto, uprobe or direct")),
    }
}
