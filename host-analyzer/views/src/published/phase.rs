//! Phases of decode calls.

use super::Publish;
use profinfer_analysis::phase;

names! {
    phase::Phase => Phase { Prefill, Decode, BatchDecode, Draft, WarmUp, Encode, Unknown }
    phase::Evidence => PhaseBy { Logits, Positions, Contexts, Tokens }
}
