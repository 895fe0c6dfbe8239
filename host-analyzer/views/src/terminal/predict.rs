//! A prediction on the terminal: the speed, the parts of a token's time, other rules' predictions.

use std::io::{self, Write};

use super::style::{Colour, Sheet, table, wrapped, write_table};
use crate::predict::{Answer, Names};
use crate::words::{ceiling, predict as words, size};
use profinfer_analysis::predict::{Peers, Prediction};

/// Writes the prediction in at most `width` columns.
///
/// # Errors
/// Those of `out`.
pub fn predict(answer: &Answer, names: &Names, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut Sheet::new(out, width);
    let colour = if matches!(answer, Answer::Predicted(_)) { Colour::Good } else { Colour::Warn };
    for (i, sentence) in words::words(answer).iter().enumerate() {
        for line in wrapped(sentence, out.width()) {
            writeln!(out, "{}", if i == 0 { colour.paint(&line) } else { line })?;
        }
    }
    if let Answer::Predicted(p) = answer {
        parts(p, out)?;
        others(&p.peers, p, out)?;
        left_out(p, names, out)?;
    }
    out.left_out()
}

fn parts(p: &Prediction, out: &mut Sheet<'_>) -> io::Result<()> {
    let estimate = &p.decode.estimate;
    let all = estimate.ns();
    writeln!(out)?;
    let mut t = table(&["time per token", "nodes", "reads", "rate", "time", "share"]);
    for (dtype, of) in &estimate.types {
        let [time, share] = words::part(of.ns, all);
        let name = if of.unseen { format!("{dtype} (not measured)") } else { dtype.clone() };
        let rate = ceiling((of.bytes as f64 * 1e9 / of.ns.max(1.0)) as u64, "bytes_per_s");
        t.add_row([name, of.nodes.to_string(), size(of.bytes), rate, time, share]);
    }
    let mut row = |name: &str, nodes: String, reads: String, ns: f64| {
        let [time, share] = words::part(ns, all);
        t.add_row([name.to_owned(), nodes, reads, String::new(), time, share]);
    };
    row("attention", String::new(), size(p.census.cache_bytes), estimate.attention_ns);
    row("other operators", String::new(), String::new(), estimate.others_ns);
    row("between operators", format!("{:.0}", estimate.nodes), String::new(), estimate.between_ns);
    write_table(&mut t, out)
}

fn others(peers: &Peers, p: &Prediction, out: &mut Sheet<'_>) -> io::Result<()> {
    writeln!(out)?;
    let mut t = table(&["other rule", "t/s", "ratio"]);
    let rows = [
        ("one bandwidth for all", peers.one_parameter_ns),
        ("llmfit", Some(peers.llmfit_ns)),
        ("gguf-parser-go", peers.gguf_parser_ns),
    ];
    for (name, ns) in rows {
        let cells =
            ns.map(|ns| 1e9 / ns.max(1.0)).map(|v| [words::speed(v), format!("{:.2}", v / p.decode_per_s())]);
        let [speed, ratio] = cells.unwrap_or_else(|| ["no peak rates".to_owned(), "–".to_owned()]);
        t.add_row([name.to_owned(), speed, ratio]);
    }
    write_table(&mut t, out)
}

fn left_out(p: &Prediction, names: &Names, out: &mut Sheet<'_>) -> io::Result<()> {
    if p.left_out.len() < 2 {
        return Ok(());
    }
    writeln!(out)?;
    let mut t = table(&["recording, predicted from the others", "decode", "prompt", "one bandwidth"]);
    let share =
        |e: Option<f64>| e.map_or_else(|| "–".to_owned(), |e| format!("{:+.1} %", e.exp_m1() * 100.0));
    for (row, name) in p.left_out.iter().zip(&names.recordings) {
        let name = crate::words::one_line(name.rsplit('/').next().unwrap_or(name));
        let name = super::style::cut(&name, 30);
        let name = if row.unseen { format!("{name} (new type)") } else { name };
        t.add_row([name, share(row.decode), share(row.prefill), share(row.one_parameter)]);
    }
    write_table(&mut t, out)
}
