//! Operators of one graph call with the threads' arrivals at the barrier behind each, and why the last one was late.

use std::ops::Range;

use super::class::Class;
use super::off_cpu::{OffCpu, Scheduler};
use crate::model::{Ends, Model, NodeIdx, Spans, ThreadId, TopologyId};

/// One operator in one graph call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    pub(super) node: NodeIdx,
    /// Threads that took part.
    pub(super) threads: u32,
    /// First start of work, ns, and the span that began it.
    pub(super) start: u64,
    pub(super) first: usize,
    /// Last end of work, ns: the barrier opens. And the span that ended then.
    pub(super) release: u64,
    pub(super) last: usize,
    /// The span that ended first.
    pub(super) early: usize,
    /// Medians of the other threads' starts and ends, ns; of one thread its own.
    pub(super) others_start: u64,
    pub(super) others_end: u64,
    /// Most work of another thread, ns.
    pub(super) others_work: u64,
}

/// The operators of one graph call, in the order in which their barriers opened.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    pub(super) rows: Vec<Meeting>,
    /// Row by span, from the call's first span on.
    pub(super) of_span: Vec<u32>,
    /// Used again from call to call: row by node; the spans row by row, and by row where they end.
    row_of_node: Vec<u32>,
    members: Vec<usize>,
    ends: Vec<usize>,
    values: Vec<u64>,
}

const NONE: u32 = u32::MAX;

pub(super) fn end(spans: &Spans, i: usize) -> u64 {
    spans.start_ns[i].saturating_add(spans.work_ns[i])
}

impl Meetings {
    /// Reads the spans of one graph call.
    pub(super) fn read(&mut self, spans: &Spans, rows: Range<usize>) {
        self.rows.clear();
        self.gather(spans, rows);
        let mut start = 0;
        for end in &self.ends {
            self.rows.push(meeting(spans, &self.members[start..*end], &mut self.values));
            start = *end;
        }
    }

    /// Puts the spans of each node side by side: a counting sort, as there are as many nodes as spans of a thread.
    fn gather(&mut self, spans: &Spans, rows: Range<usize>) {
        let Self { of_span, row_of_node, members, ends, .. } = self;
        of_span.clear();
        ends.clear();
        for node in spans.node[rows.clone()].iter().map(|node| node.0 as usize) {
            if row_of_node.len() <= node {
                row_of_node.resize(node + 1, NONE);
            }
            let row = &mut row_of_node[node];
            if *row == NONE {
                *row = u32::try_from(ends.len()).unwrap_or(NONE);
                ends.push(0);
            }
            ends[*row as usize] += 1;
            of_span.push(*row);
        }
        // From counts to where each row begins; filling it moves that on to its end.
        let mut next = 0;
        for end in ends.iter_mut() {
            next += std::mem::replace(end, next);
        }
        members.clear();
        members.resize(rows.len(), 0);
        for (i, row) in rows.clone().zip(of_span) {
            let at = &mut ends[*row as usize];
            members[*at] = i;
            *at += 1;
        }
        for node in &spans.node[rows] {
            row_of_node[node.0 as usize] = NONE;
        }
    }

    /// The rows in the order in which barriers opened.
    pub(super) fn in_order(&self) -> Vec<&Meeting> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|m| (m.release, m.start));
        rows
    }
}

/// `values` is room that is used again.
fn meeting(spans: &Spans, members: &[usize], values: &mut Vec<u64>) -> Meeting {
    let start = |i: usize| spans.start_ns[i];
    let (mut first, mut last, mut early) = (members[0], members[0], members[0]);
    let (mut release, mut early_end) = (end(spans, last), end(spans, early));
    for i in members[1..].iter().copied() {
        let ended = end(spans, i);
        if start(i) < start(first) {
            first = i;
        }
        // Of those that come together the later thread counts as the last.
        if ended >= release {
            (last, release) = (i, ended);
        }
        if ended < early_end {
            (early, early_end) = (i, ended);
        }
    }
    let others = || members.iter().copied().filter(|i| *i != last);
    let (others_start, others_end) = match *members {
        // Of two threads the other one is the median.
        [a, b] => {
            let other = if last == a { b } else { a };
            (Some(start(other)), Some(end(spans, other)))
        }
        _ => (median(others().map(start), values), median(others().map(|i| end(spans, i)), values)),
    };
    Meeting {
        node: spans.node[last],
        threads: u32::try_from(members.len()).unwrap_or(NONE),
        start: start(first),
        first,
        release,
        last,
        early,
        others_start: others_start.unwrap_or_else(|| start(last)),
        others_end: others_end.unwrap_or(release),
        others_work: others().map(|i| spans.work_ns[i]).max().unwrap_or(0),
    }
}

