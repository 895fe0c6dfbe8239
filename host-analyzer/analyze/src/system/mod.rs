//! What differs between the systems of the host: Linux, macOS, Windows. Everything else of
//! `analyze` is the same on all of them.
//!
//! ```text
//!                              Unix                     Windows
//! replace                      exec                     a child, and its exit status
//! unix_socket                  a Unix socket            an error
//! apart, end_process           process group, kill      process group, taskkill
//! SSH_SHARES                   one connection for all   a connection for each command
//! ```

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{SSH_SHARES, apart, end_process, replace, unix_socket};
#[cfg(windows)]
pub(crate) use windows::{SSH_SHARES, apart, end_process, replace, unix_socket};
