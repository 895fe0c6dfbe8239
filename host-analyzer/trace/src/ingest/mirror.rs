//! Enums that the wire and the model have in common.
//!
//! The model has its own copies because it does not know the wire: a second version of the wire
//! must not reach the analyses.

/// `From` the wire's enum for the model's. The match is exhaustive: a new variant of the wire does
/// not compile until the model has it.
macro_rules! mirror {
    ($(wire::$file:ident::$name:ident => model::$to:ident {
        $($variant:ident $(($value:ident))?),* $(,)?
    })*) => {$(
        impl From<profinfer_wire::record::$file::$name> for crate::model::$to {
            fn from(wire: profinfer_wire::record::$file::$name) -> Self {
                use profinfer_wire::record::$file::$name as Wire;
                match wire {
                    $(Wire::$variant $(($value))? => Self::$variant $(($value))?,)*
                }
            }
        }
    )*};
}

mirror! {
    wire::capture::Ends => model::Ends { Both, None }
    wire::capture::Refusal => model::Refusal {
        NoOperators, NoTokenCalls, NotCallSites, Counters, Excluded, TooMuch, Unseen, Kernel,
        Unreadable,
    }
    wire::ceiling::CeilingKind => model::CeilingKind {
        Read, Copy, Int8, F32, F16, Barrier, WakeUp,
    }
    wire::ceiling::CurveEnd => model::CurveEnd { Open, Cache, Memory, Time }
    wire::controller::ControllerLimit => model::ControllerLimit {
        KeepAbove(milli), MaxSlowdown(ppm),
    }
    wire::controller::StepReason => model::StepReason { TooSlow, FastEnough, TooDear, CheapEnough }
    wire::duty::SwitchReason => model::SwitchReason { Begin, Duty, Controller, Filter, End }
    wire::fact::FactScope => model::FactScope { System, Process(pid), Thread(tid), Cpu(cpu) }
    wire::filter::FilterOn => model::FilterOn { Op, Name, Layer, Thread, Token, Request }
    wire::filter::FilterPlace => model::FilterPlace { Trap, Kernel, Agent, Nowhere }
    wire::gauge::GaugeKind => model::GaugeKind { Frequency, Temperature, Load, Ddr, Power }
    wire::gauge::GaugeUnit => model::GaugeUnit { Hertz, Millidegrees, Percent, Bytes, Microwatts }
    wire::graph::Role => model::Role { Node, Weight, Cache, Input, Other }
    wire::loss::EndReason => model::EndReason { EngineEnded, HostStopped, Interrupted, Error }
    wire::weight::Memory => model::Memory { Unknown, File, Anonymous, Device }
}
