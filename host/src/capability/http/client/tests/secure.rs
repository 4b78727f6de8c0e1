//! TLS, and HTTP/2 over it.

use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use super::super::super::dial::support::{Scripted, Server, dialler, network, read_to_close};
use super::super::tls::with_roots;
use super::*;
use crate::policy::Permission;
use crate::tool::ErrorCase;

/// For `name.test`, valid until 2126, and its key, which protects nothing. Made by
/// `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=name.test
/// -addext subjectAltName=DNS:name.test -addext basicConstraints=critical,CA:FALSE`.
const CERTIFICATE: &[u8] = include_bytes!("certificate.der");
const KEY: &[u8] = include_bytes!("key.der");

/// A server's configuration, and a client that trusts it alone.
fn configured(protocols: &[&str]) -> (TlsAcceptor, Client) {
    let certificate = CertificateDer::from(CERTIFICATE);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], PrivateKeyDer::try_from(KEY).unwrap())
        .unwrap();
    server.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = Client { tls: Tls::Given(Arc::new(with_roots(roots).unwrap())) };
    (TlsAcceptor::from(Arc::new(server)), client)
}

/// Speaks whichever protocol was agreed on, and keeps which one it was.
async fn secure_server(acceptor: TlsAcceptor, fields: usize) -> (Server, Arc<Mutex<Vec<String>>>) {
    let agreed = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&agreed);
    let server = Server::start(move |stream| {
        let (acceptor, log) = (acceptor.clone(), Arc::clone(&log));
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let protocol = stream.get_ref().1.alpn_protocol().unwrap_or_default().to_vec();
            log.lock().unwrap().push(String::from_utf8(protocol.clone()).unwrap());
            if protocol == b"h2" {
                let mut connection = h2::server::handshake(stream).await.unwrap();
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    let mut response = http::Response::new(());
                    for n in 0..fields {
                        let name = HeaderName::try_from(format!("x-{n}")).unwrap();
                        response.headers_mut().insert(name, "v".repeat(1000).parse().unwrap());
                    }
                    if let Ok(mut body) = respond.send_response(response, false) {
                        let _ = body.send_data("hello".into(), true);
                    }
                }
            } else {
                let answer =
                    b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
                let _ = stream.write_all(answer).await;
                let _ = stream.shutdown().await;
            }
        }
    })
    .await;
    (server, agreed)
}

async fn fetch(
    client: &Client,
    host: &str,
    server: &Server,
) -> (Result<String, ToolError>, Dialler) {
    let rules = [format!("127.0.0.1:{}", server.port()), format!("{host}:{}", server.port())];
    let grant = network(Permission::Deny, &[&rules[0], &rules[1]]);
    let dialler = dialler(grant, Scripted::finds(&["127.0.0.1"]));
    let request = get(&format!("https://{host}:{}/", server.port()));
    let outcome = match soon(client.send(request, Scheme::Https, &dialler, Bounds::new(MIB))).await
    {
        Ok(response) => text(response).await,
        Err(error) => Err(error),
    };
    (outcome, dialler)
}

#[tokio::test]
async fn http2_where_the_server_has_it_and_http1_where_not() {
    for (protocols, expected) in
        [(&["h2", "http/1.1"][..], "h2"), (&["http/1.1"], "http/1.1"), (&[], "")]
    {
        let (acceptor, client) = configured(protocols);
        let (server, agreed) = secure_server(acceptor, 0).await;
        let (outcome, dialler) = fetch(&client, "name.test", &server).await;
        assert_eq!(outcome.unwrap(), "hello");
        assert_eq!(*agreed.lock().unwrap(), [expected]);
        let entry = only_entry(&dialler);
        assert_eq!((entry.status, entry.received_bytes), (Some(200), 5));
        assert_eq!(entry.address, Some(format!("127.0.0.1:{}", server.port())));
    }
}

#[tokio::test]
async fn header_bombs_by_http2_are_refused() {
    let (acceptor, client) = configured(&["h2"]);
    let (server, _) = secure_server(acceptor.clone(), 10).await;
    assert_eq!(fetch(&client, "name.test", &server).await.0.unwrap(), "hello");
    let (server, _) = secure_server(acceptor, 1000).await;
    let error = fetch(&client, "name.test", &server).await.0.unwrap_err();
    assert!(matches!(error.case, ErrorCase::Failed | ErrorCase::LimitExceeded), "{error}");
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused_by_name() {
    let (acceptor, _) = configured(&[]);
    let (server, agreed) = secure_server(acceptor, 0).await;
    // With the roots that the program really has.
    let error = fetch(&Client::default(), "name.test", &server).await.0.unwrap_err();
    assert_eq!(error.case, ErrorCase::Failed);
    assert!(
        error.message.contains("certificate") && error.message.contains("UnknownIssuer"),
        "{error}"
    );
    assert!(agreed.lock().unwrap().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused_by_name() {
    let (acceptor, client) = configured(&[]);
    let (server, _) = secure_server(acceptor, 0).await;
    let error = fetch(&client, "other.test", &server).await.0.unwrap_err();
    assert_eq!(error.case, ErrorCase::Failed);
    assert!(
        error.message.contains("certificate") && error.message.contains("other.test"),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_without_tls_is_a_failure_and_a_silent_one_a_timeout() {
    let (_, client) = configured(&[]);
    let server = Server::start(|mut stream| async move {
        let _ = stream.write_all(b"220 smtp.test ESMTP\r\n").await;
        read_to_close(&mut stream).await;
    })
    .await;
    let error = fetch(&client, "name.test", &server).await.0.unwrap_err();
    assert_eq!(error.case, ErrorCase::Failed, "{error}");
    assert!(error.message.contains("TLS"), "{error}");

    let server =
        Server::start(|mut stream| async move { drop(read_to_close(&mut stream).await) }).await;
    let rule = format!("127.0.0.1:{}", server.port());
    let dialler = dialler(network(Permission::Deny, &[&rule]), Scripted::nothing());
    let request = get(&format!("https://{rule}/"));
    let bounds = Bounds { connect: Duration::from_millis(100), ..Bounds::new(MIB) };
    let error = soon(client.send(request, Scheme::Https, &dialler, bounds)).await.err().unwrap();
    assert_eq!(error.case, ErrorCase::TimedOut, "{error}");
}
