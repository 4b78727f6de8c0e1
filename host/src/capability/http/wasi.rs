//! Where `wasi:http` hands over a request.

use std::future::Future;
use std::sync::Arc;

use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use super::HttpShared;
use super::client::{Bounds, Scheme};
use super::dial::Dialler;
use crate::capability::witness::Witness;
use crate::policy::Authority;
use crate::tool::{Approver, ErrorCase, ToolError};

/// The network of one call.
pub struct HttpHooks {
    /// None: the grant has no network, and nothing that could send is here.
    sender: Option<Sender>,
    witness: Witness,
}

#[derive(Clone)]
struct Sender {
    dialler: Dialler,
    shared: Arc<HttpShared>,
    body_bytes: u64,
}

impl HttpHooks {
    pub fn new(
        tool: &str,
        authority: &Authority,
        approver: &Arc<dyn Approver>,
        shared: &Arc<HttpShared>,
        witness: &Witness,
    ) -> HttpHooks {
        let sender = (!authority.network.is_empty()).then(|| Sender {
            dialler: Dialler::new(
                tool,
                Arc::new(authority.network.clone()),
                Arc::clone(&shared.resolver),
                Arc::clone(approver),
                witness.ledger.clone(),
            )
            .limited(Arc::clone(&shared.rate), authority.limits.requests_per_minute),
            shared: Arc::clone(shared),
            body_bytes: authority.limits.http_body_bytes,
        });
        HttpHooks { sender, witness: witness.clone() }
    }
}

/// What `wasi:http` wants back: the response, and what remains to be done on the connection.
type Answer = (http::Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>);

impl WasiHttpHooks for HttpHooks {
    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _reader_outcome: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<Answer, Error>> + Send> {
        let witness = self.witness.clone();
        let Some(sender) = self.sender.clone() else {
            let host = request.uri().authority().map_or("the network", |a| a.as_str()).to_owned();
            let error = ToolError::denied(format!(
                "the grant has no network; --allow-host {host} would allow this"
            ));
            witness.refuse(host, &error);
            return Box::new(std::future::ready(Err(Error::HttpRequestDenied)));
        };
        Box::new(async move {
            match sender.send(request, options).await {
                Ok(response) => {
                    let body = move |body: super::client::ResponseBody| -> WasiBody {
                        UnsyncBoxBody::new(body.map_err(move |error| {
                            witness.leave_reason(&error);
                            code(&error)
                        }))
                    };
                    let done: Box<dyn Future<Output = _> + Send> =
                        Box::new(std::future::ready(Ok(())));
                    Ok((response.map(body), done))
                }
                Err(error) => {
                    witness.leave_reason(&error);
                    Err(code(&error))
                }
            }
        })
    }
}

impl Sender {
    async fn send(
        &self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
    ) -> Result<http::Response<super::client::ResponseBody>, ToolError> {
        let scheme = match request.uri().scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") | None => Scheme::Https,
            Some(other) => {
                return Err(ToolError::invalid_input(format!(
                    "the scheme {other} is not supported; use http or https"
                )));
            }
        };
        let mut bounds = Bounds::new(self.body_bytes);
        if let Some(options) = options {
            bounds.connect = options.connect_timeout.unwrap_or(bounds.connect);
            bounds.first_byte = options.first_byte_timeout.unwrap_or(bounds.first_byte);
        }
        self.shared.client.send(request, scheme, &self.dialler, bounds).await
    }
}

/// The nearest of WASI's codes; the text goes by the `refusal` interface.
fn code(error: &ToolError) -> Error {
    match error.case {
        ErrorCase::Denied => Error::HttpRequestDenied,
        ErrorCase::NotFound => Error::DnsError { rcode: None, info_code: None },
        ErrorCase::TimedOut => Error::ConnectionTimeout,
        ErrorCase::LimitExceeded => Error::HttpResponseBodySize(None),
        ErrorCase::InvalidInput => Error::HttpRequestUriInvalid,
        ErrorCase::Failed | ErrorCase::Crashed => Error::InternalError(Some(error.message.clone())),
    }
}
