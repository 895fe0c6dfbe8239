//! `analyze export`: files that other programs read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::args::format::Format;
use crate::json::{self, Object};
use crate::{Diagnostic, Result, command::record, diagnostic};
use profinfer_analysis::Analysis;
use profinfer_analysis::expert::{NotOneModel, by_layer, routings};
use profinfer_analysis::phase::Phases;
use profinfer_views::{self as views, expert_pins::expert_pins};

/// The object of `expert-pins`.
#[derive(Debug, Serialize)]
struct Pins {
    file: String,
    /// Rows of the file: experts that were used.
    experts: u64,
    layers: usize,
    /// Selections of which only a part was received. They are not in the file.
    left_out_selections: u64,
}

/// The object of `ftrace`.
#[derive(Debug, Serialize)]
struct Ftrace {
    file: String,
    slices: u64,
}

pub(crate) fn pins(
    sources: &[PathBuf],
    context: Option<&str>,
    out: Option<&Path>,
    format: Format,
) -> Result<()> {
    needs_file(out, format)?;
    let model = record::recording(sources)?;
    let all = routings(&model, &Phases::compute(&model));
    let chosen = all.iter().filter(|r| context.is_none_or(|c| r.context.as_deref() == Some(c)));
    let uses = by_layer(chosen).map_err(|e| not_one(&e, context))?;
    let Some((rows, place)) = written(out, |to| expert_pins(&uses, to))? else { return Ok(()) };
    let left_out: u64 = all.iter().map(|r| r.whole.left_out).sum();
    if format.is_json() {
        let layers = uses.len();
        let pins = Pins { file: place, experts: rows, layers, left_out_selections: left_out };
        return json::print(&Object::new(pins));
    }
    let partly = match left_out {
        0 => String::new(),
        n => format!("; {n} incomplete selections are not in it"),
    };
    let _ = writeln!(io::stderr(), "{rows} experts of {} layers, written to {place}{partly}", uses.len());
    Ok(())
}

pub(crate) fn ftrace(sources: &[PathBuf], out: Option<&Path>, format: Format) -> Result<()> {
    needs_file(out, format)?;
    let model = record::recording(sources)?;
    let analysis = Analysis::compute(&model);
    let write = |to: &mut dyn Write| views::ftrace::ftrace(&model, &analysis, to);
    let Some((slices, place)) = written(out, write)? else { return Ok(()) };
    if format.is_json() {
        return json::print(&Object::new(Ftrace { file: place, slices }));
    }
    let _ = writeln!(io::stderr(), "{slices} slices, written to {place}");
    Ok(())
}

/// Standard output is either the exported file or the JSON object.
fn needs_file(out: Option<&Path>, format: Format) -> Result<()> {
    if out.is_none() && format.is_json() {
        return Err(Diagnostic::new(
            "exporting to standard output",
            "with --format json, the result is printed there",
            "name a file with --out, or leave --format json out",
        ));
    }
    Ok(())
}

/// Writes to a file, or to standard output. Returns the count and the place in words. `None` if the
/// reader closed the pipe, as `| head` does.
fn written(
    out: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<u64>,
) -> Result<Option<(u64, String)>> {
    let place = out.map_or_else(|| "standard output".to_owned(), |path| path.display().to_string());
    let done = match out {
        None => write(&mut io::stdout().lock()),
        Some(path) => File::create(path).and_then(|file| {
            let mut file = BufWriter::new(file);
            let counted = write(&mut file)?;
            file.flush().map(|()| counted)
        }),
    };
    match done {
        Err(e) if out.is_none() && e.kind() == io::ErrorKind::BrokenPipe => Ok(None),
        Err(e) => Err(diagnostic::unwritable(&place, e)),
        Ok(counted) => Ok(Some((counted, place))),
    }
}

fn not_one(e: &NotOneModel, context: Option<&str>) -> Diagnostic {
    let tried = match context {
        Some(context) => format!("counting the uses of experts in context {context:?}"),
        None => "counting the uses of experts".to_owned(),
    };
    match e {
        NotOneModel::NoRouters => Diagnostic::new(
            tried,
            "the recording has no expert selections",
            "record a mixture-of-experts model with the level `expert` (`--levels token,graph,op,expert`)",
        ),
        NotOneModel::Unnumbered(weights) => Diagnostic::new(
            tried,
            format!("the name of the weights {weights:?} contains no layer number"),
            "use experts.parquet of `analyze RECORDING`: it has the selections per node",
        ),
        NotOneModel::Several(models) => {
            let each: Vec<String> = models
                .iter()
                .map(|(pid, context)| {
                    format!("{} of process {pid}", context.as_deref().unwrap_or("no context"))
                })
                .collect();
            Diagnostic::new(
                tried,
                format!("the recording has several models; their first contexts are {}", each.join(", ")),
                "name one context with --context",
            )
        }
    }
}
