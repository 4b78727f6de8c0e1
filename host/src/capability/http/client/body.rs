//! Bodies in both directions, counted while they stream.

use std::error::Error;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::super::dial::Entry;
use super::explain::explain;
use crate::tool::ToolError;

/// What a server answers. Ends with `limit-exceeded` when it has more than the limit, and closes
/// the connection then or when dropped.
pub struct ResponseBody {
    /// None after the end or an error.
    inner: Option<reqwest::Body>,
    limit: u64,
    entry: Entry,
}

impl ResponseBody {
    pub(super) fn new(inner: reqwest::Body, limit: u64, entry: Entry) -> Self {
        ResponseBody { inner: Some(inner), limit, entry }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = ToolError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ToolError>>> {
        let this = self.get_mut();
        let Some(inner) = this.inner.as_mut() else { return Poll::Ready(None) };
        let outcome = match std::task::ready!(Pin::new(inner).poll_frame(context)) {
            Some(Ok(frame)) => {
                let length = frame.data_ref().map_or(0, |data| data.len() as u64);
                this.entry.usage.received_bytes += length;
                if this.entry.usage.received_bytes <= this.limit {
                    return Poll::Ready(Some(Ok(frame)));
                }
                Some(Err(ToolError::limit_exceeded(format!(
                    "the response is larger than {} bytes; ask for a part of it",
                    this.limit
                ))))
            }
            Some(Err(error)) => Some(Err(explain(&error))),
            None => None,
        };
        this.inner = None;
        Poll::Ready(outcome)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

/// What a guest sends. Its trailers are left out: they would arrive as fields that nobody looked
/// at.
pub(super) struct UploadBody<B> {
    /// A lock that nobody waits for: reqwest wants bodies that threads can share, and guests' are
    /// not such; all access here is exclusive.
    inner: Mutex<Pin<Box<B>>>,
    left: u64,
    limit: u64,
}

impl<B> UploadBody<B>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    pub(super) fn wrap(body: B, limit: u64) -> reqwest::Body {
        reqwest::Body::wrap(UploadBody { inner: Mutex::new(Box::pin(body)), left: limit, limit })
    }
}

impl<B> Body for UploadBody<B>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        let inner = this.inner.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        loop {
            let frame = match std::task::ready!(inner.as_mut().poll_frame(context)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                None => return Poll::Ready(None),
            };
            let Ok(data) = frame.into_data() else { continue };
            let length = data.len() as u64;
            if length > this.left {
                let error = ToolError::limit_exceeded(format!(
                    "the request's body is larger than {} bytes; send less",
                    this.limit
                ));
                return Poll::Ready(Some(Err(error.into())));
            }
            this.left -= length;
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
    }

    fn is_end_stream(&self) -> bool {
        match self.inner.lock() {
            Ok(inner) => inner.is_end_stream(),
            Err(poisoned) => poisoned.into_inner().is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self.inner.lock() {
            Ok(inner) => inner.size_hint(),
            Err(poisoned) => poisoned.into_inner().size_hint(),
        }
    }
}
