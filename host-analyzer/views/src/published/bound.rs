//! `operators[].bound`: what an operator is bound by.

use super::Publish;
use profinfer_analysis::bound;
use profinfer_schema as schema;

fields! {
    bound::Bound => Bound { by, confidence, evidence }
}

names! {
    bound::Kind => BoundBy { Memory, Compute, Synchronisation, Interference, Io, Dispatch, Unknown }
    bound::Confidence => Confidence { Low, Medium, High }
}

impl Publish for bound::Evidence {
    type Form = schema::BoundEvidence;

    fn publish(&self) -> Self::Form {
        use schema::BoundEvidenceKind as Kind;
        let kind = match self {
            Self::Bandwidth { .. } => Kind::Bandwidth,
            Self::Arithmetic { .. } => Kind::Arithmetic,
            Self::Intensity { .. } => Kind::Intensity,
            Self::Waited { .. } => Kind::Waited,
            Self::BackendStalls { .. } => Kind::BackendStalls,
            Self::Refills { .. } => Kind::Refills,
            Self::Ipc { .. } => Kind::Ipc,
            Self::MajorFaults { .. } => Kind::MajorFaults,
            Self::Disturbed { .. } => Kind::Disturbed,
            Self::Tiny { .. } => Kind::Tiny,
        };
        let (value, against, share) = self.numbers();
        schema::BoundEvidence { kind, value, against, share }
    }
}
