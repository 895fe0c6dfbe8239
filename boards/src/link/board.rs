//! From a board's file to a board.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;

use super::candidates;
use crate::board::{Board, Cluster};
use crate::error::BoardError;
use crate::parse::{BoardFile, File};
use crate::plan::aligned;
use crate::{Backend, Core, Parse, Sensor, SensorUnit};

const LEVELS: [&str; 5] = ["token", "graph", "op", "expert", "sched"];
/// All known cores that have the board's default set.
const EVERY: &str = "*";

type Cores = BTreeMap<String, Arc<Core>>;

pub(crate) fn board(
    file: &File<BoardFile>,
    known: &Cores,
    backends: &BTreeMap<String, Arc<Backend>>,
) -> Result<Board, BoardError> {
    let b = &file.value;
    file.check_name(&b.name)?;
    for level in &b.levels {
        if !LEVELS.contains(&level.as_ref().as_str()) {
            let what = format!("there is no level `{}`; known levels: {}", level.as_ref(), LEVELS.join(", "));
            return Err(file.wrong(level.span(), what));
        }
    }
    let clusters = clusters(file, known)?;
    let cores = cores(file, &clusters, known)?;
    let backends = b.backends.iter().map(|name| lookup(file, "backend", name, backends));
    let board = Board {
        name: b.name.clone(),
        description: b.description.clone(),
        soc: b.soc.clone(),
        machine: b.machine.clone(),
        models: b.models.clone(),
        aliases: b.aliases.iter().map(|a| a.as_ref().clone()).collect(),
        levels: b.levels.iter().map(|l| l.as_ref().clone()).collect(),
        counter_set: b.counter_set.as_ref().map(|s| s.as_ref().clone()),
        provenance: b.provenance.clone(),
        caches: b.caches.clone(),
        memory: b.memory.clone(),
        backends: backends.collect::<Result<_, _>>()?,
        uncore: sensors(file)?,
        notes: b.notes.clone(),
        clusters,
        cores,
    };
    sets(file, &board)?;
    Ok(board)
}

fn lookup<T>(
    file: &File<BoardFile>,
    what: &str,
    name: &Spanned<String>,
    known: &BTreeMap<String, Arc<T>>,
) -> Result<Arc<T>, BoardError> {
    known.get(name.as_ref()).map(Arc::clone).ok_or_else(|| {
        let near = candidates(name.as_ref(), known.keys().map(String::as_str));
        file.wrong(name.span(), format!("there is no {what} `{}`; {near}", name.as_ref()))
    })
}

fn clusters(file: &File<BoardFile>, known: &Cores) -> Result<Vec<Cluster>, BoardError> {
    let mut taken: BTreeMap<u32, usize> = BTreeMap::new();
    let mut clusters = Vec::new();
    for c in &file.value.clusters {
        let core = lookup(file, "core", &c.core, known)?;
        for cpu in c.cpus.as_ref().numbers() {
            if let Some(line) = taken.insert(*cpu, file.line(c.cpus.span())) {
                let what = format!("CPU {cpu} is in two clusters, here and in line {line}");
                return Err(file.wrong(c.cpus.span(), what));
            }
        }
        clusters.push(Cluster {
            cpus: c.cpus.as_ref().clone(),
            max_khz: c.max_khz,
            l1i_bytes: c.l1i_bytes.or(core.l1i_bytes),
            l1d_bytes: c.l1d_bytes.or(core.l1d_bytes),
            l2_bytes: c.l2_bytes.or(core.l2_bytes),
            provenance: c.provenance.clone(),
            core,
        });
    }
    Ok(clusters)
}

