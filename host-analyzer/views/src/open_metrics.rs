//! Totals of a running session as OpenMetrics text, which Prometheus reads.
//!
//! Names and units: docs/output-schema.md. Counters count from the start of the session. A new session
//! starts at 0, which readers of counters treat as a restart.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use profinfer_trace::model::meter::{Batch, LIMITS_NS, Meter};
use profinfer_trace::model::totals::{Lost, Totals};
use profinfer_trace::model::{GaugeKind, GaugeUnit};

/// Media type of the text.
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The metrics as text.
///
/// # Errors
/// None: a `String` accepts everything.
pub fn text(meter: Meter) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("profinfer");
    registry.register_collector(Box::new(Arc::new(Metered(meter))));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct Metered(Meter);

/// Labels of one series.
type Labels<'a> = [(&'static str, &'a str)];

impl Collector for Metered {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (Self(meter), out) = (self, &mut encoder);
        about(meter, out)?;
        calls(meter, out)?;
        let n = |value: &u64, out: MetricEncoder<'_>| ConstCounter::new(*value).encode(out);
        counters(
            out,
            "token_calls_failed",
            "Decode calls that returned an error",
            None,
            &[(&[], meter.failed)],
            n,
        )?;
        counters(out, "graph_calls", "Computed graphs", None, &[(&[], meter.graph_calls)], n)?;
        let seconds =
            |value: &u64, out: MetricEncoder<'_>| ConstCounter::new(*value as f64 / 1e9).encode(out);
        let help = "Time spent computing graphs";
        counters(out, "graph", help, Some(&Unit::Seconds), &[(&[], meter.graph_ns)], seconds)?;
        let received: [(&Labels<'_>, u64); 3] = [
            (&[("what", "operator spans")], meter.spans),
            (&[("what", "nested calls")], meter.nested),
            (&[("what", "scheduler events")], meter.sched),
        ];
        counters(out, "received", "Received events", None, &received, n)?;
        counters(
            out,
            "stream",
            "Received bytes of the stream",
            Some(&Unit::Bytes),
            &[(&[], meter.bytes)],
            n,
        )?;
        let help = "Damaged or missing pieces of the stream";
        counters(out, "damaged", help, None, &[(&[], meter.damaged)], n)?;
        lost(meter, out)?;
        gauges(meter, out)
    }
}

fn about(meter: &Meter, out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let about = &meter.about;
    let labels = [
        ("board", about.board.as_str()),
        ("machine", &about.machine),
        ("cpu_model", &about.cpu_model),
        ("kernel", &about.kernel),
        ("agent", &about.agent),
    ];
    let help = "The session";
    Info::new(labels.map(|(name, value)| (name, value.to_owned()))).encode(out.encode_descriptor(
        "session",
        help,
        None,
        MetricType::Info,
    )?)?;
    if about.start_unix_ns > 0 {
        let gauge = ConstGauge::new(about.start_unix_ns as f64 / 1e9);
        let help = "Start of the session, since 1970";
        let unit = Some(&Unit::Seconds);
        gauge.encode(out.encode_descriptor("session_start_time", help, unit, MetricType::Gauge)?)?;
    }
    Ok(())
}

