//! The scheduler level: packs switches, wake-ups, migrations and interrupts into batches, in order
//! of arrival.

use profinfer_wire::interrupt::{self as interrupts, MAX_INTERRUPT_LEN};
use profinfer_wire::record::Record;
use profinfer_wire::record::sched::{InterruptBatch, SchedBatch, SchedLoss, Task};
use profinfer_wire::sched::{self as events, Happened, IDLE, Left, MAX_EVENT_LEN, SchedEvent};

use super::Lower;
use super::packed::{Packed, cpu};
use crate::bpf::SchedTotals;
use crate::bpf::ring::{Head, Interrupt, Switch, TASK_COMM, Who};
use crate::link::output::Weight;
use crate::observe::sched::formats::Formats;
use crate::observe::sched::states::States;
use crate::observe::sched::task::{New, Tasks, text};

/// Most interrupt names that are remembered; further ones share the last place.
const NAMES: usize = 64;

/// The state of the level, allocated when it begins: the session allocates nothing for it.
#[derive(Debug)]
pub(super) struct Scheduler {
    recorded: u64,
    states: States,
    tasks: Tasks,
    seq: u32,
    events: Packed<events::Cursor>,
    /// Number of events in the batch that are not gaps.
    in_batch: u16,
    interrupts: Packed<interrupts::Cursor>,
    /// Text ids of the softirqs, by number; 0 if there is none.
    softirqs: [u32; 16],
    names: Vec<([u8; TASK_COMM], u32)>,
    /// Switches that the kernel did not count: threads that were found by probes.
    seen: u64,
    sent: u64,
    queue_full: u64,
}

impl Scheduler {
    fn count(&mut self, sent: bool, n: u16) {
        *(if sent { &mut self.sent } else { &mut self.queue_full }) += u64::from(n);
    }
}

impl Lower {
    /// Starts the level. `recorded`: bit mask of the recorded events. `blind`: the kernel's task
    /// ids differ from those in /proc.
    pub fn begin_sched(&mut self, formats: &Formats, recorded: u64, blind: bool) {
        let mut softirqs = [0; 16];
        for (number, name) in &formats.softirqs {
            if let Some(place) = usize::try_from(*number).ok().and_then(|n| softirqs.get_mut(n)) {
                *place = self.texts.id(&mut self.emit, name);
            }
        }
        self.cpu_uses = Some(super::cpu_use::CpuUses::new());
        self.sched = Some(Scheduler {
            recorded,
            states: formats.states.clone(),
            tasks: Tasks::new(blind),
            seq: 0,
            events: Packed::new(events::Cursor::new(0)),
            in_batch: 0,
            interrupts: Packed::new(interrupts::Cursor::new(0)),
            softirqs,
            names: Vec::with_capacity(NAMES),
            seen: 0,
            sent: 0,
            queue_full: 0,
        });
    }

    pub(super) fn switch(&mut self, e: &Switch) {
        let Some(sched) = &self.sched else { return };
        let left = sched.states.left(e.state);
        let (prev, next) = (self.who(e.prev), self.who(e.next));
        self.push_event(e.at_ns, Happened::Switch { cpu: cpu(e.cpu), prev, left, next });
    }

    /// A probe ran on a thread that no tracepoint has reported yet: the thread is on this CPU now.
    pub(super) fn seen(&mut self, head: &Head, at_ns: u64) {
        if self.sched.is_none() || self.located(head.tgid, head.tid) {
            return;
        }
        let itself = events::Who::Thread(head.tid);
        let happened = Happened::Switch { cpu: cpu(head.arg), prev: itself, left: Left::Other, next: itself };
        self.push_event(at_ns, happened);
        if let Some(sched) = &mut self.sched {
            sched.seen += 1;
        }
    }

    pub(super) fn woken(&mut self, head: &Head, at_ns: u64, moved: bool) {
        let (cpu, tid) = (cpu(head.arg), head.tid);
        self.located(head.tgid, tid);
        let happened = if moved { Happened::Migration { cpu, tid } } else { Happened::Wake { cpu, tid } };
        self.push_event(at_ns, happened);
    }

    pub(super) fn gap(&mut self, from_ns: u64, to_ns: u64) {
        // Lost events are counted already, and a gap is not an event.
        let happened = Happened::Gap { length_ns: to_ns.saturating_sub(from_ns) };
        self.pack(to_ns, happened);
    }

    fn push_event(&mut self, at_ns: u64, happened: Happened) {
        self.pack(at_ns, happened);
        if let Some(sched) = &mut self.sched {
            sched.in_batch += 1;
        }
    }

    fn pack(&mut self, at_ns: u64, happened: Happened) {
        if self.sched.as_ref().is_some_and(|s| s.events.full(MAX_EVENT_LEN)) {
            self.send_events();
        }
        let Some(sched) = &mut self.sched else { return };
        let batch = &mut sched.events;
        if batch.count == 0 {
            (batch.base_ns, batch.cursor) = (at_ns, events::Cursor::new(at_ns));
        }
        // The event fits, because a full batch was sent above.
        let event = SchedEvent { at_ns, happened };
        if let Some(len) = batch.cursor.encode(&event, &mut *batch.bytes, batch.len) {
            batch.len = len;
            batch.count += 1;
        }
    }

