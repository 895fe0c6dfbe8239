//! The layout of this kernel's tracepoints, as the programs need it.

use std::fs;

use super::format::{Format, NotUsable, symbols};
use super::states::States;
use super::tracefs::Tracefs;
use crate::bpf::layout::types::{limit, sched_format};
use crate::bpf::tracepoint::Tracepoint;

const COMM: u32 = limit::TASK_COMM.0;

/// Ids, layouts and texts of the tracepoints.
#[derive(Debug)]
pub struct Formats {
    /// Where they were read, for people.
    pub shown: String,
    /// Meaning of `prev_state`.
    pub states: States,
    /// Names of the softirqs, by number.
    pub softirqs: Vec<(u64, String)>,
    pub(crate) layout: sched_format,
    /// By index in [`Tracepoint::ALL`].
    ids: Vec<Result<u64, String>>,
}

impl Formats {
    /// Reads the formats from tracefs.
    ///
    /// # Errors
    /// Why the level cannot be recorded on this kernel.
    pub fn find() -> Result<Self, String> {
        let tracefs = Tracefs::find()?;
        Self::read(&tracefs.shown, |tracepoint| {
            let path = tracefs.path.join("events").join(tracepoint.name().replace(':', "/")).join("format");
            fs::read_to_string(path).map_err(|e| {
                let name = tracepoint.name();
                format!("reading the format of {name} in {}: {e}", tracefs.shown)
            })
        })
    }

    /// Formats of no kernel with these texts, for the agent's own side only.
    #[must_use]
    pub fn given(states: States, softirqs: Vec<(u64, String)>) -> Self {
        Self { shown: String::new(), states, softirqs, layout: sched_format::default(), ids: Vec::new() }
    }

    /// Parses the formats from texts.
    ///
    /// # Errors
    /// Why the format of a required tracepoint is not usable.
    pub fn read(
        shown: &str,
        mut text: impl FnMut(Tracepoint) -> Result<String, String>,
    ) -> Result<Self, String> {
        let mut formats = Self::given(States::default(), Vec::new());
        formats.shown = shown.to_owned();
        for tracepoint in Tracepoint::ALL {
            let id = text(tracepoint).and_then(|text| {
                let understood =
                    Format::parse(&text).and_then(|f| formats.take(tracepoint, &f).map(|()| f.id));
                understood.map_err(|why| format!("the format of {} is not usable: {why}", tracepoint.name()))
            });
            match id {
                Err(why) if tracepoint.needed() => return Err(why),
                id => formats.ids.push(id),
            }
        }
        Ok(formats)
    }

    fn take(&mut self, tracepoint: Tracepoint, f: &Format) -> Result<(), NotUsable> {
        let l = &mut self.layout;
        match tracepoint {
            Tracepoint::Switch => {
                l.prev_comm = f.offset("prev_comm", COMM)?;
                l.prev_pid = f.offset("prev_pid", 4)?;
                (l.prev_state, l.prev_state_size) = f.sized("prev_state", &[4, 8])?;
                l.next_comm = f.offset("next_comm", COMM)?;
                l.next_pid = f.offset("next_pid", 4)?;
                self.states = States::new(f)?;
                l.preempted = self.states.preempted;
                l.dead = self.states.dead;
            }
            Tracepoint::Waking => l.waking_pid = f.offset("pid", 4)?,
            Tracepoint::Wakeup => {
                l.wakeup_pid = f.offset("pid", 4)?;
                l.wakeup_cpu = f.offset("target_cpu", 4)?;
            }
            Tracepoint::WakeupNew => {
                l.wakeup_new_pid = f.offset("pid", 4)?;
                l.wakeup_new_cpu = f.offset("target_cpu", 4)?;
            }
            Tracepoint::Migrate => {
                l.migrate_pid = f.offset("pid", 4)?;
                l.migrate_cpu = f.offset("dest_cpu", 4)?;
            }
            Tracepoint::Irq => l.irq_name = f.text("name")?,
            Tracepoint::Softirq => self.softirqs = symbols(&f.print),
            Tracepoint::SoftirqExit => l.softirq_vec = f.offset("vec", 4)?,
            Tracepoint::IrqExit => {}
            Tracepoint::PageAdd => {
                l.page_ino = f.offset("i_ino", 8)?;
                l.page_dev = f.offset("s_dev", 4)?;
                // Kernels before large folios add single pages.
                l.page_order = f.offset("order", 1).unwrap_or(0);
            }
        }
        Ok(())
    }

    /// The id of a tracepoint.
    ///
    /// # Errors
    /// Why its format is not usable.
    pub fn id(&self, tracepoint: Tracepoint) -> Result<u64, String> {
        let at = Tracepoint::ALL.iter().position(|t| *t == tracepoint);
        at.and_then(|at| self.ids.get(at))
            .cloned()
            .unwrap_or_else(|| Err("it was not searched for".to_owned()))
    }
}

/// Why the level cannot be recorded on a real-time kernel before 6.12: there the ring buffer takes
/// a lock that may sleep, and the scheduler calls programs where sleeping is not allowed.
#[must_use]
pub fn real_time() -> Option<String> {
    let uname = nix::sys::utsname::uname().ok()?;
    let (release, version) = (uname.release().to_str()?, uname.version().to_str()?);
    refuses(release, version).then(|| {
        format!(
            "Linux {release} is a real-time kernel before 6.12, where BPF programs cannot write to the ring buffer from the \
             scheduler"
        )
    })
}

/// Why the interrupts' tracepoints are not attached on a real-time kernel.
pub(super) const INTERRUPTS_ARE_THREADS: &str =
    "on a real-time kernel interrupts are threads: the scheduler shows them like other tasks";

/// Why page reads are not counted on a real-time kernel.
pub(super) const PREEMPTIBLE: &str = "on a real-time kernel its program could be preempted, and lose counts";

/// Whether the kernel runs interrupt handlers as threads, which can be preempted.
#[must_use]
pub fn is_real_time() -> bool {
    nix::sys::utsname::uname().is_ok_and(|u| u.version().to_string_lossy().contains("PREEMPT_RT"))
}

fn refuses(release: &str, version: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    let number: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version.contains("PREEMPT_RT") && number < (6, 12)
}

#[cfg(test)]
mod tests {
    use super::refuses;

    #[test]
    fn old_real_time_kernels_are_refused() {
        assert!(refuses("5.10.209-rt101", "#1 SMP PREEMPT_RT Debian"));
        assert!(refuses("6.1.0-18-rt-amd64", "#1 SMP PREEMPT_RT"));
        assert!(!refuses("6.12.1", "#1 SMP PREEMPT_RT") && !refuses("7.0", "#1 SMP PREEMPT_RT"));
        assert!(!refuses("5.10.160", "#1 SMP PREEMPT Mon") && !refuses("", "PREEMPT_DYNAMIC"));
    }
}