fn calls(meter: &Meter, out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let of = |batch: Batch| &meter.calls[batch as usize];
    let labels = Batch::ALL.map(|batch| [("batch", batch.name())]);
    let tokens: Vec<(&Labels<'_>, u64)> =
        Batch::ALL.iter().zip(&labels).map(|(batch, labels)| (&labels[..], of(*batch).tokens)).collect();
    let help = "Computed tokens, by the number per call: one to continue a text, several for a prompt or for several texts at once";
    counters(out, "tokens", help, None, &tokens, |n, out| ConstCounter::new(*n).encode(out))?;
    let help = "Time of decode calls, by the number of tokens per call";
    let mut family =
        out.encode_descriptor("token_call", help, Some(&Unit::Seconds), MetricType::Histogram)?;
    for (batch, labels) in Batch::ALL.into_iter().zip(labels) {
        let calls = of(batch);
        let longer = calls.calls - calls.by_duration.iter().sum::<u64>();
        let limits = LIMITS_NS.map(|ns| ns as f64 / 1e9);
        let buckets: Vec<_> =
            limits.into_iter().zip(calls.by_duration).chain([(f64::INFINITY, longer)]).collect();
        family.encode_family(&&labels[..])?.encode_histogram::<NoLabelSet>(
            calls.ns as f64 / 1e9,
            calls.calls,
            &buckets,
            None,
        )?;
    }
    Ok(())
}

fn lost(meter: &Meter, out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let mut rows: Vec<(&'static str, &'static str, u64)> = Vec::new();
    add(&mut rows, "operator spans", meter.ledger.as_ref());
    add(&mut rows, "nested calls", meter.nested_ledger.as_ref());
    add(&mut rows, "scheduler events", meter.sched_ledger.as_ref());
    add(&mut rows, "windows of the CPUs' use", meter.cpu_use_ledger.as_ref());
    add(&mut rows, "selections of experts", meter.expert_ledger.as_ref());
    add(&mut rows, "parts of batches", meter.part_ledger.as_ref());
    let labels: Vec<[(&'static str, &str); 2]> =
        rows.iter().map(|(of, reason, _)| [("of", *of), ("reason", *reason)]).collect();
    let lost: Vec<(&Labels<'_>, u64)> =
        rows.iter().zip(&labels).map(|((.., n), labels)| (&labels[..], *n)).collect();
    let help = "Losses at the source, by reason";
    counters(out, "lost", help, None, &lost, |n, out| ConstCounter::new(*n).encode(out))
}

/// The losses of a ledger; `own` is the name of its events.
fn add<L: Totals>(rows: &mut Vec<(&'static str, &'static str, u64)>, own: &'static str, ledger: Option<&L>) {
    let losses = ledger.into_iter().flat_map(Totals::losses);
    rows.extend(losses.map(|(reason, n, _)| match reason.what {
        Lost::Events => (own, reason.key, n),
        Lost::Other(what) => (what, reason.key, n),
    }));
}

fn gauges(meter: &Meter, out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let of = |kind: GaugeKind, unit: GaugeUnit| {
        let fits =
            move |(_, r): &(&u16, &profinfer_trace::model::meter::Reading)| (r.kind, r.unit) == (kind, unit);
        meter.gauges.iter().filter(fits).filter_map(|(_, r)| Some(([("sensor", r.name.as_str())], r.value?)))
    };
    let hertz = Unit::Other("hertz".to_owned());
    let watts = Unit::Other("watts".to_owned());
    let ratio = Unit::Other("ratio".to_owned());
    let kinds = [
        (GaugeKind::Frequency, GaugeUnit::Hertz, "frequency", "Clock", &hertz, 1.0),
        (GaugeKind::Temperature, GaugeUnit::Millidegrees, "temperature", "Temperature", &Unit::Celsius, 1e3),
        (GaugeKind::Load, GaugeUnit::Percent, "load", "Utilization of a device", &ratio, 1e2),
        (GaugeKind::Power, GaugeUnit::Microwatts, "power", "Electrical power", &watts, 1e6),
    ];
    for (kind, unit, name, help, suffix, per) in kinds {
        if of(kind, unit).next().is_none() {
            continue;
        }
        let mut family = out.encode_descriptor(name, help, Some(suffix), MetricType::Gauge)?;
        for (labels, value) in of(kind, unit) {
            ConstGauge::new(value as f64 / per).encode(family.encode_family(&&labels[..])?)?;
        }
    }
    let traffic: Vec<_> = of(GaugeKind::Ddr, GaugeUnit::Bytes).collect();
    let traffic: Vec<(&Labels<'_>, u64)> =
        traffic.iter().map(|(labels, n)| (&labels[..], u64::try_from(*n).unwrap_or(0))).collect();
    let help = "Memory traffic";
    counters(out, "memory_traffic", help, Some(&Unit::Bytes), &traffic, |n, out| {
        ConstCounter::new(*n).encode(out)
    })
}

/// A family of counters, left out if it is empty.
fn counters(
    out: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<&Unit>,
    series: &[(&Labels<'_>, u64)],
    encode: impl Fn(&u64, MetricEncoder<'_>) -> fmt::Result,
) -> fmt::Result {
    if series.is_empty() {
        return Ok(());
    }
    let mut family = out.encode_descriptor(name, help, unit, MetricType::Counter)?;
    if let [([], value)] = series {
        return encode(value, family);
    }
    series.iter().try_for_each(|(labels, value)| encode(value, family.encode_family(labels)?))
}
