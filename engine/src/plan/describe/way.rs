//! How a level is traced, in words.

use super::found::{BY_STRUCTURE, known};
use super::layout::unreadable;
use super::missing::missing;
use crate::plan::strategy::{NoWay, Strategy, Way};
use crate::probes::kind::Level;

/// Name of a level.
#[must_use]
pub const fn level(level: Level) -> &'static str {
    match level {
        Level::Token => "token",
        Level::Graph => "graph",
        Level::Operator => "operator",
    }
}

/// The probes of a level, or why there are none.
///
/// # Errors
/// The reason, where there is no way.
pub fn way(strategy: &Strategy) -> Result<String, String> {
    let ways = strategy.ways.as_ref().map_err(|none| match none {
        NoWay::NoLayout(reason) => unreadable(*reason),
        NoWay::Missing(first) => missing(first),
        NoWay::NoFile => "no file could be examined".to_owned(),
    })?;
    let ways = ways.iter().map(one);
    let also = strategy.without.iter().map(|symbol| format!("without {symbol}"));
    Ok(ways.chain(also).collect::<Vec<_>>().join(", "))
}

fn one(way: &Way) -> String {
    match way {
        Way::Functions(names) => {
            let names: Vec<_> = names.iter().map(|(name, by)| known(name, *by)).collect();
            names.join(", ")
        }
        Way::OperatorFunctions(names) => format!("function {}", names.join(", ")),
        Way::Structure => BY_STRUCTURE.to_owned(),
        Way::Calls { symbol, by, fused } => {
            let fused = match fused {
                0 => String::new(),
                n => format!(" and {n} fused"),
            };
            format!("calls of {}{fused}", known(symbol, *by))
        }
        Way::Backend { backend, whole, symbol } => {
            let what = if *whole { "operators" } else { "nested calls" };
            format!("{backend} {what} by {symbol}")
        }
    }
}
