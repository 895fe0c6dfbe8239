//! `backends.json`: operators by shape on the backends of several recordings.

use super::Publish;
use profinfer_analysis::accelerator;

fields! {
    accelerator::SeveralRow => SeveralRow { shapes, backends }
    accelerator::InRecording => InRecording { recording, on }
}
