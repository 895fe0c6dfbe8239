//! What of the engine's operators shall be captured, and what of that can be.
//!
//! From: the plan. To: [`Effective`], which the rest obeys, and the records that tell the host of it. Promises: what is not in
//! force is refused with a reason, and nothing is left out that was not asked to be.

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

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Share of the token calls, thousandths.
    pub duty_permille: u16,
    /// Which edges of an operator are probed.
    pub ends: Ends,
    /// Decode speed to keep, thousandths of a token per second; 0 for none.
    pub keep_above_milli: u32,
    /// Slowdown not to exceed, millionths; 0 for none.
    pub max_slowdown_ppm: u32,
    /// Filters, at most one on each thing.
    pub filters: Vec<(FilterOn, String)>,
}

impl Default for Wanted {
    /// Everything.
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
    /// What a command line asks for.
    fn from(args: &CaptureArgs) -> Self {
        let mut wanted = Self::default();
        args.request().iter().for_each(|request| wanted.request(request));
        args.filters().for_each(|filter| wanted.filter(filter.on, filter.text));
        wanted
    }
}

impl Wanted {
    /// Takes a host's request.
    pub fn request(&mut self, r: &CaptureRequest) {
        self.duty_permille = r.duty_permille;
        self.ends = r.ends;
        self.keep_above_milli = r.keep_above_milli;
        self.max_slowdown_ppm = r.max_slowdown_ppm;
    }

    /// Takes a filter; a later one on the same thing replaces the earlier one.
    pub fn filter(&mut self, on: FilterOn, text: &str) {
        self.filters.retain(|(other, _)| *other != on);
        self.filters.push((on, text.to_owned()));
    }

    /// Token calls must be seen for it.
    #[must_use]
    pub fn needs_tokens(&self) -> bool {
        let by_token = |(on, _): &(FilterOn, String)| matches!(on, FilterOn::Token | FilterOn::Request);
        self.steered() || self.filters.iter().any(by_token)
    }

    /// Probes go in and out by speed or duty.
    fn steered(&self) -> bool {
        self.duty_permille != ALWAYS || self.keep_above_milli > 0 || self.max_slowdown_ppm > 0
    }
}

/// What is in force.
#[derive(Debug, Default)]
pub struct Effective {
    /// As it was asked for, with everything that was refused set to what leaves out nothing.
    pub in_force: Wanted,
    /// The filters, ready for use.
    pub filters: Filters,
    duty_refused: Option<Refusal>,
    ends_refused: Option<Refusal>,
    keep_above_refused: Option<Refusal>,
    max_slowdown_refused: Option<Refusal>,
    filters_refused: Vec<(FilterOn, String, Refusal)>,
    asked: bool,
    /// Operators may be probed directly: then they do not pass the kernel's programs.
    pub direct: bool,
}

impl Effective {
    /// Decides before anything is attached: `levels` are captured, with counters or not.
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
        g.max_slowdown_refused = allow(wanted.max_slowdown_ppm > 0, no_operators.or(slowdown_bad));

        let force = &mut g.in_force;
        force.duty_permille = if g.duty_refused.is_some() { ALWAYS } else { wanted.duty_permille };
        force.ends = if g.ends_refused.is_some() { Ends::Both } else { wanted.ends };
        force.keep_above_milli = if g.keep_above_refused.is_some() { 0 } else { wanted.keep_above_milli };
        force.max_slowdown_ppm = if g.max_slowdown_refused.is_some() { 0 } else { wanted.max_slowdown_ppm };
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

    /// Something may be left out, so that it must be counted.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.asked
    }

    /// Operator probes go in and out while the session runs.
    #[must_use]
    pub fn switches(&self) -> bool {
        self.in_force.needs_tokens()
    }

    /// Starts and ends of operators are probed, in all threads: what a pair costs can be measured, and any kind of probes serves.
    #[must_use]
    pub fn in_pairs(&self) -> bool {
        self.in_force.ends == Ends::Both && self.filters.threads.is_none()
    }

    /// The engine has no token calls that could be probed: what needs them is not in force.
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

    /// Tells the host; nothing where nothing was asked for.
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

    /// Where a filter that is in force works.
    fn place(&self, on: FilterOn) -> FilterPlace {
        match on {
            FilterOn::Token | FilterOn::Request => FilterPlace::Trap,
            FilterOn::Thread => FilterPlace::Kernel,
            // The start of an operator that is left out is the end of the one before.
            FilterOn::Op | FilterOn::Name | FilterOn::Layer
                if self.direct || self.in_force.ends == Ends::None =>
            {
                FilterPlace::Agent
            }
            FilterOn::Op | FilterOn::Name | FilterOn::Layer => FilterPlace::Kernel,
        }
    }

    /// What the programs are told before they are loaded.
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

/// What of a host's text fits a record: it refused what was longer.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}
