//! Board profiles for programs.

use serde::Serialize;

use profinfer_boards::{self as boards, Kind, Provenance, SensorUnit, Unit};

/// The object.
#[derive(Debug, Serialize)]
pub(super) struct Boards<'a> {
    boards: Vec<Board<'a>>,
}

#[derive(Debug, Serialize)]
struct Board<'a> {
    name: &'a str,
    description: &'a str,
    soc: &'a str,
    /// As `uname -m` prints it; `any` if it does not matter.
    machine: &'a str,
    levels: &'a [String],
    counter_set: Option<&'a str>,
    clusters: Vec<Cluster<'a>>,
    cores: Vec<Core<'a>>,
    caches: Option<Caches>,
    memory: Option<Memory<'a>>,
    backends: Vec<Backend<'a>>,
    sensors: Vec<Sensor<'a>>,
    notes: Vec<Note<'a>>,
    provenance: String,
}

#[derive(Debug, Serialize)]
struct Cluster<'a> {
    core: &'a str,
    cpus: &'a [u32],
    max_hz: Option<u64>,
    l1i_bytes: Option<u64>,
    l1d_bytes: Option<u64>,
    l2_bytes: Option<u64>,
    provenance: String,
}

#[derive(Debug, Serialize)]
struct Core<'a> {
    name: &'a str,
    description: &'a str,
    /// `MIDR_EL1 & 0xff00fff0`.
    midr: Option<u32>,
    /// Events that it counts at the same time, without the cycles.
    counters: usize,
    sets: Vec<Set<'a>>,
    events: Vec<Event<'a>>,
    provenance: String,
}

#[derive(Debug, Serialize)]
struct Set<'a> {
    name: &'a str,
    description: &'a str,
    events: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
struct Event<'a> {
    name: &'a str,
    number: u32,
    /// `count`, `cycles` or `bytes`.
    unit: &'static str,
    bytes_per_count: Option<u32>,
    meaning: &'a str,
}

#[derive(Debug, Serialize)]
struct Caches {
    l3_bytes: u64,
    line_bytes: u32,
    provenance: String,
}

#[derive(Debug, Serialize)]
struct Memory<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    channels: Option<u32>,
    bits_per_channel: Option<u32>,
    theoretical_bytes_per_s: Option<u64>,
    measured: Vec<Measured<'a>>,
    provenance: String,
}

#[derive(Debug, Serialize)]
struct Measured<'a> {
    bytes_per_s: u64,
    how: &'a str,
    provenance: String,
}

#[derive(Debug, Serialize)]
struct Backend<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    guid: Option<String>,
    libraries: &'a [String],
    probes: Vec<Probe<'a>>,
    provenance: String,
}

#[derive(Debug, Serialize)]
struct Probe<'a> {
    symbol: &'a str,
    level: String,
    signature: String,
    /// A call is one operator, else work inside an operator.
    whole: bool,
    versions: &'a str,
    provenance: String,
}

#[derive(Debug, Serialize)]
struct Sensor<'a> {
    name: &'a str,
    kind: &'static str,
    unit: &'static str,
    path: Option<&'a str>,
    pmu: Option<&'a str>,
    events: &'a [String],
    provenance: String,
}

#[derive(Debug, Serialize)]
struct Note<'a> {
    text: &'a str,
    provenance: String,
}

impl<'a> Boards<'a> {
    pub(super) fn new(chosen: &[&'a boards::Board]) -> Self {
        Self { boards: chosen.iter().map(|b| board(b)).collect() }
    }
}

fn from(provenance: &Provenance) -> String {
    provenance.to_string()
}

fn board(b: &boards::Board) -> Board<'_> {
    Board {
        name: &b.name,
        description: &b.description,
        soc: &b.soc,
        machine: &b.machine,
        levels: &b.levels,
        counter_set: b.counter_set.as_deref(),
        clusters: b.clusters().iter().map(cluster).collect(),
        cores: b.cores().iter().map(|c| core(c)).collect(),
        caches: b.caches.as_ref().map(|c| Caches {
            l3_bytes: c.l3_bytes,
            line_bytes: c.line_bytes,
            provenance: from(&c.provenance),
        }),
        memory: b.memory.as_ref().map(memory),
        backends: b.backends.iter().map(|b| backend(b)).collect(),
        sensors: b.uncore.iter().map(sensor).collect(),
        notes: b.notes.iter().map(|n| Note { text: &n.text, provenance: from(&n.provenance) }).collect(),
        provenance: from(&b.provenance),
    }
}

fn cluster(c: &boards::Cluster) -> Cluster<'_> {
    Cluster {
        core: &c.core.name,
        cpus: c.cpus.numbers(),
        max_hz: c.max_khz.map(|khz| khz * 1000),
        l1i_bytes: c.l1i_bytes,
        l1d_bytes: c.l1d_bytes,
        l2_bytes: c.l2_bytes,
        provenance: from(&c.provenance),
    }
}

fn core(c: &boards::Core) -> Core<'_> {
    let set = |s| {
        let set: &boards::Set = s;
        Set { name: set.name(), description: &set.description, events: set.events().collect() }
    };
    Core {
        name: &c.name,
        description: &c.description,
        midr: c.midr,
        counters: c.counters,
        sets: c.sets.iter().map(set).collect(),
        events: c.events().map(event).collect(),
        provenance: from(&c.provenance),
    }
}

fn event(e: &boards::Event) -> Event<'_> {
    Event {
        name: &e.name,
        number: e.number,
        unit: match e.unit {
            Unit::Count => "count",
            Unit::Cycles => "cycles",
            Unit::Bytes => "bytes",
        },
        bytes_per_count: e.bytes_per_count,
        meaning: &e.meaning,
    }
}

fn memory(m: &boards::Memory) -> Memory<'_> {
    let measured = m.measured.iter().map(|measured| Measured {
        bytes_per_s: measured.bytes_per_second,
        how: &measured.how,
        provenance: from(&measured.provenance),
    });
    Memory {
        kind: &m.kind,
        channels: m.channels,
        bits_per_channel: m.bits_per_channel,
        theoretical_bytes_per_s: m.theoretical_bytes_per_second,
        measured: measured.collect(),
        provenance: from(&m.provenance),
    }
}

fn backend(b: &boards::Backend) -> Backend<'_> {
    let probes = b.probes().map(|probe| Probe {
        symbol: &probe.symbol,
        level: probe.level.to_string(),
        signature: probe.signature(),
        whole: probe.whole,
        versions: &probe.versions,
        provenance: from(&probe.provenance),
    });
    Backend {
        name: &b.name,
        title: b.title(),
        description: &b.description,
        guid: b.guid.map(|guid| guid.to_string()),
        libraries: &b.libraries,
        probes: probes.collect(),
        provenance: from(&b.provenance),
    }
}

fn sensor(s: &boards::Sensor) -> Sensor<'_> {
    Sensor {
        name: &s.name,
        kind: match s.kind {
            Kind::Frequency => "frequency",
            Kind::Temperature => "temperature",
            Kind::Load => "load",
            Kind::Ddr => "memory_traffic",
            Kind::Power => "power",
        },
        unit: match s.unit {
            SensorUnit::Hertz => "hertz",
            SensorUnit::Kilohertz => "kilohertz",
            SensorUnit::Millidegrees => "millidegrees",
            SensorUnit::Percent => "percent",
            SensorUnit::Bytes => "bytes",
            SensorUnit::Microwatts => "microwatts",
        },
        path: s.path.as_deref(),
        pmu: s.pmu.as_deref(),
        events: &s.events,
        provenance: from(&s.provenance),
    }
}
