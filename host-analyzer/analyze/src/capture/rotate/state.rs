//! Records that a piece must repeat to be readable alone: the latest record of each description.
//! Events are not repeated.

use std::collections::{HashMap, HashSet};

use profinfer_wire::frame::MAX_PAYLOAD;
use profinfer_wire::record::Record;
use profinfer_wire::record::fact::FactScope;

/// Number of processes without activity in a piece that are still repeated: a server may wait for a
/// long time. If an engine restarts again and again, older processes have ended.
const QUIET: usize = 8;

/// Identifies the record that a later one replaces: its kind and its subject.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum About {
    /// The session.
    Session,
    /// The subject that these numbers identify.
    Numbers(u64, u64),
    /// Replaces only an equal record.
    Itself(Vec<u8>),
}

#[derive(Debug)]
struct Kept {
    key: (u16, About),
    pid: Option<u32>,
    payload: Vec<u8>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    kept: Vec<Kept>,
    places: HashMap<(u16, About), usize>,
    /// Processes of topologies and threads.
    topologies: HashMap<u32, u32>,
    threads: HashMap<u32, u32>,
    /// In order of arrival.
    processes: Vec<u32>,
    /// Processes with activity in this piece.
    active: HashSet<u32>,
}

impl State {
    /// Observes a record.
    pub(super) fn see(&mut self, record: &Record<'_>) {
        let mut room = [0; MAX_PAYLOAD];
        let Some((about, pid)) = self.about(record) else { return };
        let Some(payload) = record.encode(&mut room) else { return };
        let about = about.unwrap_or_else(|| About::Itself(payload.to_vec()));
        let (key, payload) = ((record.kind(), about), payload.to_vec());
        match self.places.get(&key) {
            Some(place) => self.kept[*place] = Kept { key, pid, payload },
            None => {
                self.places.insert(key.clone(), self.kept.len());
                self.kept.push(Kept { key, pid, payload });
            }
        }
    }

    /// The subject (`None`: the record itself) and its process. `None` for a record that is not
    /// repeated.
    fn about(&mut self, record: &Record<'_>) -> Option<(Option<About>, Option<u32>)> {
        let one = |n: u32, pid: Option<u32>| Some((Some(About::Numbers(n.into(), 0)), pid));
        match record {
            Record::Session(_) | Record::Agent(_) | Record::ProbeCost(_) | Record::CaptureOptions(_) => {
                Some((Some(About::Session), None))
            }
            Record::Text(r) => one(r.id, None),
            Record::Process(r) => {
                if !self.processes.contains(&r.pid) {
                    self.processes.push(r.pid);
                }
                self.active.insert(r.pid);
                one(r.pid, Some(r.pid))
            }
            Record::Thread(r) => {
                self.threads.insert(r.tid, r.pid);
                one(r.tid, Some(r.pid))
            }
            Record::Counter(_) | Record::Ceiling(_) | Record::CeilingPoint(_) | Record::CeilingLoad(_) => {
                Some((None, None))
            }
            Record::Filter(r) => Some((Some(About::Numbers(r.on as u64, 0)), None)),
            Record::Gauge(r) => one(r.id.into(), None),
            Record::Task(r) => one(r.id, None),
            Record::Library(r) => Some((None, Some(r.pid))),
            Record::Library2(r) => Some((None, Some(r.pid))),
            Record::Probe(r) => Some((None, Some(r.pid))),
            Record::ProbesUsed(r) => one(r.pid, Some(r.pid)),
            Record::ProbeSwitch(r) => one(r.pid, Some(r.pid)),
            Record::Buffer(r) => one(r.id, Some(r.pid)),
            Record::Topology(r) => {
                self.topologies.insert(r.id, r.pid);
                one(r.id, Some(r.pid))
            }
            Record::Tensors(r) => self.part(r.topology, r.first),
            Record::TensorBatch(r) => self.part(r.topology, r.first),
            Record::PlacementBatch(r) => Some((None, self.topologies.get(&r.topology).copied())),
            Record::Fact(r) => {
                let pid = match r.scope {
                    FactScope::Process(pid) => Some(pid),
                    FactScope::Thread(tid) => self.threads.get(&tid).copied(),
                    FactScope::System | FactScope::Cpu(_) => None,
                };
                // Scope and name, without time and value.
                Some((Some(About::Itself(format!("{:?} {}", r.scope, r.name).into_bytes())), pid))
            }
            Record::Decode(r) => {
                self.active.insert(r.pid);
                None
            }
            Record::GraphCall(r) => {
                self.active.insert(r.pid);
                None
            }
            _ => None,
        }
    }

    fn part(&self, topology: u32, first: u32) -> Option<(Option<About>, Option<u32>)> {
        let pid = self.topologies.get(&topology).copied();
        Some((Some(About::Numbers(topology.into(), first.into())), pid))
    }

    /// The records that the next piece repeats: kind and payload, in order of first arrival.
    pub(super) fn carry(&mut self) -> impl ExactSizeIterator<Item = (u16, &[u8])> {
        self.forget();
        self.active.clear();
        self.kept.iter().map(|k| (k.key.0, &k.payload[..]))
    }

    /// Forgets processes that have ended, as far as that is known.
    fn forget(&mut self) {
        let quiet: Vec<u32> = self.processes.iter().copied().filter(|p| !self.active.contains(p)).collect();
        let over: HashSet<u32> = quiet.iter().take(quiet.len().saturating_sub(QUIET)).copied().collect();
        if over.is_empty() {
            return;
        }
        self.processes.retain(|p| !over.contains(p));
        self.topologies.retain(|_, pid| !over.contains(pid));
        self.threads.retain(|_, pid| !over.contains(pid));
        self.kept.retain(|k| k.pid.is_none_or(|pid| !over.contains(&pid)));
        self.places = self.kept.iter().enumerate().map(|(i, k)| (k.key.clone(), i)).collect();
    }
}

#[cfg(test)]
mod tests {
    use profinfer_wire::record::session::{Process, Text};

    use super::*;

    fn texts(state: &mut State) -> Vec<String> {
        state
            .carry()
            .map(|(kind, payload)| format!("{kind}:{}", String::from_utf8_lossy(&payload[1..])))
            .collect()
    }

    #[test]
    fn the_last_word_is_carried_over_once() {
        let mut state = State::default();
        for text in ["a", "b"] {
            state.see(&Record::Text(Text { id: 1, text }));
        }
        assert_eq!(texts(&mut state), ["2:\u{1}b"]);
    }

    #[test]
    fn processes_that_are_over_are_forgotten() {
        let mut state = State::default();
        for pid in 1..=20 {
            state.see(&Record::Process(Process { pid, name: "", command: "", engine_version: "" }));
        }
        assert_eq!(state.carry().len(), 20, "all of them were there in this piece");
        let pid = 3;
        state.see(&Record::Process(Process { pid, name: "", command: "", engine_version: "" }));
        let left: Vec<u8> = state.carry().map(|(_, payload)| payload[0]).collect();
        assert_eq!(left, [3, 13, 14, 15, 16, 17, 18, 19, 20]);
    }
}
