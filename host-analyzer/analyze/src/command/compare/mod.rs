//! `analyze compare A B`: two sets of repeated runs.

pub(crate) mod runs;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::args::share::Share;
use crate::cli::Compare;
use crate::{Diagnostic, Result, command::record, diagnostic, json, write};
use profinfer_analysis::compare::{Choices, Code, Comparison, Run, Verdict};
use profinfer_analysis::ladder::Question;
use profinfer_views as views;
use profinfer_views::compare::Names;

/// Maximum runs per side: time and memory of the exact rank distribution grow with the fourth power
/// of the number of runs.
const MOST_RUNS: usize = 100;

/// Exit status if B is slower by more than `--fail-if slower` allows.
const SLOWER: u8 = 3;

/// Exit status if the work differs, or if the runs cannot decide `--fail-if slower`.
const CANNOT_TELL: u8 = 4;

/// The runs of two sides, and their names.
#[derive(Default)]
pub(crate) struct Sides {
    pub(crate) names: Names,
    /// By side, then run: one for each question.
    pub(crate) runs: [Vec<Vec<Run>>; 2],
}

/// Reads the runs of two sides, each of which is some recordings, or folders of recordings.
pub(crate) fn sides(paths: [&[PathBuf]; 2]) -> Result<Sides> {
    let Sides { mut names, mut runs } = Sides::default();
    let mut seen: Vec<((u64, u64), PathBuf)> = Vec::new();
    for (side, paths) in paths.into_iter().enumerate() {
        let name = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        let found = paths.iter().map(|path| runs::of(path)).collect::<Result<Vec<_>>>()?.concat();
        if found.len() > MOST_RUNS {
            return Err(Diagnostic::new(
                format!("comparing {name}"),
                format!("it has {} runs", found.len()),
                format!("give at most {MOST_RUNS} runs per side; more runs add no information"),
            ));
        }
        names.sides[side] = name;
        for files in found {
            let model = record::one_engine(std::slice::from_ref(&files))?;
            let identity = (model.session.start_unix_ns, model.session.start_ns);
            if let Some((_, before)) = seen.iter().find(|(known, _)| *known == identity) {
                return Err(twice(&files, before));
            }
            seen.push((identity, files.clone()));
            names.runs[side].push(files.display().to_string());
            runs[side].push(Run::all(&model));
        }
    }
    Ok(Sides { names, runs })
}

pub(crate) fn compare(options: &Compare) -> Result<ExitCode> {
    let one = std::slice::from_ref;
    let Sides { names, runs: sides } = sides([one(&options.a), one(&options.b)])?;
    let choices = Choices {
        practical: options.practical.0,
        spread: options.spread.0,
        warm_up: options.warm_up,
        different_work: options.different_work,
    };
    let question = question(&sides, options.question.map(Question::from));
    enough(&names, &sides, question, options.warm_up)?;
    let mut comparisons = Comparison::of_questions(&sides, choices);
    comparisons.sort_by_key(|c| (c.question != question, c.question));
    write::folder(&options.out)?;
    file(&options.out, "compare.json", |out| views::compare::json(&comparisons, &names, out))?;
    file(&options.out, "compare.html", |out| views::compare::page(&comparisons, &names, out))?;
    if options.format.format.is_json() {
        json::print(&views::compare::document(&comparisons, &names))?;
    } else {
        let mut out = anstream::stdout().lock();
        let _ = views::terminal::compare::compare(&comparisons, &names, record::columns(), &mut out);
        let _ = writeln!(out, "\nwritten to {}: open compare.html", options.out.display());
    }
    let status = comparisons.first().map_or(CANNOT_TELL, |c| status(&c.verdict, options.fail_if));
    Ok(ExitCode::from(status))
}

