//! One TLS configuration for the process.
//!
//! The roots are the system's, so that what its administrator added or took away counts; where
//! there are none, as on a bare machine or in a small container, those that Mozilla ships, which
//! are part of this program. Sessions are not resumed: a ticket would let a server join what
//! different agents asked.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::OnceCell;

use super::Scheme;
use crate::tool::ToolError;

/// Reading the system's roots takes milliseconds; it is done once, and not for plain HTTP.
static SYSTEM: OnceCell<ClientConfig> = OnceCell::const_new();
static NONE: OnceCell<ClientConfig> = OnceCell::const_new();

/// Where the roots come from.
#[derive(Clone, Default)]
pub(super) enum Tls {
    #[default]
    System,
    #[cfg(test)]
    Given(Arc<ClientConfig>),
}

impl Tls {
    pub(super) async fn config(&self, scheme: Scheme) -> Result<ClientConfig, ToolError> {
        match self {
            #[cfg(test)]
            Tls::Given(config) => Ok(ClientConfig::clone(config)),
            Tls::System => match scheme {
                Scheme::Http => {
                    NONE.get_or_try_init(|| async { with_roots(RootCertStore::empty()) }).await
                }
                Scheme::Https => SYSTEM.get_or_try_init(from_system).await,
            }
            .cloned(),
        }
    }
}

async fn from_system() -> Result<ClientConfig, ToolError> {
    let roots = tokio::task::spawn_blocking(system_roots).await.map_err(|error| {
        ToolError::failed(format!("the root certificates could not be read: {error}"))
    })?;
    with_roots(roots)
}

fn system_roots() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "a root certificate of the system cannot be read");
    }
    let mut roots = RootCertStore::empty();
    let (added, ignored) = roots.add_parsable_certificates(found.certs);
    tracing::debug!(added, ignored, "root certificates of the system");
    if roots.is_empty() {
        tracing::info!("the system has no root certificates; using the built-in ones");
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

pub(super) fn with_roots(roots: RootCertStore) -> Result<ClientConfig, ToolError> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| ToolError::failed(format!("TLS is not available: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.resumption = Resumption::disabled();
    Ok(config)
}
