//! The system's memory, and the clock of its controller.

use std::path::Path;

use profinfer_wire::record::fact::FactScope::System;

use super::read::{self, Open, kib};
use super::send::{Changing, Sender};

const MEMINFO: &str = "/proc/meminfo";
const DEVFREQ: &str = "/sys/class/devfreq";
/// Facts of /proc/meminfo: name and key. The sampled ones come first.
const FACTS: [(&str, &str); 4] = [
    ("memory.available", "MemAvailable:"),
    ("swap.free", "SwapFree:"),
    ("memory.total", "MemTotal:"),
    ("swap.total", "SwapTotal:"),
];
const SAMPLED: usize = 2;

/// Values that are sampled while the session runs.
#[derive(Debug)]
pub(super) struct Memory {
    meminfo: Option<Open>,
    free: [Changing; SAMPLED],
    controller: Option<Open>,
    frequency: Changing,
}

impl Memory {
    pub(super) fn begin(root: &Path, buffer: &mut [u8], out: &mut Sender<'_>) -> Self {
        let mut memory = Self {
            meminfo: None,
            free: Default::default(),
            controller: None,
            frequency: Changing::default(),
        };
        memory.begin_meminfo(root, buffer, out);
        memory.begin_controller(root, out);
        memory
    }

    fn begin_meminfo(&mut self, root: &Path, buffer: &mut [u8], out: &mut Sender<'_>) {
        let opened = Open::new(root, MEMINFO);
        let read = opened.as_ref().map_err(Clone::clone);
        let text = read.and_then(|f| f.read(buffer).map_err(|e| read::why(MEMINFO, &e)));
        for (i, (name, key)) in FACTS.iter().enumerate() {
            let value =
                text.clone().and_then(|t| kib(t, key).ok_or_else(|| format!("{MEMINFO} has no {key}")));
            match self.free.get_mut(i) {
                Some(changing) => changing.begin(out, System, name, value),
                None => out.number_or(System, name, value),
            }
        }
        self.meminfo = opened.ok();
    }

    fn begin_controller(&mut self, root: &Path, out: &mut Sender<'_>) {
        const NAMES: [&str; 3] = ["ddr.frequency", "ddr.frequency.max", "ddr.governor"];
        let folder = match controller(root) {
            Ok(folder) => folder,
            Err(why) => {
                NAMES.iter().for_each(|name| out.absent(System, name, &why));
                return;
            }
        };
        let file = |name: &str| format!("{folder}/{name}");
        self.frequency.begin(out, System, NAMES[0], read::integer(root, &file("cur_freq")));
        out.number_or(System, NAMES[1], read::integer(root, &file("max_freq")));
        out.text_or(System, NAMES[2], read::text(root, &file("governor")));
        self.controller = Open::new(root, &file("cur_freq")).ok();
    }

    pub(super) fn sample(&mut self, buffer: &mut [u8], out: &mut Sender<'_>) {
        if let Some(Ok(text)) = self.meminfo.as_ref().map(|f| f.read(buffer)) {
            for (changing, (name, key)) in self.free.iter_mut().zip(FACTS) {
                changing.send(out, System, name, kib(text, key));
            }
        }
        if let Some(Ok(text)) = self.controller.as_ref().map(|f| f.read(buffer)) {
            self.frequency.send(out, System, "ddr.frequency", read::number(text.trim_ascii()));
        }
    }
}

/// The devfreq device of the memory: `dmc` on Rockchip, elsewhere names with `ddr` or `dram`.
fn controller(root: &Path) -> Result<String, String> {
    let entries = std::fs::read_dir(read::at(root, DEVFREQ)).map_err(|e| read::why(DEVFREQ, &e))?;
    let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    let of_memory = |name: &&String| {
        let name = name.to_lowercase();
        name.split(|c: char| !c.is_alphanumeric()).any(|w| w == "dmc")
            || name.contains("ddr")
            || name.contains("dram")
    };
    match names.iter().find(of_memory) {
        Some(name) => Ok(format!("{DEVFREQ}/{name}")),
        None if names.is_empty() => Err(format!("{DEVFREQ} is empty: the kernel scales no memory clock")),
        None => Err(format!("{DEVFREQ} has no memory controller, only {}", names.join(", "))),
    }
}
