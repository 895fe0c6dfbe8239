//! The meaning of the rows of a ledger's table, and arithmetic over them.

/// The part of a total in its ledger's sum: *seen* = *sent* + *left out* + losses + edges `in_sum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowRole {
    /// Not part of the sum.
    Figure,
    /// Events that the kernel saw.
    Seen,
    /// Events handed to the link.
    Sent,
    /// Lost.
    Lost(Reason),
    /// Bytes of the loss in the previous row, with their key in summary.json.
    BytesOfLoss(&'static str),
    /// Seen, and left out as requested: neither sent nor lost.
    LeftOut,
    /// Seen, with nothing to record: neither sent nor lost.
    Nothing,
    /// Not lost, but incomplete: at an edge of the session.
    Edge(Edge),
}

/// A reason for which something was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// Key in summary.json.
    pub key: &'static str,
    /// What was lost.
    pub what: Lost,
    /// What may therefore be missing between others that came.
    pub gap: Gap,
    /// Why, and what to do about it, for people.
    pub why: &'static str,
}

/// What was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// Some of the ledger's events: part of its sum.
    Events,
    /// Something else, by its name.
    Other(&'static str),
}

/// What may be missing between others of its kind that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Nothing that a reader takes for neighbours.
    None,
    /// Operator spans of a thread.
    Spans,
    /// Token-level and graph-level calls.
    Calls,
}

/// What was running at an edge of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// It is among the events that the kernel counted as seen.
    pub in_sum: bool,
    /// Which edge.
    pub when: When,
}

/// An edge of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The probes were attached. Events that ended after the session's end are counted here, too.
    Started,
    /// The session ended.
    Ended,
}

/// One total of a ledger.
#[derive(Debug, Clone, Copy)]
pub struct Row<L: 'static> {
    /// Name of the field, in the ledger and in the wire's record.
    pub name: &'static str,
    /// Its part in the ledger.
    pub role: RowRole,
    /// The field.
    pub get: fn(&L) -> u64,
    /// Fills it.
    pub(super) set: fn(&mut L, u64),
}

/// Functions over a ledger's table.
pub trait Totals: Default + 'static {
    /// The table.
    const ROWS: &'static [Row<Self>];

    /// A ledger filled by the names of its fields. Fields that are not named are 0; unknown names
    /// are ignored.
    #[must_use]
    fn read(fields: &[(&str, u64)]) -> Self {
        let mut ledger = Self::default();
        for (name, n) in fields {
            if let Some(row) = Self::ROWS.iter().find(|row| row.name == *name) {
                (row.set)(&mut ledger, *n);
            }
        }
        ledger
    }

    /// The losses: number and, where counted, bytes.
    fn losses(&self) -> impl Iterator<Item = (Reason, u64, Option<u64>)> + '_ {
        let next = Self::ROWS.iter().skip(1).map(Some).chain([None]);
        Self::ROWS.iter().zip(next).filter_map(|(row, next)| {
            let RowRole::Lost(reason) = row.role else { return None };
            let bytes = next.filter(|next| matches!(next.role, RowRole::BytesOfLoss(_)));
            Some((reason, (row.get)(self), bytes.map(|next| (next.get)(self))))
        })
    }

    /// Events that were running at the edges of the session, with their number.
    fn edges(&self) -> impl Iterator<Item = (Edge, u64)> + '_ {
        Self::ROWS.iter().filter_map(|row| match row.role {
            RowRole::Edge(edge) => Some((edge, (row.get)(self))),
            _ => None,
        })
    }
}

/// Sum of the totals with a role. Saturating, because a foreign stream may claim anything.
pub(super) fn sum<L: Totals>(ledger: &L, of: impl Fn(RowRole) -> bool) -> u64 {
    let rows = L::ROWS.iter().filter(|row| of(row.role));
    rows.fold(0, |sum, row| sum.saturating_add((row.get)(ledger)))
}

/// A loss of the ledger's own events.
pub(super) fn is_dropped_event(role: RowRole) -> bool {
    matches!(role, RowRole::Lost(Reason { what: Lost::Events, .. }))
}

/// Every event that the kernel saw is sent, left out, lost, or was at an edge.
pub(super) fn balances<L: Totals>(ledger: &L) -> bool {
    let accounted = |role| {
        role == RowRole::Sent
            || role == RowRole::LeftOut
            || role == RowRole::Nothing
            || is_dropped_event(role)
            || matches!(role, RowRole::Edge(Edge { in_sum: true, .. }))
    };
    sum(ledger, |role| role == RowRole::Seen) == sum(ledger, accounted)
}

/// Losses that leave such a gap.
pub(super) fn gap<L: Totals>(ledger: &L, gap: Gap) -> u64 {
    sum(ledger, |role| matches!(role, RowRole::Lost(reason) if reason.gap == gap))
}

/// Declares a ledger by its table: the fields, and the role of each.
macro_rules! ledger {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])* $field:ident: $role:expr,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the wire's record documents each; one name in every layer")]
        pub struct $name {
            $($(#[$doc])* pub $field: u64,)+
        }

        impl $crate::model::totals::Totals for $name {
            const ROWS: &'static [$crate::model::totals::Row<Self>] = &[
                $($crate::model::totals::Row {
                    name: stringify!($field),
                    role: $role,
                    get: |ledger| ledger.$field,
                    set: |ledger, n| ledger.$field = n,
                }),+
            ];
        }

        impl $name {
            /// Its own events that were lost at the source.
            #[must_use]
            pub fn dropped(&self) -> u64 {
                $crate::model::totals::sum(self, $crate::model::totals::is_dropped_event)
            }

            /// The agent's own sum: every event is sent or counted as lost.
            #[must_use]
            pub fn balances(&self) -> bool {
                $crate::model::totals::balances(self)
            }

            /// Number of losses that may have left such a gap.
            #[must_use]
            pub fn lost_between(&self, gap: $crate::model::totals::Gap) -> u64 {
                $crate::model::totals::gap(self, gap)
            }

            /// Nothing was lost, and the sum is right.
            #[must_use]
            pub fn nothing_lost(&self) -> bool {
                use $crate::model::totals::Totals as _;
                self.balances() && self.losses().all(|(_, n, _)| n == 0)
            }
        }
    };
}

pub(super) use ledger;
