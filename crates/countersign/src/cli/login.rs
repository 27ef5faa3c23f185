//! What can be said to `countersign login`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub(crate) struct LoginArgs {
    /// The data folder of the server [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Opens the page in the browser of this machine, too.
    #[arg(long)]
    pub(crate) open: bool,
    /// Prints the link without the QR code.
    #[arg(long)]
    pub(crate) no_qr: bool,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
