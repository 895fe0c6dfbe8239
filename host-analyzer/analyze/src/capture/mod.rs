//! Capturing from a board: requests, link, received stream, recording.

pub(crate) mod counters;
pub(crate) mod gauges;
pub(crate) mod interrupts;
pub(crate) mod link;
pub(crate) mod live;
pub(crate) mod metrics;
pub(crate) mod observer;
pub(crate) mod operators;
pub(crate) mod receive;
pub(crate) mod recording;
pub(crate) mod rotate;
