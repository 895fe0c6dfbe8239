//! `heading`: model, engine and machine in words.

use super::Publish;
use crate::words::heading;

fields! {
    heading::Heading => Heading { name, model, engine, machine }
}