fn median(of: impl Iterator<Item = u64>, values: &mut Vec<u64>) -> Option<u64> {
    values.clear();
    values.extend(of);
    match values[..] {
        [one] => Some(one),
        _ => super::super::percentile::percentile(values, 50),
    }
}

/// Which thread came last at each node of each topology, and how often it was the same one as the time before.
#[derive(Debug, Default)]
pub(super) struct Habits {
    rows: Vec<Vec<Habit>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Habit {
    last: Option<ThreadId>,
    same: u32,
    times: u32,
}

/// From so many times on, and from this share on, it is a habit. Two threads that come last by chance repeat half of the time.
const TIMES: u32 = 8;
const SHARE: f64 = 0.8;
/// A thread is late if it comes later than the others by more than this part of its work.
const MUCH: u64 = 20;

impl Habits {
    pub(super) fn add(&mut self, spans: &Spans, topology: TopologyId, meetings: &Meetings) {
        let at = topology.0 as usize;
        if self.rows.len() <= at {
            self.rows.resize_with(at + 1, Vec::new);
        }
        for m in meetings.rows.iter().filter(|m| m.threads > 1) {
            let node = m.node.0 as usize;
            let row = &mut self.rows[at];
            if row.len() <= node {
                row.resize(node + 1, Habit::default());
            }
            let habit = &mut row[node];
            let late = m.release.saturating_sub(m.others_end) > spans.work_ns[m.last] / MUCH;
            let thread = late.then(|| spans.thread[m.last]);
            habit.same += u32::from(late && habit.last == thread);
            habit.times += 1;
            habit.last = thread;
        }
    }

    fn is_habit(&self, topology: TopologyId, node: NodeIdx) -> bool {
        let habit = self.rows.get(topology.0 as usize).and_then(|row| row.get(node.0 as usize));
        habit.is_some_and(|h| h.times >= TIMES && f64::from(h.same) >= SHARE * f64::from(h.times))
    }
}

/// Why the last arriver of one operator was late: time by class of waiting, ns. The sum is how much later it came than
/// the median of the others.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lateness {
    causes: [(Option<Class>, u64); CAUSES],
    n: usize,
    total: u64,
    /// What no cause has taken yet.
    left: u64,
}

pub(super) const CAUSES: usize = 8;

impl Lateness {
    fn new(total: u64) -> Self {
        Self { total, left: total, ..Self::default() }
    }

    #[inline]
    fn push(&mut self, class: Class, ns: u64) {
        let ns = ns.min(self.left);
        if ns > 0 && self.n < CAUSES {
            self.causes[self.n] = (Some(class), ns);
            self.n += 1;
            self.left -= ns;
        }
    }

    /// The causes with their parts of `wait` ns.
    pub(super) fn of(&self, wait: u64) -> impl Iterator<Item = (Class, u64)> + '_ {
        let total = self.total.max(1);
        self.causes[..self.n].iter().filter_map(move |(class, ns)| {
            // Nearly all fit, and a division of 128 bits takes ten times as long; most have one cause, and need none.
            let part = match wait.checked_mul(*ns) {
                _ if *ns == total => wait,
                Some(product) => product / total,
                None => {
                    let part = u128::from(wait) * u128::from(*ns) / u128::from(total);
                    u64::try_from(part).unwrap_or(u64::MAX)
                }
            };
            Some(((*class)?, part))
        })
    }

    /// The class of what rounding leaves, and of all if there is no cause: the largest cause.
    pub(super) fn main(&self) -> Class {
        let largest = self.causes[..self.n].iter().max_by_key(|(_, ns)| *ns);
        largest.and_then(|(class, _)| *class).unwrap_or(Class::WaitUneven)
    }
}

/// What the causes are told from.
#[derive(Debug)]
pub(super) struct Causes<'a> {
    pub(super) model: &'a Model,
    pub(super) scheduler: &'a Scheduler<'a>,
    pub(super) habits: &'a Habits,
    /// Speed of each CPU in any unit, where it is known.
    pub(super) speeds: &'a [u64],
    /// What the probes add to the time of an operator that does nothing, ns.
    pub(super) inside: u64,
}

/// Work of a thread that has nothing to do in an operator, where the probes' cost is not known, ns.
const NOTHING_NS: u64 = 1000;