/// The core types, each once.
fn cores(file: &File<BoardFile>, clusters: &[Cluster], known: &Cores) -> Result<Vec<Arc<Core>>, BoardError> {
    // A user's core may have only the user's sets. That is not a mistake of a board that accepts
    // every matching core.
    let default = file.value.counter_set.as_ref().map(|s| s.as_ref().as_str());
    let fits = |core: &Core| core.counters > 0 && default.is_none_or(|set| core.set(set).is_some());
    let mut cores: Vec<Arc<Core>> = clusters.iter().map(|c| Arc::clone(&c.core)).collect();
    match file.value.cores.as_slice() {
        [] if cores.is_empty() => {
            let what = "give [[clusters]], or `cores` if the clusters are not known (`[\"*\"]` for all)";
            return Err(file.wrong(0..0, what.to_owned()));
        }
        [first, ..] if !cores.is_empty() => {
            let what = "give either [[clusters]] or `cores`: a board with clusters names its cores there";
            return Err(file.wrong(first.span(), what.to_owned()));
        }
        names => {
            for name in names {
                match name.as_ref().as_str() {
                    EVERY => cores.extend(known.values().filter(|c| fits(c)).map(Arc::clone)),
                    _ => cores.push(lookup(file, "core", name, known)?),
                }
            }
        }
    }
    cores.sort_by(|a, b| a.name.cmp(&b.name));
    cores.dedup_by(|a, b| a.name == b.name);
    Ok(cores)
}

/// Checks that all cores that count have the default set, and that every set can be put into slots.
fn sets(file: &File<BoardFile>, board: &Board) -> Result<(), BoardError> {
    let counting: Vec<&Arc<Core>> = board.cores.iter().filter(|c| c.counters > 0).collect();
    match &file.value.counter_set {
        Some(name) => {
            let lacks = counting.iter().find(|c| c.set(name.as_ref()).is_none());
            let near = |c: &Core| candidates(name.as_ref(), c.sets.iter().map(|s| s.name()));
            let what = match lacks {
                Some(core) => format!("`{}` has no set `{}`; {}", core.name, name.as_ref(), near(core)),
                None if counting.is_empty() => format!(
                    "`{}`: no core of this board has hardware counters; leave out `counter_set`",
                    name.as_ref()
                ),
                None => String::new(),
            };
            if !what.is_empty() {
                return Err(file.wrong(name.span(), what));
            }
        }
        None if !counting.is_empty() => {
            let near = candidates("", board.set_names().into_iter());
            return Err(file.wrong(0..0, format!("name the default `counter_set`; {near}")));
        }
        None => {}
    }
    for set in board.set_names() {
        if aligned(&board.lists(set)).is_none() {
            let cores: Vec<&str> = counting.iter().map(|c| c.name.as_str()).collect();
            let what = format!(
                "the sets `{set}` of {} cannot be counted together: an event that two cores share must have the \
                 same slot on both",
                cores.join(", ")
            );
            return Err(file.wrong(0..0, what));
        }
    }
    Ok(())
}

/// Whether the unit matches what `parse` reads.
fn read_as(sensor: &Sensor) -> bool {
    match sensor.parse {
        Some(Parse::Integer) | None => true,
        Some(Parse::Percent | Parse::LoadAtFrequency | Parse::RknpuLoad) => {
            sensor.unit == SensorUnit::Percent
        }
    }
}

fn sensors(file: &File<BoardFile>) -> Result<Vec<crate::Sensor>, BoardError> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for spanned in &file.value.uncore {
        let sensor = spanned.as_ref();
        let what = match (&sensor.path, &sensor.pmu) {
            (Some(path), None) if !path.starts_with('/') => "its path must begin with `/`",
            (Some(_), None) if sensor.parse.is_none() => "`parse` must name the format of its file",
            (Some(_), None) if !sensor.events.is_empty() => "`events` are for a `pmu`",
            (None, Some(_)) if sensor.events.is_empty() => "name the `events` of its PMU",
            (None, Some(_)) if sensor.parse.is_some() => "`parse` is for files: a PMU has its own scale",
            (Some(_), Some(_)) | (None, None) => "give either `path` or `pmu`",
            (Some(_), None) if !read_as(sensor) => {
                "its unit does not match `parse`: percent, load-at-frequency and rknpu-load need the unit percent"
            }
            (None, Some(_)) if sensor.unit != SensorUnit::Bytes => "only bytes are sampled from a PMU",
            _ if names.contains_key(sensor.name.as_str()) => "another sensor has this name",
            _ => "",
        };
        if !what.is_empty() {
            return Err(file.wrong(spanned.span(), format!("the sensor `{}`: {what}", sensor.name)));
        }
        names.insert(&sensor.name, file.line(spanned.span()));
    }
    Ok(file.value.uncore.iter().map(|n| n.as_ref().clone()).collect())
}
