//! The tools as the gate uses them: plan, preview, permit, run, on real files and processes.

#[cfg(test)]
mod apply_patch;
#[cfg(test)]
mod awkward_files;
#[cfg(test)]
mod bash;
#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod claude_code;
#[cfg(test)]
mod client;
#[cfg(test)]
mod client_command;
#[cfg(test)]
mod client_here;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod diagnostics;
#[cfg(test)]
mod edit;
#[cfg(test)]
mod executor;
#[cfg(test)]
mod glob;
#[cfg(test)]
mod grep;
#[cfg(test)]
mod kin;
#[cfg(test)]
mod list_dir;
#[cfg(test)]
mod multi_edit;
#[cfg(test)]
mod notebook_edit;
#[cfg(test)]
mod patching;
#[cfg(test)]
mod read;
#[cfg(test)]
mod read_media;
#[cfg(test)]
mod rehearsal;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
#[cfg(test)]
mod server;
#[cfg(test)]
mod swaps;
#[cfg(test)]
mod there_and_back;
#[cfg(test)]
mod todo;
#[cfg(test)]
mod toolbox;
#[cfg(test)]
mod web_fetch;
#[cfg(test)]
mod web_search;
#[cfg(test)]
mod world;
#[cfg(test)]
mod write;
