//! The property: *decoded ⊆ sent, and everything missing is accounted for as dropped, damaged or
//! cut short*.

use std::collections::HashSet;

use profinfer_analysis::Analysis;
use profinfer_trace::decode::{Damage, DamageKind, Decoder, Found, OpenError};
use profinfer_trace::ingest::Ingest;
use profinfer_views as views;
use profinfer_wire::frame::MAX_PAYLOAD;

use crate::session::Sent;

/// Reads what arrives, and compares every record with the sent one.
pub(crate) struct Reader<'a> {
    sent: &'a Sent,
    pub(crate) decoder: Decoder,
    ingest: Ingest,
    arrived: HashSet<u32>,
    /// Frames that the decoder reports as missing.
    gaps: u64,
    /// Damage that is not a gap, and repeated frames.
    pub(crate) damaged: u64,
    refused: Option<OpenError>,
    wrong: Option<String>,
}

/// The result of a stream, in frames and spans.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    pub(crate) sent: u64,
    pub(crate) arrived: u64,
    /// Inside a gap of the sequence numbers, counted there.
    pub(crate) gaps: u64,
    /// After the last frame that arrived: the stream is cut short.
    pub(crate) cut: u64,
    pub(crate) refused: u64,
    pub(crate) spans_sent: u64,
    pub(crate) spans_arrived: u64,
    /// Spans that the analysis reports as sent and missing, by the agent's totals.
    pub(crate) spans_accounted: u64,
    pub(crate) damaged: u64,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(sent: &'a Sent) -> Self {
        let (decoder, ingest) = (Decoder::new(), Ingest::new());
        let arrived = HashSet::new();
        Self { sent, decoder, ingest, arrived, gaps: 0, damaged: 0, refused: None, wrong: None }
    }

    /// Reads bytes; none for a reader that was woken without reason.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.with(|decoder, sink| decoder.feed(bytes, sink));
    }

    /// The end record arrived.
    pub(crate) fn ended(&self) -> bool {
        self.ingest.live().ended
    }

    fn with(&mut self, read: impl FnOnce(&mut Decoder, &mut dyn FnMut(Found<'_>)) -> Result<(), OpenError>) {
        if self.refused.is_some() {
            return;
        }
        let Self { sent, decoder, ingest, arrived, gaps, damaged, wrong, .. } = self;
        let done = read(decoder, &mut |found| {
            match &found {
                Found::Record { seq, record, .. } => {
                    let mut payload = [0; MAX_PAYLOAD];
                    let accounted = sent.frames.get(*seq as usize).map(|f| (f.kind, &f.payload[..]));
                    if accounted != record.encode(&mut payload).map(|p| (record.kind(), p)) {
                        wrong.get_or_insert(format!("frame {seq} was not sent so: {record:?}"));
                    }
                    if !arrived.insert(*seq) {
                        wrong.get_or_insert(format!("frame {seq} counts twice"));
                    }
                }
                Found::Damage(Damage { kind: DamageKind::Gap, count, .. }) => *gaps += count,
                Found::Damage(_) => *damaged += 1,
                Found::Hello(_) | Found::Cut { .. } => {}
            }
            ingest.found(&found);
        });
        self.refused = done.err();
    }

    /// The stream is over: its result, or the violation of the property.
    pub(crate) fn finish(mut self, hello_hit: bool, touched: bool) -> Result<Outcome, String> {
        self.with(|decoder, sink| decoder.finish(sink));
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        let count = |n: usize| n as u64;
        let (sent, arrived) = (count(self.sent.frames.len()), count(self.arrived.len()));
        let spans_sent = self.sent.spans();
        if let Some(e) = self.refused {
            // Reported to the user as an error: the stream is not used.
            let outcome = Outcome { sent, refused: sent, spans_sent, ..Outcome::default() };
            return if hello_hit { Ok(outcome) } else { Err(format!("refused with an intact hello: {e}")) };
        }
        let after = self.arrived.iter().max().map_or(0, |last| u64::from(*last) + 1);
        let cut = sent - after;
        if arrived + self.gaps + cut != sent {
            let gaps = self.gaps;
            return Err(format!(
                "{sent} frames sent, {arrived} arrived, {gaps} in gaps, {cut} after the last"
            ));
        }
        let model = self.ingest.finish();
        let analysis = Analysis::compute(&model);
        let health = &analysis.health;
        let spans: u64 =
            self.arrived.iter().filter_map(|s| self.sent.frames.get(*s as usize)).map(|f| f.spans).sum();
        if health.spans.received != spans {
            return Err(format!("{} spans are counted, {spans} arrived", health.spans.received));
        }
        if model.health.cut_short() != (cut > 0) {
            return Err(format!(
                "{cut} frames are after the last one; cut short: {}",
                model.health.cut_short()
            ));
        }
        if arrived < sent && (health.perfect || health.remarks.is_empty()) {
            return Err(format!("{arrived} of {sent} frames arrived, but health has no remark"));
        }
        if !touched && !health.perfect {
            return Err(format!("no fault, but health has {:?}", health.remarks));
        }
        // Negative where spans came after the last totals of a cut stream.
        let accounted = health.spans.unaccounted.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        if cut == 0 && (spans + accounted != spans_sent || health.spans.kernel != Some(spans_sent)) {
            return Err(format!("{spans_sent} spans sent, {spans} arrived, {accounted} accounted for"));
        }
        let mut text = Vec::new();
        views::terminal::terminal(&model, &analysis, &mut text).map_err(|e| e.to_string())?;
        Ok(Outcome {
            sent,
            arrived,
            gaps: self.gaps,
            cut,
            refused: 0,
            spans_sent,
            spans_arrived: spans,
            spans_accounted: accounted,
            damaged: self.damaged,
        })
    }
}
