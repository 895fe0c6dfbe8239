//! The result of a capture in pieces (`--rotate`): of all pieces, or of the last one and the ladder of
//! all, so that its memory does not grow with the session.

use std::path::{Path, PathBuf};

use super::{Input, files, print_messages, size, unopened};
use crate::capture::interrupts;
use crate::capture::rotate::{self, Source};
use crate::{Diagnostic, Result};
use profinfer_analysis::ladder::LadderSums;
use profinfer_trace::model::Model;

/// Limit for joining pieces after a capture, bytes. The tables take about 20 times that size in
/// memory.
pub(super) const JOINED_AT_MOST: u64 = 64 << 20;

/// All pieces of a folder if they have at most `most` bytes, else the last one.
pub(super) fn read(folder: &Path, most: u64) -> Result<Input> {
    let mut source = rotate::of(&[folder.to_owned()]).map_err(unopened)?;
    // By number, which has more than four digits after 9,999 pieces.
    source.paths.sort_by(|a, b| (a.as_os_str().len(), a).cmp(&(b.as_os_str().len(), b)));
    let (recording, bytes) = (source.paths.clone(), size(&source.paths));
    if bytes <= most || profinfer_scratch::has_begun() {
        return Ok(Input::new(files(&source)?, recording));
    }
    let mut messages = Vec::new();
    let mut say = |message: String| {
        print_messages(std::slice::from_ref(&message));
        messages.push(message);
    };
    let before = source.paths.drain(..recording.len() - 1).collect::<Vec<_>>();
    say(format!(
        "{} pieces, {:.0} MB: the report covers only the last one, and its ladder of all pieces reads one after the other; \
         `analyze {}` reads all, `analyze PIECE...` some",
        recording.len(),
        bytes as f64 / 1e6,
        folder.display(),
    ));
    let mut ladders = ladders(before, &mut say);
    let model = files(&source)?;
    add(&model, &mut ladders);
    Ok(Input { model, recording, reported: source.paths, ladders: Some(ladders), messages, link: None })
}

/// The ladders of these pieces. A further request to stop ends it: an hour of recording may take
/// minutes.
fn ladders(paths: Vec<PathBuf>, say: &mut impl FnMut(String)) -> LadderSums {
    let (mut sums, asked, n) = (LadderSums::default(), interrupts::asked(), paths.len());
    for (i, path) in paths.into_iter().enumerate() {
        if interrupts::asked() > asked {
            say(format!("stopped: the ladder of all pieces lacks {} of them", n - i));
            break;
        }
        match files(&Source { paths: vec![path] }) {
            Ok(model) => add(&model, &mut sums),
            Err(Diagnostic { tried, answer, .. }) => {
                say(format!("{tried}: {answer}; the ladder of all pieces lacks this one"));
            }
        }
    }
    sums
}

/// Engines are apart, as in their reports.
fn add(model: &Model, ladders: &mut LadderSums) {
    match &model.engines()[..] {
        [] => {}
        [_] => ladders.add_model(model),
        engines => engines.iter().for_each(|pid| ladders.add_model(&model.only(*pid))),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;
    use crate::capture::rotate::{Limit, Pieces};
    use crate::sample::stream;
    use profinfer_analysis::ladder::{LadderSum, Question};
    use profinfer_trace::decode::Decoder;
    use profinfer_trace::ingest::Ingest;

    /// Writes a stream in pieces.
    fn write(stream: &[u8], folder: &Path) {
        let mut pieces = Pieces::new(folder.to_owned(), vec![Limit::Bytes(20 << 10)]);
        let mut file = File::create(pieces.path()).unwrap();
        let (mut decoder, ingest) = (Decoder::new(), Ingest::new());
        for part in stream.split_inclusive(|b| *b == 0) {
            decoder.feed(part, &mut |found| pieces.see(&found)).unwrap();
            file.write_all(part).unwrap();
            if pieces.full(part.len() as u64) && part.last() == Some(&0) {
                pieces.next(&mut file, decoder.next_seq(), &ingest.live()).unwrap();
            }
        }
    }

    /// Ends of the calls of single tokens, ns.
    fn ends(model: &Model) -> Vec<u64> {
        let calls = &model.llama_calls;
        let single = (0..calls.len()).filter(|i| calls.n_tokens[*i] == 1);
        single.map(|i| calls.start_ns[i] + calls.duration_ns[i]).collect()
    }

    #[test]
    fn a_large_recording_has_the_ladders_of_all_pieces() {
        let folder = tempfile::tempdir().unwrap();
        write(&stream(), folder.path());
        let input = read(folder.path(), 0).unwrap();
        let n = input.recording.len();
        assert!(n >= 3 && input.reported == input.recording[n - 1..], "{:?}", input.recording);
        let (mut parts, mut units, mut measured_ns, mut all) = (0_u64, 0_u64, 0_u64, 0);
        for path in &input.recording {
            let piece = files(&Source { paths: vec![path.clone()] }).unwrap();
            all += ends(&piece).len();
            let calls = &piece.llama_calls;
            let end = |i: usize| calls.start_ns[i] + calls.duration_ns[i];
            // A token begins with the end of the call before, which for the first call of a piece is in another one.
            let tokens: Vec<usize> = (1..calls.len()).filter(|i| calls.n_tokens[*i] == 1).collect();
            (parts, units) = (parts + u64::from(!tokens.is_empty()), units + tokens.len() as u64);
            measured_ns += tokens.iter().map(|i| end(*i) - end(i - 1)).sum::<u64>();
        }
        let whole = profinfer_trace::read(&stream()).unwrap();
        assert_eq!(all, ends(&whole).len());
        let pid = whole.engines()[0];
        let (question, sum) = input.ladders.as_ref().unwrap().of(pid).swap_remove(0);
        assert_eq!(question, Question::Decode);
        assert_eq!((sum.parts, sum.units, sum.measured_ns), (parts, units, measured_ns));
        assert_eq!(sum.steps().iter().map(|(_, ns)| ns).sum::<u64>(), measured_ns);
        // The steps are those of the complete recording, but for the tokens that are left out and for
        // what the replay learns from so few tokens.
        let mut all = LadderSums::default();
        all.add_model(&whole);
        let (_, whole) = all.of(pid).swap_remove(0);
        let share = |sum: &LadderSum, kind| {
            let step = sum.steps().into_iter().find(|(k, _)| *k == kind);
            step.map_or(0.0, |(_, ns)| ns as f64 / sum.measured_ns as f64)
        };
        for (kind, _) in whole.steps().into_iter().chain(sum.steps()) {
            let (of_whole, of_pieces) = (share(&whole, kind), share(&sum, kind));
            assert!((of_whole - of_pieces).abs() < 0.1, "{kind:?}: {of_whole} {of_pieces}");
        }
    }

    #[test]
    fn a_small_recording_is_joined() {
        let folder = tempfile::tempdir().unwrap();
        write(&stream(), folder.path());
        let input = read(folder.path(), JOINED_AT_MOST).unwrap();
        assert!(input.ladders.is_none() && input.reported == input.recording && input.recording.len() > 1);
        assert_eq!(ends(&input.model), ends(&profinfer_trace::read(&stream()).unwrap()));
    }

    #[test]
    fn a_piece_that_cannot_be_read_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        write(&stream(), folder.path());
        std::fs::write(folder.path().join("recording-0002.pfi"), "no recording").unwrap();
        let input = read(folder.path(), 0).unwrap();
        assert!(input.messages[1].contains("recording-0002.pfi"), "{:?}", input.messages);
        assert!(input.ladders.unwrap().latest().is_some());
    }
}
