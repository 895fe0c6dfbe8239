//! Operator capture: what was requested, and what of that takes effect.
//!
//! From: the plan. To: [`Effective`], which the other modules follow, and the records that inform
//! the host. Promises: a request that does not take effect is refused with a reason, and only what
//! was requested is left out.

pub mod filter;
mod glob;

use profinfer_cli::CaptureArgs;
use profinfer_wire::options;
use profinfer_wire::record::Record;
use profinfer_wire::record::capture::{ALWAYS, CaptureOptions, CaptureRequest, Ends, Refusal};
use profinfer_wire::record::control::level;
use profinfer_wire::record::filter::{Filter, FilterOn, FilterPlace, MAX_PATTERNS, MAX_TEXT};

use crate::bpf::Programs;
use crate::clock;
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use filter::{Filters, Threads};

/// The request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Share of the `llama_decode` calls, per mille.
    pub duty_permille: u16,
    /// Whether start and end of an operator are probed, or the start alone.
    pub ends: Ends,
    /// Decode speed to keep, in thousandths of a token per second; 0 for none.
    pub keep_above_milli: u32,
    /// Maximum slowdown, ppm; 0 for none.
    pub max_slowdown_ppm: u32,
    /// At most one filter per property.
    pub filters: Vec<(FilterOn, String)>,
}

impl Default for Wanted {
    /// Captures all operators.
    fn default() -> Self {
        let (keep_above_milli, max_slowdown_ppm) = (0, 0);
        Self {
            duty_permille: ALWAYS,
            ends: Ends::Both,
            keep_above_milli,
            max_slowdown_ppm,
            filters: Vec::new(),
        }
    }
}

impl From<&CaptureArgs> for Wanted {
    fn from(args: &CaptureArgs) -> Self {
        let mut wanted = Self::default();
        args.request().iter().for_each(|request| wanted.request(request));
        args.filters().for_each(|filter| wanted.filter(filter.on, filter.text));
        wanted
    }
}

impl Wanted {
    /// Applies the request of a host.
    pub fn request(&mut self, r: &CaptureRequest) {
        self.duty_permille = r.duty_permille;
        self.ends = r.ends;
        self.keep_above_milli = r.keep_above_milli;
        self.max_slowdown_ppm = r.max_slowdown_ppm;
    }

    /// Adds a filter. A later filter on the same property replaces the earlier one.
    pub fn filter(&mut self, on: FilterOn, text: &str) {
        self.filters.retain(|(other, _)| *other != on);
        self.filters.push((on, text.to_owned()));
    }

    /// True if the `llama_decode` calls must be probed for this request.
    #[must_use]
    pub fn needs_tokens(&self) -> bool {
        let by_token = |(on, _): &(FilterOn, String)| matches!(on, FilterOn::Token | FilterOn::Request);
        self.steered() || self.filters.iter().any(by_token)
    }

    /// True if the agent inserts and removes probes by speed or share.
    fn steered(&self) -> bool {
        self.duty_permille != ALWAYS || self.keep_above_milli > 0 || self.max_slowdown_ppm > 0
    }
}

/// The part of the request that takes effect.
#[derive(Debug, Default)]
pub struct Effective {
    /// The request, with every refused part set to a value that leaves out nothing.
    pub in_force: Wanted,
    /// The parsed filters.
    pub filters: Filters,
    duty_refused: Option<Refusal>,
    ends_refused: Option<Refusal>,
    keep_above_refused: Option<Refusal>,
    max_slowdown_refused: Option<Refusal>,
    filters_refused: Vec<(FilterOn, String, Refusal)>,
    asked: bool,
    /// True if direct probes may be used: their events do not pass through the BPF programs.
    pub direct: bool,
}

impl Effective {
    /// Decides before any probe is attached. `levels` are the captured levels; `counters` is true
    /// if operators are counted.
    #[must_use]
    pub fn new(wanted: &Wanted, levels: u32, counters: bool) -> Self {
        let mut g = Self { asked: *wanted != Wanted::default(), ..Self::default() };
        let no_operators = (levels & level::OP == 0).then_some(Refusal::NoOperators);
        let allow = |asked: bool, refusal: Option<Refusal>| if asked { refusal } else { None };
        let beyond = |n: u64, most: u64| (n > most).then_some(Refusal::TooMuch);

        let duty_bad = beyond(wanted.duty_permille.into(), ALWAYS.into())
            .or((wanted.duty_permille == 0).then_some(Refusal::Unreadable));
        g.duty_refused = allow(wanted.duty_permille != ALWAYS, no_operators.or(duty_bad));
        let counted = counters.then_some(Refusal::Counters);
        g.ends_refused = allow(wanted.ends == Ends::None, no_operators.or(counted));
        g.keep_above_refused = allow(wanted.keep_above_milli > 0, no_operators);
        let slowdown_bad = beyond(wanted.max_slowdown_ppm.into(), 1_000_000);
        g.max_slowdown_refused = allow(wanted.max_slowdown_ppm > 0, slowdown_bad);

        let force = &mut g.in_force;
        force.duty_permille = if g.duty_refused.is_some() { ALWAYS } else { wanted.duty_permille };
        force.ends = if g.ends_refused.is_some() { Ends::Both } else { wanted.ends };
        force.keep_above_milli = if g.keep_above_refused.is_some() { 0 } else { wanted.keep_above_milli };
        // Without operators there is nothing to limit: it is kept in any case.
        let limited = g.max_slowdown_refused.is_none() && no_operators.is_none();
        force.max_slowdown_ppm = if limited { wanted.max_slowdown_ppm } else { 0 };
        for (on, text) in &wanted.filters {
            let too_much = beyond(text.len() as u64, MAX_TEXT as u64)
                .or_else(|| beyond(options::parts(text).count() as u64, MAX_PATTERNS as u64));
            let unreadable = options::filter(*on, text).is_err().then_some(Refusal::Unreadable);
            match no_operators.or(too_much).or(unreadable) {
                Some(why) => g.filters_refused.push((*on, text.clone(), why)),
                None => g.in_force.filters.push((*on, text.clone())),
            }
        }
        g.filters = Filters::new(&g.in_force.filters);
        g
    }

