//! Requests to stop: Ctrl-C, a signal, a key.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Diagnostic, Result};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// From now on, counts SIGINT, SIGTERM and SIGHUP. Without this they end the program.
pub(crate) fn count() -> Result<()> {
    ctrlc::set_handler(one_more)
        .map_err(|e| Diagnostic::new("listening for Ctrl-C", e, "run analyze from an ordinary terminal"))
}

/// Counts one request to stop.
pub(crate) fn one_more() {
    COUNT.fetch_add(1, Ordering::Relaxed);
}

/// Number of requests so far.
pub(crate) fn asked() -> u32 {
    COUNT.load(Ordering::Relaxed)
}
