//! Which counters to ask the agent for: the board's set, another one, or some by name.

use profinfer_boards::{Board, PlannedCounter};
use profinfer_wire::record::control::ANY_CORE;

use super::{Diagnostic, Result};

/// Instead of a list: no counters.
const NONE: &str = "none";

/// What `--counters` and the board ask for, in order of slots. Without a board nothing is asked for that was not
/// named, because nothing is known of the machine.
pub(super) fn requests(board: Option<&Board>, asked: &[String]) -> Result<Vec<PlannedCounter>> {
    let asked: Vec<&str> = asked.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    match (asked.as_slice(), board) {
        ([], None) | ([NONE], _) => Ok(Vec::new()),
        ([], Some(board)) => plan(board, None),
        ([set], Some(board)) if is_set(set, Some(board)) => plan(board, Some(set)),
        (names, board) => match names.iter().find(|n| is_set(n, board) || **n == NONE) {
            None => names.iter().map(|name| by_name(name, board)).collect(),
            Some(set) => {
                let (answer, help) = match board {
                    None => ("sets of counters are a board's", "name the board with --board, or the events"),
                    Some(_) => ("it stands alone, without other names", "name one set, or the events"),
                };
                Err(Diagnostic::new(format!("choosing the counters `{set}`"), answer, help))
            }
        },
    }
}

/// Events are in capitals, as Arm prints them; the kernel's own have a hyphen.
fn is_set(name: &str, board: Option<&Board>) -> bool {
    let event = name.contains('-') || !name.contains(|c: char| c.is_ascii_lowercase());
    board.is_some_and(|b| b.set_names().contains(&name)) || (!event && name != NONE)
}

fn plan(board: &Board, set: Option<&str>) -> Result<Vec<PlannedCounter>> {
    board.counter_plan(set).map_err(|e| {
        let help = format!("`analyze boards {}` shows what is in each set; or name events", board.name);
        Diagnostic::new("choosing the counters", e, help)
    })
}

/// On every type of core, by the PMU's own number. Which are the kernel's own is for the agent to know: it refuses by
/// name what it has not.
fn by_name(name: &str, board: Option<&Board>) -> Result<PlannedCounter> {
    if let Some(board) = board {
        board.can_count(name).map_err(|e| {
            let help = format!(
                "`analyze boards {}` lists the events; without --board any name is asked for",
                board.name
            );
            Diagnostic::new("choosing the counters", e, help)
        })?;
    }
    let midr = if name.contains('-') { 0 } else { ANY_CORE };
    Ok(PlannedCounter { name: name.to_owned(), event: 0, midr })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use profinfer_boards::Catalog;

    use super::*;

    fn names(board: Option<&str>, asked: &[&str]) -> std::result::Result<Vec<String>, String> {
        let catalog = Catalog::shipped().unwrap();
        let board = board.map(|name| catalog.find(name).unwrap());
        let asked: Vec<String> = asked.iter().map(|a| (*a).to_owned()).collect();
        let requests = requests(board, &asked).map_err(|e| e.to_string())?;
        Ok(requests.into_iter().map(|w| format!("{}@{:x}", w.name, w.midr)).collect())
    }

    #[test]
    fn of_the_board_of_a_set_by_name_or_none() {
        assert_eq!(names(None, &[]).unwrap(), [""; 0]);
        assert_eq!(names(Some("rk3588"), &["none"]).unwrap(), [""; 0]);
        assert_eq!(names(Some("host"), &[]).unwrap(), ["minor-faults@0", "major-faults@0"]);
        let memory = names(Some("rk3588"), &[]).unwrap();
        assert_eq!(memory, names(Some("rk3588"), &["memory"]).unwrap());
        assert_eq!((memory.len(), &*memory[3]), (16, "L3D_CACHE_REFILL@4100d050"));
        assert!(names(Some("bcm2712"), &["cache"]).unwrap().contains(&"L1D_CACHE@4100d0b0".to_owned()));
        let named = ["L3D_CACHE_REFILL", "minor-faults"];
        assert_eq!(names(Some("rk3588"), &named).unwrap(), ["L3D_CACHE_REFILL@ff00fff0", "minor-faults@0"]);
        assert_eq!(names(None, &named).unwrap(), names(Some("rk3588"), &named).unwrap());
    }

    #[test]
    fn what_is_no_selection_is_said() {
        for (board, asked, words) in [
            (Some("rk3588"), &["memry"][..], "no counter set `memry`; there are: memory"),
            (Some("rk3588"), &["CPU_CYCLES", "L3D_CACHE_REFIL"], "most like it are L3D_CACHE_REFILL, "),
            (Some("rk3588"), &["page-faults"], "has an event `page-faults`"),
            (None, &["memory"], "sets of counters are a board's"),
            (Some("rk3588"), &["memory", "BR_PRED"], "stands alone"),
            (Some("rk3588"), &["BR_PRED", "none"], "stands alone"),
        ] {
            let said = names(board, asked).unwrap_err();
            assert!(said.contains(words) && said.contains("help: "), "{said}");
        }
    }
}
