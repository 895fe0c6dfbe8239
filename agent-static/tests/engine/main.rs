//! What the agent finds in engines' files, against files made for the purpose and against real ones.

mod asm;
mod damage;
mod elfgen;
mod fork;
mod messages;
mod nameless;
mod oracle;
mod program;
mod real;
mod returned;
mod synthetic;
mod unnamed;
