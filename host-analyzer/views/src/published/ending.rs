//! `ending`: how the session ended.

use super::Publish;
use crate::words;
use profinfer_analysis::ending;
use profinfer_schema as schema;

fields! {
    ending::Child => Child { pid, name, command }
    ending::Memory => GroupMemory {
        high_bytes, limit_bytes, used_bytes, high_events, stalled_ns, oom_kills, is_reason,
    }
}

names! {
    ending::EndingCode => EndingCode {
        Computed, EngineFailed, EngineEnded, NoProcess, NoProbe, OutOfMemory, CallUnreturned,
        PidNamespace, PackedLibrary, ChildrenCompute, Refused, CutShort, NothingComputed, NotAsked,
    }
    ending::EndingState => EndingState { Good, Nothing, Bad }
}

impl Publish for ending::Ending {
    type Form = schema::Ending;

    fn publish(&self) -> Self::Form {
        let Self {
            code,
            state,
            traced,
            pid,
            name,
            status,
            signal,
            output,
            waited_for,
            inside_pid,
            tried,
            file,
            children,
            open_ns,
            memory,
        } = self;
        schema::Ending {
            code: code.publish(),
            state: state.publish(),
            traced: *traced,
            pid: *pid,
            name: name.publish(),
            status: *status,
            signal: *signal,
            output: output.publish(),
            waited_for: waited_for.publish(),
            inside_pid: *inside_pid,
            tried: *tried,
            file: file.publish(),
            children: children.publish(),
            open_ns: *open_ns,
            memory: memory.publish(),
            sentence: words::ending::sentence(self),
        }
    }
}
