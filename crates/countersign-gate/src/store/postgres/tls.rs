//! The way to a PostgreSQL server: encrypted where it offers that, as `sslmode` in the URL says.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::StoreError;

/// Returns a connector that trusts whom the machine trusts.
pub(crate) fn connector() -> Result<MakeRustlsConnect, StoreError> {
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| StoreError::Database(Arc::new(error)))?;
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}
