//! `countersign login`: a fresh one-time link to the page of the server that runs here, and its QR code.

use std::fmt::Write;

use anyhow::{Context, bail};
use countersign_api::sign_in_link::NewSignInLink;
use countersign_client::ANSWER_TIMEOUT;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::{Value, json};

use crate::cli::LoginArgs;
use crate::hint::HintedError;
use crate::running_server::RunningServer;
use crate::runtime::runtime;
use crate::server_target::{connect, explain_client_error};
use crate::{data_paths, output};

/// Black on white, whatever the terminal's own colours are.
const PAPER: &str = "\u{1b}[38;5;16;48;5;231m";
const PLAIN: &str = "\u{1b}[0m";

pub(crate) fn run(args: &LoginArgs) -> anyhow::Result<()> {
    let Some(server) = RunningServer::find(args.data.as_deref()) else {
        let folder =
            data_paths::data_path(args.data.as_deref()).context("there is no data folder")?;
        bail!(HintedError {
            error: anyhow::anyhow!("no server runs on the data folder `{}`", folder.display()),
            hint: "start one with `countersign serve`, or name its folder with --data".to_owned(),
        });
    };
    let link = runtime()?.block_on(ask_for_link(&server))?;
    if args.json {
        let told = json!({"url": link.url, "expires_in_seconds": link.expires_in_seconds});
        output::line(&told.to_string());
    } else {
        show(&link, args.no_qr)?;
    }
    if args.open && open::that_detached(&link.url).is_err() {
        output::note("No browser could be opened; use the link above.");
    }
    Ok(())
}

async fn ask_for_link(server: &RunningServer) -> anyhow::Result<NewSignInLink> {
    let client = connect(&server.url, "default", server.credential())?;
    let path = ["sign-in", "links"];
    let made = client.post_to_server(&path, &Value::Null, ANSWER_TIMEOUT).await;
    made.map_err(explain_client_error).map_err(|error| {
        let pid = server.pid;
        let hint = format!(
            "if the server (process {pid}) was killed, start it again; it writes a new file then"
        );
        HintedError { error, hint }.into()
    })
}

fn show(link: &NewSignInLink, no_qr: bool) -> anyhow::Result<()> {
    let minutes = link.expires_in_seconds / 60;
    if !no_qr {
        output::note(&qr(&link.url, output::is_coloured())?);
    }
    output::note(&format!("Sign in (works once, within {minutes} minutes):"));
    output::line(&link.url);
    if is_only_here(&link.url) && !no_qr {
        output::note(
            "This link leads to this machine only. For a phone, start the server with --listen on an \
             address of the network, and with --public-url.",
        );
    }
    Ok(())
}

/// Draws the code in half blocks.
fn qr(text: &str, is_coloured: bool) -> anyhow::Result<String> {
    let code = QrCode::new(text).context("the link is too long for a QR code")?;
    let mut renderer = code.render::<Dense1x2>();
    if !is_coloured {
        // On a dark terminal what is printed is light.
        renderer.dark_color(Dense1x2::Light).light_color(Dense1x2::Dark);
    }
    let drawn = renderer.quiet_zone(true).build();
    if !is_coloured {
        return Ok(drawn);
    }
    let mut painted = String::new();
    for line in drawn.lines() {
        // Writing to a text cannot fail.
        let _ = writeln!(painted, "{PAPER}{line}{PLAIN}");
    }
    Ok(painted)
}

fn is_only_here(url: &str) -> bool {
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let host = host.unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_drawn_whole_and_black_on_white_where_there_are_colours() {
        let url = format!("http://127.0.0.1:4180/agent?token={}", "0".repeat(64));
        let plain = qr(&url, false).unwrap();
        let widths: Vec<_> = plain.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]) && widths[0] > 40, "{widths:?}");
        assert!(qr(&url, true).unwrap().lines().all(|line| line.starts_with(PAPER)));
    }

    #[test]
    fn a_link_that_no_phone_can_follow_is_told_from_one_that_it_can() {
        assert!(is_only_here("http://127.0.0.1:1/x") && is_only_here("http://0.0.0.0:1/x"));
        assert!(!is_only_here("https://gate.example/x") && !is_only_here("http://10.0.0.7:1/x"));
    }
}
