//! A row for each rule's verdict.

use profinfer_schema::{Finding, NotKnown, RuledOut, Summary};

use super::column::{Cell, Column, columns, name};

/// A verdict of any kind.
pub(super) struct Verdict<'a> {
    /// The list in which it stands.
    list: &'static str,
    code: &'a str,
    sentence: &'a str,
    /// Of a finding, the rest.
    finding: Option<&'a Finding>,
}

/// The columns, after the keys.
pub(super) const COLUMNS: &[Column<Verdict<'_>>] = columns! { |v: Verdict<'_>|
    verdict: String = v.list,
    code: String = v.code,
    title: String = v.finding.map(|f| &*f.title),
    sentence: String = v.sentence,
    confidence: String = v.finding.and_then(|f| name(&f.confidence)),
    gain_of: String = v.finding.and_then(|f| name(&f.gain.as_ref()?.of)),
    gain_low_ns: i64 = v.finding.and_then(|f| Some(f.gain.as_ref()?.low_ns)),
    gain_high_ns: i64 = v.finding.and_then(|f| Some(f.gain.as_ref()?.high_ns)),
    remedy: String = v.finding.and_then(remedy),
};

pub(super) fn rows(summary: &Summary) -> Vec<Vec<Cell>> {
    let findings = &summary.findings;
    let found = findings.found.iter().map(|f| {
        let Finding { code, sentence, .. } = f;
        Verdict { list: "found", code, sentence, finding: Some(f) }
    });
    let of = |list: &'static str| {
        move |RuledOut { code, sentence, .. }: _| Verdict { list, code, sentence, finding: None }
    };
    let not_known = findings.not_known.iter().map(|NotKnown { code, sentence, .. }| Verdict {
        list: "not_known",
        code,
        sentence,
        finding: None,
    });
    let ruled_out = findings.ruled_out.iter().map(of("ruled_out"));
    let noisy = findings.noisy.iter().map(of("noisy"));
    let all = found.chain(ruled_out).chain(noisy).chain(not_known);
    all.map(|verdict| COLUMNS.iter().map(|c| (c.of)(&verdict)).collect()).collect()
}

/// The kind of the remedy.
fn remedy(finding: &Finding) -> Option<String> {
    let remedy = serde_json::to_value(&finding.remedy).ok()?;
    Some(remedy.get("kind")?.as_str()?.to_owned())
}
