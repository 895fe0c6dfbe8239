//! Profiles on the terminal.

use std::io::{self, Write};

use profinfer_boards::{Board, Catalog, Cluster, Core, Event, Kind, Memory, Sensor, SensorUnit, Unit};

/// Maximum line length of a sentence, columns.
const WIDTH: usize = 100;

/// Every board: name, description, cores.
pub(super) fn list(catalog: &Catalog, out: &mut dyn Write) -> io::Result<()> {
    let width = catalog.boards().map(|b| b.name.chars().count()).max().unwrap_or(0);
    for board in catalog.boards() {
        writeln!(out, "{:width$}  {}", board.name, board.description)?;
        writeln!(out, "{:width$}  {}", "", cores(board))?;
        if let Some(names) = other_names(board) {
            writeln!(out, "{:width$}  also: {names}", "")?;
        }
    }
    writeln!(out, "\n`analyze boards NAME` shows one, with the meaning of its counters.")
}

/// All facts about a board.
pub(super) fn board(b: &Board, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", b.name, b.description)?;
    if let Some(names) = other_names(b) {
        writeln!(out, "  also: {names}")?;
    }
    writeln!(out, "  machine {}, {}; levels {}  [{}]", b.machine, b.soc, b.levels.join(", "), b.provenance)?;
    if !b.clusters().is_empty() {
        title(out, "Cores")?;
        b.clusters().iter().try_for_each(|c| cluster(c, out))?;
    }
    if let Some(c) = &b.caches {
        let l3 = bytes(c.l3_bytes);
        writeln!(out, "  third-level cache {l3}, lines of {} B  [{}]", c.line_bytes, c.provenance)?;
    }
    if let Some(m) = &b.memory {
        memory(m, out)?;
    }
    for (i, core) in b.cores().iter().enumerate() {
        counters(core, b.counter_set.as_deref(), &b.cores()[..i], out)?;
    }
    if !b.backends.is_empty() {
        title(out, "Backends")?;
    }
    for backend in &b.backends {
        let guid = backend.guid.map(|g| format!(", GUID {g}")).unwrap_or_default();
        let (name, libraries) = (&backend.name, backend.libraries.join(", "));
        writeln!(out, "  {name}: {} ({libraries}{guid})", backend.description)?;
        writeln!(out, "    [{}]", backend.provenance)?;
        for probe in backend.probes() {
            writeln!(out, "    {:6}{}", probe.level.to_string(), probe.signature())?;
            writeln!(out, "          {}  [{}]", probe.versions, probe.provenance)?;
        }
    }
    if !b.uncore.is_empty() {
        title(out, "Sensors outside the cores")?;
    }
    b.uncore.iter().try_for_each(|n| sensor(n, out))?;
    if !b.notes.is_empty() {
        title(out, "Notes")?;
    }
    for note in &b.notes {
        sentence(out, "  ", &format!("{}  [{}]", note.text, note.provenance))?;
    }
    Ok(())
}

/// Aliases and models, which --board takes as well; `None` if there are none.
fn other_names(board: &Board) -> Option<String> {
    let names: Vec<&str> = board.aliases.iter().chain(&board.models).map(String::as_str).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn title(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "\n\u{1b}[1m{text}\u{1b}[0m")
}

/// `4 Cortex-A55, 4 Cortex-A76`.
fn cores(board: &Board) -> String {
    let cores = board.cores().iter().map(|core| {
        let of_it = board.clusters().iter().filter(|c| c.core.name == core.name);
        match of_it.map(|c| c.cpus.numbers().len()).sum::<usize>() {
            0 => core.name.clone(),
            n => format!("{n} {}", core.name),
        }
    });
    let any = if board.clusters().is_empty() && cores.len() > 1 { "any of " } else { "" };
    format!("{any}{}", cores.collect::<Vec<_>>().join(", "))
}

fn cluster(c: &Cluster, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "  CPU {:5} {}", c.cpus.to_string(), c.core.name)?;
    if let Some(khz) = c.max_khz {
        write!(out, ", up to {} MHz", khz / 1000)?;
    }
    for (what, size) in [("L1 instructions", c.l1i_bytes), ("L1 data", c.l1d_bytes), ("L2", c.l2_bytes)] {
        if let Some(size) = size {
            write!(out, ", {what} {}", bytes(size))?;
        }
    }
    writeln!(out, "  [{}]", c.provenance)
}

