//! The tables that the build script makes of `programs/*.toml`.

use super::super::argument_grammar::{ProgramSpec, entry};

include!(concat!(env!("OUT_DIR"), "/program_forms.rs"));
