//! What can be said to `countersign login`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub(crate) struct LoginArgs {
    /// The server's data folder [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Also open the page in this machine's browser.
    #[arg(long)]
    pub(crate) open: bool,
    /// Print the link without the QR code.
    #[arg(long)]
    pub(crate) no_qr: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