    /// True if something may be left out and must therefore be counted.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.asked
    }

    /// True if operator probes are inserted and removed during the session.
    #[must_use]
    pub fn switches(&self) -> bool {
        self.in_force.needs_tokens()
    }

    /// True if starts and ends are probed in all threads. Then the cost of a pair can be measured,
    /// and any kind of probe works.
    #[must_use]
    pub fn in_pairs(&self) -> bool {
        self.in_force.ends == Ends::Both && self.filters.threads.is_none()
    }

    /// Refuses what needs `llama_decode` calls: the engine has none that can be probed.
    pub fn no_token_calls(&mut self) {
        let none = Some(Refusal::NoTokenCalls);
        let force = &mut self.in_force;
        if std::mem::replace(&mut force.duty_permille, ALWAYS) != ALWAYS {
            self.duty_refused = none;
        }
        if std::mem::take(&mut force.keep_above_milli) != 0 {
            self.keep_above_refused = none;
        }
        if std::mem::take(&mut force.max_slowdown_ppm) != 0 {
            self.max_slowdown_refused = none;
        }
        let by_token = |on: FilterOn| matches!(on, FilterOn::Token | FilterOn::Request);
        for (on, text) in force.filters.extract_if(.., |(on, _)| by_token(*on)) {
            self.filters_refused.push((on, text, Refusal::NoTokenCalls));
        }
        self.filters = Filters::new(&self.in_force.filters);
    }

    /// Sends the result to the host, if anything was requested.
    pub fn emit(&self, emit: &mut Emitter) {
        if !self.asked {
            return;
        }
        let force = &self.in_force;
        let options = CaptureOptions {
            at_ns: clock::monotonic_ns(),
            duty_permille: force.duty_permille,
            ends: force.ends,
            keep_above_milli: force.keep_above_milli,
            max_slowdown_ppm: force.max_slowdown_ppm,
            duty_refused: self.duty_refused,
            ends_refused: self.ends_refused,
            keep_above_refused: self.keep_above_refused,
            max_slowdown_refused: self.max_slowdown_refused,
        };
        emit.emit(&Record::CaptureOptions(options), Weight::Essential);
        for (on, text) in &force.filters {
            let record = Filter { on: *on, text: cut(text), place: self.place(*on), refused: None };
            emit.emit(&Record::Filter(record), Weight::Essential);
        }
        for (on, text, why) in &self.filters_refused {
            let record =
                Filter { on: *on, text: cut(text), place: FilterPlace::Nowhere, refused: Some(*why) };
            emit.emit(&Record::Filter(record), Weight::Essential);
        }
    }

    /// Where an effective filter is applied.
    fn place(&self, on: FilterOn) -> FilterPlace {
        match on {
            FilterOn::Token | FilterOn::Request => FilterPlace::Trap,
            FilterOn::Thread => FilterPlace::Kernel,
            // The start of an operator that is left out is the end of the previous operator.
            FilterOn::Op | FilterOn::Name | FilterOn::Layer
                if self.direct || self.in_force.ends == Ends::None =>
            {
                FilterPlace::Agent
            }
            FilterOn::Op | FilterOn::Name | FilterOn::Layer => FilterPlace::Kernel,
        }
    }

    /// Configuration of the BPF programs, set before they are loaded.
    #[must_use]
    pub fn programs(&self) -> Programs<'_> {
        let nodes = self.filters.of_nodes() && self.in_force.ends == Ends::Both;
        let (most_threads, tids) = match &self.filters.threads {
            None => (0, &[][..]),
            Some(Threads::Most(n)) => (*n, &[][..]),
            Some(Threads::Tids(tids)) => (0, &**tids),
        };
        Programs { starts_only: self.in_force.ends == Ends::None, nodes, most_threads, tids }
    }
}

/// Truncates to the length of a record. Longer text was refused already.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}
