//! What to capture of the operators, as the agent is asked for it.

use profinfer_cli::CaptureArgs;
use profinfer_wire::record::Record;

/// The requests to send; none where nothing is asked for, so that an older agent does what it always did.
pub(crate) fn requests(args: &CaptureArgs) -> impl Iterator<Item = Record<'_>> {
    let filters = args.filters().map(Record::FilterRequest);
    args.request().map(Record::CaptureRequest).into_iter().chain(filters)
}
