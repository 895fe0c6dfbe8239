//! Requests for the capture of operators.

use profinfer_cli::CaptureArgs;
use profinfer_wire::record::Record;

/// The requests to send.
pub(crate) fn requests(args: &CaptureArgs) -> impl Iterator<Item = Record<'_>> {
    let filters = args.filters().map(Record::FilterRequest);
    args.request().map(Record::CaptureRequest).into_iter().chain(filters)
}
