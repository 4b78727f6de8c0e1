mod bounds;
mod reach;
mod request;
mod secure;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};

use super::super::dial::support::soon;
use super::*;
use crate::receipt::HttpUse;

const MIB: u64 = 1024 * 1024;

fn get(url: &str) -> Request<Empty<Bytes>> {
    Request::get(url).body(Empty::new()).unwrap()
}

fn post(url: &str, body: &'static str) -> Request<Full<Bytes>> {
    Request::post(url).body(Full::from(body)).unwrap()
}

async fn send(
    request: Request<Empty<Bytes>>,
    dialler: &Dialler,
) -> Result<Response<ResponseBody>, ToolError> {
    soon(Client::default().send(request, Scheme::Http, dialler, Bounds::new(MIB))).await
}

/// The error of a request that must not succeed; a response is no error type.
async fn refused(request: Request<Empty<Bytes>>, dialler: &Dialler) -> ToolError {
    match send(request, dialler).await {
        Ok(response) => panic!("answered {}", response.status()),
        Err(error) => error,
    }
}

async fn text(response: Response<ResponseBody>) -> Result<String, ToolError> {
    let bytes = soon(response.into_body().collect()).await?.to_bytes();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn only_entry(dialler: &Dialler) -> HttpUse {
    let http = dialler.ledger().snapshot().http;
    assert_eq!(http.len(), 1, "{http:?}");
    http.into_iter().next().unwrap()
}
