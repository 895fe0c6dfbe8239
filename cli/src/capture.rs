//! The capture options: `--full`, `--duty`, `--ends`, `--only-…`.

use clap::Args;
use profinfer_wire::options;
use profinfer_wire::record::capture::{ALWAYS, CaptureRequest, Ends};
use profinfer_wire::record::filter::{FilterOn, FilterRequest};

/// Default of `--max-slowdown`, millionths.
const SLOWDOWN: u32 = 30_000;

/// The capture options. Without any, the agent captures the operators of as many calls as the
/// default limit for the slowdown allows.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Operator capture")]
pub struct CaptureArgs {
    /// Probe start and end of each operator, or only its start (`none`)
    ///
    /// `none` halves the overhead. The time of an operator then includes the wait after it.
    #[arg(long, value_name = "WHICH", value_parser = ["both", "none"])]
    ends: Option<String>,
    /// Limit the slowdown of decode by operator probes, for example 1% [default: 3%]
    ///
    /// The agent captures the operators of as many `llama_decode` calls as the limit allows, in
    /// bursts from the first call on, and of all prompts. The other calls run without operator
    /// probes. The limit holds over 256 calls or more. There is no default with --full, --duty,
    /// --tokens or --requests.
    #[arg(long, value_name = "SHARE", value_parser = options::slowdown)]
    max_slowdown: Option<u32>,
    /// Capture the operators of all calls, whatever that costs; the same as --duty 100%
    #[arg(long, conflicts_with_all = ["duty", "max_slowdown"])]
    full: bool,
    /// Capture the operators of this share of the `llama_decode` calls, for example 10%
    ///
    /// Instead of the share that a limit allows. Together with --max-slowdown: at most this share.
    #[arg(long, value_name = "SHARE", value_parser = options::duty)]
    duty: Option<u16>,
    /// Capture fewer operators while decode is slower than this, for example 5t/s
    #[arg(long, value_name = "SPEED", value_parser = options::speed)]
    keep_above: Option<u32>,
    /// Capture only operators of these types, for example MUL_MAT,ROPE
    #[arg(long, value_name = "TYPES", value_parser = |t: &str| text(FilterOn::Op, t))]
    only_op: Option<String>,
    /// Capture only nodes whose name matches, for example 'ffn_*,l_out-?'
    #[arg(long, value_name = "PATTERNS", value_parser = |t: &str| text(FilterOn::Name, t))]
    only_name: Option<String>,
    /// Capture only nodes of these layers, for example 0-3,10
    #[arg(long, value_name = "LAYERS", value_parser = |t: &str| text(FilterOn::Layer, t))]
    only_layers: Option<String>,
    /// Capture only some threads of each graph: `first`, the first N, or tid:17,18
    #[arg(long, value_name = "THREADS", value_parser = |t: &str| text(FilterOn::Thread, t))]
    only_threads: Option<String>,
    /// Capture only these decode calls of each engine, counted from 1, for example 100-200
    #[arg(long, value_name = "NUMBERS", value_parser = |t: &str| text(FilterOn::Token, t))]
    tokens: Option<String>,
    /// Capture only these requests of each engine, counted from 1, for example 3-5
    #[arg(long, value_name = "NUMBERS", value_parser = |t: &str| text(FilterOn::Request, t))]
    requests: Option<String>,
}

fn text(on: FilterOn, text: &str) -> Result<String, &'static str> {
    options::filter(on, text).map(|()| text.to_owned())
}

impl CaptureArgs {
    /// The request for the agent. `None` for everything: an older agent does not know the request,
    /// and needs none.
    #[must_use]
    pub fn request(&self) -> Option<CaptureRequest> {
        let request = CaptureRequest {
            duty_permille: self.duty.unwrap_or(ALWAYS),
            ends: if self.ends.as_deref() == Some("none") { Ends::None } else { Ends::Both },
            keep_above_milli: self.keep_above.unwrap_or(0),
            max_slowdown_ppm: self.max_slowdown.or(self.default_slowdown()).unwrap_or(0),
        };
        let nothing = CaptureRequest {
            duty_permille: ALWAYS,
            ends: Ends::Both,
            keep_above_milli: 0,
            max_slowdown_ppm: 0,
        };
        (request != nothing).then_some(request)
    }

    /// The limit where no option selects the calls whose operators are captured.
    fn default_slowdown(&self) -> Option<u32> {
        let selected = self.full || self.duty.is_some() || self.tokens.is_some() || self.requests.is_some();
        (!selected).then_some(SLOWDOWN)
    }

    /// The filter requests, at most one for each property.
    pub fn filters(&self) -> impl Iterator<Item = FilterRequest<'_>> {
        let filters = [
            (FilterOn::Op, &self.only_op),
            (FilterOn::Name, &self.only_name),
            (FilterOn::Layer, &self.only_layers),
            (FilterOn::Thread, &self.only_threads),
            (FilterOn::Token, &self.tokens),
            (FilterOn::Request, &self.requests),
        ];
        filters.into_iter().filter_map(|(on, text)| Some(FilterRequest { on, text: text.as_deref()? }))
    }
}
