//! Evidence of findings.

use super::Publish;
use crate::words::evidence;
use profinfer_analysis::findings;
use profinfer_schema as schema;

names! {
    findings::Place => Place {
        Budget, Timeline, Threads, Interference, Operators, Roofline, Tokens, Gauges, Conditions,
        Weights, Experts, Requests, Context, Speculative, Graphs,
    }
}

impl Publish for findings::Evidence {
    type Form = schema::Evidence;

    fn publish(&self) -> Self::Form {
        use findings::Value;
        use schema::EvidenceValue as Published;
        use schema::Unit;
        let (name, text) = (evidence::name(self), evidence::text(self));
        let Self { key, value, per, place } = self;
        let (unit, value) = match value {
            Value::Nanoseconds(ns) => (Unit::Nanoseconds, Published::Whole(*ns)),
            Value::Bytes(bytes) => (Unit::Bytes, Published::Whole(*bytes)),
            Value::Count(n) => (Unit::Count, Published::Whole(*n)),
            Value::Mean(mean) => (Unit::Mean, Published::Float(*mean)),
            Value::Share(share) => (Unit::Share, Published::Float(*share)),
            Value::BytesPerSecond(rate) => (Unit::BytesPerSecond, Published::Float(*rate)),
            Value::Hertz(hertz) => (Unit::Hertz, Published::Whole(*hertz)),
            Value::Millidegrees(degrees) => (Unit::Millidegrees, Published::Signed(*degrees)),
            Value::Cpus(cpus) => (Unit::Cpus, Published::Cpus(cpus.publish())),
            Value::MilliCpus(cpus) => (Unit::MilliCpus, Published::Whole(*cpus)),
            Value::Name(name) => (Unit::Name, Published::Name(name.publish())),
        };
        schema::Evidence {
            key: key.publish(),
            per: per.publish(),
            name,
            text,
            unit,
            value,
            place: place.publish(),
        }
    }
}

impl Publish for findings::Requirement {
    type Form = schema::Missing;

    fn publish(&self) -> Self::Form {
        use schema::MissingKind as Kind;
        let (number, named) = (schema::MissingName::Number, schema::MissingName::Name);
        let (kind, name) = match self {
            Self::Calls(n) => (Kind::Calls, Some(number(*n))),
            Self::TracedCalls(n) => (Kind::TracedCalls, Some(number(*n))),
            Self::Ends => (Kind::Ends, None),
            Self::AllOperators => (Kind::AllOperators, None),
            Self::Cpus => (Kind::Cpus, None),
            Self::Level(name) => (Kind::Level, Some(named(name.publish()))),
            Self::Ceiling(name) | Self::NoCeiling(name, _) => (Kind::Ceiling, Some(named(name.publish()))),
            Self::Fact(name) => (Kind::Fact, Some(named(name.publish()))),
            Self::Counter(name) => (Kind::Counter, Some(named(name.publish()))),
            Self::Gauge(name) => (Kind::Gauge, Some(named(name.publish()))),
            Self::ContextSteps => (Kind::ContextSteps, None),
            Self::Rounds => (Kind::Rounds, None),
            Self::PlainTokens => (Kind::PlainTokens, None),
            Self::Culprit => (Kind::Culprit, None),
            Self::OtherType => (Kind::OtherType, None),
            Self::OtherKvType => (Kind::OtherKvType, None),
            Self::WithoutNeighbours => (Kind::WithoutNeighbours, None),
            Self::WaitsForBackends => (Kind::WaitsForBackends, None),
            Self::StealReadings => (Kind::StealReadings, None),
            Self::Explained => (Kind::Explained, None),
            Self::Interrupts => (Kind::Interrupts, None),
            Self::TextLengths => (Kind::TextLengths, None),
            Self::Prompts => (Kind::Prompts, None),
        };
        let why = match self {
            Self::NoCeiling(_, why) => Some(why.name().to_owned()),
            _ => None,
        };
        schema::Missing { kind, name, why }
    }
}