    pub(super) fn who(&mut self, who: Who) -> events::Who {
        match who {
            Who::Engine(pid, tid) => {
                self.located(pid, tid);
                events::Who::Thread(tid)
            }
            Who::Other(0, _) => events::Who::Task(IDLE),
            Who::Other(tid, name) => events::Who::Task(self.task(tid, &name)),
        }
    }

    fn task(&mut self, tid: u32, name: &[u8; TASK_COMM]) -> u32 {
        let Some(sched) = &mut self.sched else { return IDLE };
        let (id, new) = sched.tasks.id(tid, name);
        if let Some(New { facts, .. }) = new {
            let (pid, command, cgroup): (u32, &[u8], &[u8]) =
                facts.as_ref().map_or((0, &[], &[]), |f| (f.pid, &f.command, &f.cgroup));
            let record =
                Task { id, tid, pid, name: utf8(text(name)), command: utf8(command), cgroup: utf8(cgroup) };
            self.emit.emit(&Record::Task(record), Weight::Essential);
        }
        id
    }

    pub(super) fn interrupt(&mut self, e: &Interrupt) {
        let Some(sched) = &self.sched else { return };
        let known = match e.soft {
            Some(number) => sched.softirqs.get(number as usize).copied(),
            None => sched.names.iter().find(|(name, _)| *name == e.name).map(|(_, id)| *id),
        };
        let name = match known {
            Some(id) => id,
            None => self.interrupt_name(e),
        };
        if self.sched.as_ref().is_some_and(|s| s.interrupts.full(MAX_INTERRUPT_LEN)) {
            self.send_interrupts();
        }
        let Some(sched) = &mut self.sched else { return };
        let batch = &mut sched.interrupts;
        if batch.count == 0 {
            (batch.base_ns, batch.cursor) = (e.start_ns, interrupts::Cursor::new(e.start_ns));
        }
        let interrupt = interrupts::Interrupt {
            soft: e.soft.is_some(),
            name,
            cpu: cpu(e.cpu),
            start_ns: e.start_ns,
            duration_ns: e.end_ns.saturating_sub(e.start_ns),
        };
        if let Some(len) = batch.cursor.encode(&interrupt, &mut *batch.bytes, batch.len) {
            batch.len = len;
            batch.count += 1;
        }
    }

    fn interrupt_name(&mut self, e: &Interrupt) -> u32 {
        // A softirq without a name is unknown to the kernel's format description.
        if e.soft.is_some() {
            return 0;
        }
        let id = self.texts.fresh(&mut self.emit, utf8(text(&e.name))).unwrap_or(0);
        if let Some(sched) = &mut self.sched {
            if sched.names.len() == NAMES {
                sched.names.pop();
            }
            sched.names.push((e.name, id));
        }
        id
    }

    fn send_events(&mut self) {
        let Some(sched) = &mut self.sched else { return };
        let batch = &mut sched.events;
        if batch.count == 0 {
            return;
        }
        let bytes = &batch.bytes[..batch.len];
        let record = SchedBatch { seq: sched.seq, base_ns: batch.base_ns, count: batch.count, bytes };
        sched.seq = sched.seq.wrapping_add(1);
        let sent = self.emit.emit(&Record::SchedBatch(record), Weight::Droppable);
        batch.clear();
        let n = std::mem::take(&mut sched.in_batch);
        sched.count(sent, n);
    }

    fn send_interrupts(&mut self) {
        let Some(sched) = &mut self.sched else { return };
        let batch = &mut sched.interrupts;
        if batch.count == 0 {
            return;
        }
        let bytes = &batch.bytes[..batch.len];
        let record = InterruptBatch { base_ns: batch.base_ns, count: batch.count, bytes };
        let sent = self.emit.emit(&Record::InterruptBatch(record), Weight::Droppable);
        let n = batch.count;
        batch.clear();
        sched.count(sent, n);
    }

    /// Sends the current batches, and the ledger of all events before `drained_ns`.
    pub fn emit_sched_loss(&mut self, drained_ns: u64, kernel: &SchedTotals, weight: Weight) {
        self.send_events();
        self.send_interrupts();
        let Some(sched) = &self.sched else { return };
        let loss = SchedLoss {
            at_ns: drained_ns,
            recorded: sched.recorded,
            switches: kernel.switches + sched.seen,
            wakes: kernel.wakes,
            migrations: kernel.migrations,
            interrupts: kernel.interrupts,
            sent: sched.sent,
            switches_ring_full: kernel.switches_ring_full,
            wakes_ring_full: kernel.wakes_ring_full,
            migrations_ring_full: kernel.migrations_ring_full,
            interrupts_ring_full: kernel.interrupts_ring_full,
            queue_full: sched.queue_full,
            threads_no_room: kernel.threads_no_room,
        };
        self.emit.emit(&Record::SchedLoss(loss), weight);
    }
}

/// Text of other programs, up to the first invalid byte.
fn utf8(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => bytes.get(..e.valid_up_to()).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or_default(),
    }
}
