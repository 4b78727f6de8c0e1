//! Fetching from a server on loopback against plain reqwest.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use xzatoma::policy::HostRule;

use super::measure::{Figures, medians, micros, ratio};
use super::world::{Scratch, World, runtime};

pub fn run(figures: &mut Figures) {
    let address = serve();
    let scratch = Scratch::new("fetch");
    let runtime = runtime();
    let rule = HostRule::parse(&address.to_string()).expect("an address is a host rule");
    let world = runtime.block_on(World::new(scratch.path(), vec![rule]));
    let url = format!("http://{address}/");
    let arguments = format!(r#"{{"url":"{url}","format":"raw"}}"#);
    let ours = || {
        let output = runtime.block_on(world.call("fetch", &arguments));
        assert!(output.text.contains("hello"), "{}", output.text);
    };
    let fresh = || {
        runtime.block_on(async {
            let client = reqwest::Client::builder().no_proxy().build().expect("a client is made");
            let text = client.get(&url).send().await.expect("it answers").text().await;
            assert_eq!(text.expect("it has a body"), "hello");
        });
    };
    let client = reqwest::Client::builder().no_proxy().build().expect("a client is made");
    let pooled = || {
        runtime.block_on(async {
            let text = client.get(&url).send().await.expect("it answers").text().await;
            assert_eq!(text.expect("it has a body"), "hello");
        });
    };
    ours();
    let (our_time, fresh_time) = medians(100, ours, fresh);
    let (_, pooled_time) = medians(100, || {}, pooled);
    figures.add(
        "fetch on loopback, against reqwest with a new client",
        micros(our_time),
        micros(fresh_time),
        Some(ratio(our_time, fresh_time)),
        None,
    );
    figures.add(
        "fetch on loopback, against reqwest with a kept connection",
        micros(our_time),
        micros(pooled_time),
        Some(ratio(our_time, pooled_time)),
        None,
    );
}

/// A server that answers everything with five bytes, until the program ends.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback can be listened on");
    let address = listener.local_addr().expect("a listener has an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            std::thread::spawn(move || {
                let mut request = Vec::new();
                let mut chunk = [0; 4096];
                while let Ok(read) = stream.read(&mut chunk) {
                    if read == 0 {
                        return;
                    }
                    request.extend_from_slice(&chunk[..read]);
                    if request.ends_with(b"\r\n\r\n") {
                        request.clear();
                        let answer = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello";
                        if stream.write_all(answer).is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    address
}
