//! Board profiles.