/// The question that the runs are about: text that any of them generates, otherwise what all of them have.
pub(crate) fn question(sides: &[Vec<Vec<Run>>; 2], requested: Option<Question>) -> Question {
    let all = || sides.iter().flatten();
    let has = |runs: &Vec<Run>, question| runs.iter().any(|run| run.question == question);
    let main = if all().any(|runs| has(runs, Question::Decode)) {
        Some(Question::Decode)
    } else {
        Run::QUESTIONS.into_iter().find(|question| all().all(|runs| has(runs, *question)))
    };
    requested.or(main).unwrap_or_default()
}

/// Each recording has calls of the question, of generated text more than are skipped.
pub(crate) fn enough(
    names: &Names,
    sides: &[Vec<Vec<Run>>; 2],
    question: Question,
    warm_up: usize,
) -> Result<()> {
    let least = if question == Question::Decode { warm_up } else { 0 };
    for (name, runs) in names.runs.iter().flatten().zip(sides.iter().flatten()) {
        let calls = runs.iter().find(|run| run.question == question).map_or(0, |run| run.calls.len());
        if calls > least {
            continue;
        }
        let (has, next) = match question {
            Question::Decode => (
                format!("it has {calls} decode tokens, and the first {warm_up} are skipped (--warm-up)"),
                "record runs that generate more tokens, or compare their prompts (--question prompt); `analyze FILE` reports a recording",
            ),
            Question::Prompt => (
                "it has no calls that read prompts".to_owned(),
                "record runs that read a prompt; `analyze FILE` reports a recording",
            ),
            _ => (
                "it has no calls of an encoder".to_owned(),
                "record runs that use one; `analyze FILE` reports a recording",
            ),
        };
        return Err(Diagnostic::new(format!("comparing {name}"), has, next));
    }
    Ok(())
}

fn twice(path: &Path, before: &Path) -> Diagnostic {
    Diagnostic::new(
        format!("comparing {}", path.display()),
        format!("it is the same recording as {}", before.display()),
        "pass each recording only once; a duplicate is not another run",
    )
}

pub(crate) fn file(
    folder: &Path,
    name: &str,
    view: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let path = folder.join(name);
    let written = || {
        let mut out = BufWriter::new(File::create(&path)?);
        view(&mut out)?;
        out.flush()
    };
    written().map_err(|e| diagnostic::unwritable(path.display(), e))
}

/// The exit status.
fn status(verdict: &Verdict, slower: Option<Share>) -> u8 {
    match (verdict.code, slower, verdict.interval) {
        (Code::DifferentWork, ..) => CANNOT_TELL,
        (_, None, _) => 0,
        _ if verdict.doubtful => CANNOT_TELL,
        (_, Some(Share(most)), Some((low, _))) if low > most => SLOWER,
        (_, Some(Share(most)), Some((_, high))) if high <= most => 0,
        (_, Some(_), _) => CANNOT_TELL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        let of = |code, interval, most: Option<f64>| {
            let verdict = Verdict {
                code,
                shift: None,
                interval,
                doubtful: code == Code::TooFewRuns,
                method: None,
                practical: 0.02,
            };
            status(&verdict, most.map(Share))
        };
        assert_eq!(of(Code::Slower, Some((0.03, 0.05)), None), 0);
        assert_eq!(of(Code::Slower, Some((0.03, 0.05)), Some(0.02)), 3);
        assert_eq!(of(Code::Slower, Some((0.01, 0.05)), Some(0.02)), 4);
        assert_eq!(of(Code::Slower, Some((0.01, 0.02)), Some(0.02)), 0);
        assert_eq!(of(Code::TooFewRuns, None, Some(0.02)), 4);
        assert_eq!(of(Code::TooFewRuns, Some((0.5, 0.7)), Some(0.02)), 4);
        assert_eq!(of(Code::TooFewRuns, Some((-0.5, -0.1)), Some(0.02)), 4);
        assert_eq!(of(Code::TooFewRuns, None, None), 0);
        assert_eq!(of(Code::DifferentWork, None, None), 4);
        assert_eq!(of(Code::Faster, Some((-0.3, -0.1)), Some(0.02)), 0);
    }
}