fn memory(m: &Memory, out: &mut dyn Write) -> io::Result<()> {
    title(out, "Memory")?;
    write!(out, "  {}", m.kind)?;
    if let Some(channels) = m.channels {
        write!(out, ", {channels} channel{}", if channels == 1 { "" } else { "s" })?;
    }
    if let Some(bits) = m.bits_per_channel {
        write!(out, " of {bits} bits")?;
    }
    if let Some(ceiling) = m.theoretical_bytes_per_second {
        write!(out, ": {} in theory", speed(ceiling))?;
    }
    writeln!(out, "  [{}]", m.provenance)?;
    for measured in &m.measured {
        let (value, how) = (speed(measured.bytes_per_second), &measured.how);
        sentence(out, "  ", &format!("{value}: {how}  [{}]", measured.provenance))?;
    }
    Ok(())
}

/// The events of one core type. Events of the types in `before` were shown, and are not explained
/// again.
fn counters(
    core: &Core,
    default: Option<&str>,
    before: &[std::sync::Arc<Core>],
    out: &mut dyn Write,
) -> io::Result<()> {
    title(out, &format!("Counters of {}", core.name))?;
    if core.counters == 0 {
        writeln!(out, "  page faults only (minor-faults, major-faults)  [{}]", core.provenance)?;
        return Ok(());
    }
    writeln!(out, "  {} at the same time, and CPU_CYCLES, minor-faults, major-faults", core.counters)?;
    sentence(out, "  ", &format!("[{}]", core.provenance))?;
    for set in &core.sets {
        let default = if default == Some(set.name()) { " (default)" } else { "" };
        writeln!(out, "  set {}{default}: {}", set.name(), set.description)?;
        sentence(out, "      ", &set.events().collect::<Vec<_>>().join(" "))?;
    }
    let known = |event: &&Event| before.iter().any(|c| c.event(&event.name) == Some(*event));
    let same = core.events().filter(known).count();
    if same > 0 {
        writeln!(
            out,
            "  {same} events as on {}, and in addition",
            before.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ")
        )?;
    }
    for event in core.events().filter(|e| !known(e)) {
        writeln!(out, "  {:#06x} {:26} {}", event.number, event.name, unit(event))?;
        sentence(out, "         ", &event.meaning)?;
    }
    Ok(())
}

fn unit(event: &Event) -> String {
    match (event.unit, event.bytes_per_count) {
        (Unit::Bytes, Some(n)) => format!("lines of {n} B"),
        (Unit::Cycles, _) => "cycles".to_owned(),
        _ => "number".to_owned(),
    }
}

fn sensor(n: &Sensor, out: &mut dyn Write) -> io::Result<()> {
    let kind = match n.kind {
        Kind::Frequency => "frequency",
        Kind::Temperature => "temperature",
        Kind::Load => "load",
        Kind::Ddr => "memory traffic",
        Kind::Power => "power",
    };
    let unit = match n.unit {
        SensorUnit::Hertz => "Hz",
        SensorUnit::Kilohertz => "kHz",
        SensorUnit::Millidegrees => "1/1000 °C",
        SensorUnit::Percent => "%",
        SensorUnit::Bytes => "bytes",
        SensorUnit::Microwatts => "µW",
    };
    let place = match (&n.path, &n.pmu) {
        (Some(path), _) => path.clone(),
        (None, Some(pmu)) => format!("PMU {pmu}, events {}", n.events.join(", ")),
        (None, None) => String::new(),
    };
    writeln!(out, "  {} ({kind}, {unit}): {place}", n.name)?;
    sentence(out, "    ", &format!("[{}]", n.provenance))
}

/// Text with line breaks at spaces.
fn sentence(out: &mut dyn Write, indent: &str, text: &str) -> io::Result<()> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let long = line.chars().count() + 1 + word.chars().count() > WIDTH - indent.len();
        if long && !line.is_empty() {
            writeln!(out, "{indent}{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{indent}{line}")
}

/// `512 KiB`, `3 MiB`.
fn bytes(n: u64) -> String {
    match n {
        n if n % (1 << 20) == 0 => format!("{} MiB", n >> 20),
        n if n % (1 << 10) == 0 => format!("{} KiB", n >> 10),
        n => format!("{n} B"),
    }
}

fn speed(bytes_per_second: u64) -> String {
    format!("{:.1} GB/s", bytes_per_second as f64 / 1e9)
}
