//! A row for each rule's verdict.

use profinfer_schema::{Finding, Summary};

use super::column::{Cell, Column, columns, name};

/// A verdict of any kind.
pub(super) struct Verdict {
    /// The list in which it stands.
    list: &'static str,
    code: String,
    sentence: String,
    /// Of a finding, the rest.
    finding: Option<Finding>,
}

/// The columns, after the keys.
pub(super) const COLUMNS: &[Column<Verdict>] = columns! { |v: Verdict|
    verdict: String = v.list,
    code: String = v.code,
    title: String = v.finding.as_ref().map(|f| &*f.title),
    sentence: String = v.sentence,
    confidence: String = v.finding.as_ref().and_then(|f| name(&f.confidence)),
    gain_of: String = v.finding.as_ref().and_then(|f| name(&f.gain.as_ref()?.of)),
    gain_low_ns: i64 = v.finding.as_ref().and_then(|f| Some(f.gain.as_ref()?.low_ns)),
    gain_high_ns: i64 = v.finding.as_ref().and_then(|f| Some(f.gain.as_ref()?.high_ns)),
    remedy: String = v.finding.as_ref().and_then(remedy),
};

pub(super) fn rows(summary: &Summary) -> Vec<Vec<Cell>> {
    let findings = &summary.findings;
    let verdict = |list, code: &str, sentence: &str, finding: Option<&Finding>| {
        let (code, sentence) = (code.to_owned(), sentence.to_owned());
        Verdict { list, code, sentence, finding: finding.cloned() }
    };
    let found = findings.found.iter().map(|f| verdict("found", &f.code, &f.sentence, Some(f)));
    let ruled_out = findings.ruled_out.iter().map(|r| verdict("ruled_out", &r.code, &r.sentence, None));
    let noisy = findings.noisy.iter().map(|r| verdict("noisy", &r.code, &r.sentence, None));
    let not_known = findings.not_known.iter().map(|r| verdict("not_known", &r.code, &r.sentence, None));
    let all = found.chain(ruled_out).chain(noisy).chain(not_known);
    all.map(|verdict| COLUMNS.iter().map(|c| (c.of)(&verdict)).collect()).collect()
}

/// The kind of the remedy.
fn remedy(finding: &Finding) -> Option<String> {
    let remedy = serde_json::to_value(&finding.remedy).ok()?;
    Some(remedy.get("kind")?.as_str()?.to_owned())
}
