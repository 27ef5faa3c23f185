//! The tools as the gate uses them: plan, preview, permit, run, on real files and processes.

#[cfg(test)]
mod bash;
#[cfg(test)]
mod edit;
#[cfg(test)]
mod glob;
#[cfg(test)]
mod grep;
#[cfg(test)]
mod read;
#[cfg(test)]
mod toolbox;
#[cfg(test)]
mod world;
#[cfg(test)]
mod write;