impl Causes<'_> {
    /// The ends of operators were captured, so that work and wait are apart.
    pub(super) fn ends(&self) -> bool {
        self.model.capture.ends == Ends::Both
    }

    /// What lies between two operators that were captured: others that were not, if a filter left any out.
    pub(super) fn between(&self) -> Class {
        if self.model.capture.nodes_left_out() { Class::NotTraced } else { Class::BetweenOperators }
    }

    /// What a thread did in a graph of which it has no operators.
    pub(super) fn unseen(&self) -> Class {
        if self.model.capture.operators_left_out() { Class::NotTraced } else { Class::Unknown }
    }

    /// Only one thread had something to do.
    pub(super) fn one_thread(&self, m: &Meeting) -> bool {
        let nothing = if self.inside == 0 { NOTHING_NS } else { self.inside * 3 / 2 };
        if m.threads < 2 || m.others_work > nothing {
            return false;
        }
        // What delayed it is no work that the others lack.
        let delayed = self.last_off_cpu(m).1.total().saturating_add(self.last_interrupts(m));
        let work = self.model.spans.work_ns[m.last].saturating_sub(delayed);
        work > m.others_work.saturating_mul(2)
    }

    /// Time without a CPU of the last arriver, before it began and while it worked.
    pub(super) fn last_off_cpu(&self, m: &Meeting) -> (OffCpu, OffCpu) {
        if !self.scheduler.has_rows() {
            return Default::default();
        }
        let spans = &self.model.spans;
        let (thread, start) = (spans.thread[m.last], spans.start_ns[m.last]);
        (
            self.scheduler.off_cpu(thread, m.others_start.min(start), start),
            self.scheduler.off_cpu(thread, start, m.release),
        )
    }

    /// Time of interrupts on the last arriver's CPU while it worked, ns.
    pub(super) fn last_interrupts(&self, m: &Meeting) -> u64 {
        if !self.scheduler.has_rows() {
            return 0;
        }
        let spans = &self.model.spans;
        self.scheduler.interrupts(spans.cpu[m.last], spans.start_ns[m.last], m.release)
    }

    /// How much later than the others the last arriver began, beside what others or a quota took from it: asleep, and although it ran. Then
    /// it took longer for the way from the barrier before.
    pub(super) fn began_late(&self, m: &Meeting, before: OffCpu) -> [(Class, u64); 2] {
        let began = self.model.spans.start_ns[m.last].saturating_sub(m.others_start);
        let ran = if self.slower_core(m) { Class::WaitSlowerCore } else { Class::WaitStartedLate };
        let asleep = before.waking.saturating_add(before.sleeping);
        [(Class::WaitStartedLate, asleep), (ran, began.saturating_sub(before.total()))]
    }

    /// Why the last arriver was late.
    pub(super) fn lateness(&self, topology: Option<TopologyId>, m: &Meeting) -> Lateness {
        let mut late = Lateness::new(m.release.saturating_sub(m.others_end));
        if m.threads < 2 {
            return late;
        }
        if self.one_thread(m) {
            late.push(Class::WaitOneThread, u64::MAX);
            return late;
        }
        let (before, inside) = self.last_off_cpu(m);
        late.push(Class::WaitPreempted, before.preempted.saturating_add(inside.preempted));
        late.push(Class::WaitThrottled, before.throttled.saturating_add(inside.throttled));
        late.push(Class::WaitBlocked, before.blocked.saturating_add(inside.asleep()));
        late.push(Class::WaitInterrupted, self.last_interrupts(m));
        for (class, ns) in self.began_late(m, before) {
            late.push(class, ns);
        }
        late.push(self.uneven(topology, m), u64::MAX);
        late
    }

    /// The class of a difference in work itself.
    pub(super) fn uneven(&self, topology: Option<TopologyId>, m: &Meeting) -> Class {
        if self.slower_core(m) {
            return Class::WaitSlowerCore;
        }
        match topology {
            Some(topology) if self.habits.is_habit(topology, m.node) => Class::WaitMoreRows,
            _ => Class::WaitUneven,
        }
    }

    /// The last arriver is on a slower core than the thread that waits for it longest.
    fn slower_core(&self, m: &Meeting) -> bool {
        let spans = &self.model.spans;
        let speed = |i: usize| self.speeds.get(usize::from(spans.cpu[i]?)).copied().filter(|s| *s > 0);
        speed(m.last).zip(speed(m.early)).is_some_and(|(last, early)| last < early)
    }
}
