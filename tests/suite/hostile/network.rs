//! The network: past the grant, past the address checks, and with more than is good.

use serde_json::{Value, json};
use xzatoma::policy::Authority;
use xzatoma::tool::{CallReport, ErrorCase};

use super::scene::{Scene, reading};
use super::servers::Server;
use super::table::{Case, Expected, Verdict, attack, case, check, run, shortened};
use crate::harness::grant::Add;

/// Every public host, without asking.
fn public() -> Authority {
    reading().public().requests_per_minute(1000).deadline_ms(5000)
}

/// One server, by its address.
fn granted(server: &Server) -> Authority {
    reading().host(&server.authority()).requests_per_minute(1000).deadline_ms(5000)
}

fn get(authority: &str) -> Value {
    json!({"case": "http", "authority": authority})
}

/// Denied with a line in the receipt, or not even a host that can be named.
fn refused(report: &CallReport) -> Verdict {
    match &report.result {
        Err(error) if error.case == ErrorCase::Denied && !report.receipt.denials.is_empty() => {
            Ok(())
        }
        Err(error) if error.case == ErrorCase::InvalidInput => Ok(()),
        _ => Err(format!("{:?}, denials {:?}", shortened(report), report.receipt.denials)),
    }
}

fn sees_nothing(server: &Server) -> Verdict {
    match server.connections() {
        0 => Ok(()),
        count => Err(format!("the listener saw {count} connections")),
    }
}

#[test]
fn the_network_is_what_was_granted() {
    run("hostile::network::the_network_is_what_was_granted", || {
        let mut cases = vec![
            attack("T-NET-01", "a TCP socket", json!({"case": "tcp"}), public(), Expected::Denied),
            attack("T-NET-01", "a UDP socket", json!({"case": "udp"}), public(), Expected::Denied),
            attack(
                "T-NET-02",
                "a look-up",
                json!({"case": "lookup", "path": "localhost"}),
                public(),
                Expected::Fails(&[ErrorCase::Denied, ErrorCase::Failed]),
            ),
            attack(
                "T-NET-02",
                "a look-up of an address",
                json!({"case": "lookup", "path": "127.0.0.1"}),
                public(),
                Expected::Holds(|report| match &report.result {
                    // Reading an address is not asking anybody.
                    Ok(output) if output.text.contains("(127, 0, 0, 1)") => Ok(()),
                    Err(_) => Ok(()),
                    other => Err(format!("{other:?}")),
                }),
            ),
            case("T-NET-03", "a listener, with a grant", |scene| {
                let server = Server::honest();
                let report = scene.attack(get(&server.authority()), &granted(&server));
                check(&report, &Expected::Says("status 200 after 0 hops, 5 bytes: \"hello\""))
            }),
            case("T-NET-03", "a listener, without a grant", |scene| {
                let server = Server::honest();
                let report = scene.attack(get(&server.authority()), &reading());
                check(&report, &Expected::Denied)?;
                sees_nothing(&server)
            }),
            case("T-NET-03", "a listener, with a grant for all that is public", |scene| {
                let server = Server::honest();
                for authority in [
                    server.authority(),
                    format!("localhost:{}", server.port()),
                    format!("127.1:{}", server.port()),
                ] {
                    let report = scene.attack(get(&authority), &public());
                    check(&report, &Expected::Denied).or_else(|_| not_found(&report))?;
                }
                sees_nothing(&server)
            }),
            case("T-NET-03", "a listener, with a grant for its neighbour", |scene| {
                let (server, neighbour) = (Server::honest(), Server::honest());
                let report = scene.attack(get(&server.authority()), &granted(&neighbour));
                check(&report, &Expected::Denied)?;
                sees_nothing(&server)
            }),
        ];
        cases.extend(private_addresses());
        cases.extend(names());
        cases.extend(redirects());
        cases
    });
}

fn not_found(report: &CallReport) -> Verdict {
    check(report, &Expected::Fails(&[ErrorCase::NotFound]))
}

/// The metadata service of clouds and other places inside, by every spelling that some parser
/// takes for an address.
fn private_addresses() -> Vec<Case> {
    let metadata = [
        "169.254.169.254",
        "169.254.169.254:80",
        "169.254.169.254.",
        "2852039166",
        "0251.0376.0251.0376",
        "025177524776",
        "0xa9fea9fe",
        "0xA9.0xFE.0xA9.0xFE",
        "169.254.43518",
        "169.16689662",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[::169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b::169.254.169.254]",
        "[64:ff9b:1::a9fe:a9fe]",
        "[2002:a9fe:a9fe::1]",
        "[fd00:ec2::254]",
        "169\u{3002}254\u{3002}169\u{3002}254",
        "\u{2460}\u{2465}\u{2468}.254.169.254",
        "user@169.254.169.254",
        "example.com@169.254.169.254",
        "169.254.169.254#@example.com",
        "169.254.169.254\\@example.com",
        "169.254.169.254\t",
        "%31%36%39.254.169.254",
    ];
    let inside = [
        "127.0.0.1",
        "127.1",
        "0",
        "0.0.0.0",
        "[::]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "[fe80::1]",
        "[fd12::1]",
        "224.0.0.1",
        "255.255.255.255",
        "[ff02::1]",
        "198.18.0.1",
        "192.0.0.192",
    ];
    let mut cases = Vec::new();
    for address in metadata {
        cases.push(attack(
            "T-NET-04",
            "the metadata service",
            get(address),
            public(),
            Expected::Holds(refused),
        ));
    }
    for address in inside {
        cases.push(attack(
            "T-NET-05",
            "a place inside",
            get(address),
            public(),
            Expected::Holds(refused),
        ));
    }
    for port in [1, 22, 25, 6379, 8080, 65_535] {
        let authority = format!("93.184.216.34:{port}");
        cases.push(attack(
            "T-NET-06",
            "a port of another service",
            get(&authority),
            public(),
            Expected::Denied,
        ));
    }
    for authority in
        ["93.184.216.34:0", "93.184.216.34:65536", "93.184.216.34:-1", "93.184.216.34:80:80"]
    {
        cases.push(attack(
            "T-NET-06",
            "a port that is none",
            get(authority),
            public(),
            Expected::Holds(refused),
        ));
    }
    cases
}

/// Names that are given away by somebody who points them inside.
fn names() -> Vec<Case> {
    let pointed: [(&str, &[&str]); 7] = [
        ("metadata.test", &["169.254.169.254"]),
        ("loopback.test", &["127.0.0.1"]),
        ("private.test", &["10.1.2.3"]),
        ("mixed.test", &["93.184.216.34", "127.0.0.1"]),
        ("mapped.test", &["::ffff:10.0.0.1"]),
        ("nat64.test", &["64:ff9b::7f00:1"]),
        ("nowhere.test", &["0.0.0.0"]),
    ];
    let mut cases = Vec::new();
    for (name, addresses) in pointed {
        cases.push(case("T-NET-07", name, move |scene| {
            scene.names.know(name, addresses);
            let by_public = scene.attack(get(name), &public());
            check(&by_public, &Expected::Denied)?;
            // Naming the name is not naming the place that its owner points it to.
            let by_name = scene.attack(get(name), &public().host(name));
            check(&by_name, &Expected::Denied)
        }));
    }
    cases.push(case("T-NET-07", "a name and its place, both granted", |scene| {
        let server = Server::honest();
        scene.names.know("granted.test", &["127.0.0.1"]);
        let authority = format!("granted.test:{}", server.port());
        let report = scene.attack(get(&authority), &granted(&server).host(&authority));
        check(&report, &Expected::Says("hello"))
    }));
    cases.push(case("T-NET-07", "a name that is not granted is not looked up", |scene| {
        scene.names.take_asked();
        let report = scene.attack(get("tells-its-owner.test"), &reading().host("other.test"));
        check(&report, &Expected::Denied)?;
        match scene.names.take_asked() {
            asked if asked.is_empty() => Ok(()),
            asked => Err(format!("looked up: {asked:?}")),
        }
    }));
    cases.push(attack(
        "T-NET-07",
        "a name that does not exist",
        get("missing.test"),
        public(),
        Expected::Fails(&[ErrorCase::NotFound]),
    ));
    cases
}

fn redirects() -> Vec<Case> {
    let to_metadata = |name: &'static str, target: &'static str| {
        case("T-NET-08", name, move |scene: &mut Scene| {
            let server = Server::redirecting(target);
            let arguments = json!({"case": "http", "authority": server.authority(), "count": 5});
            let report = scene.attack(arguments, &granted(&server).public());
            refused(&report)?;
            match server.connections() {
                1 => Ok(()),
                count => Err(format!("{count} connections to the first hop")),
            }
        })
    };
    vec![
        to_metadata("to the metadata service", "http://169.254.169.254/latest/meta-data/"),
        to_metadata("to it in other numbers", "http://0xa9fea9fe/latest/"),
        to_metadata("to a file", "file:///etc/passwd"),
        case("T-NET-08", "to a listener that is not granted", |scene| {
            let second = Server::honest();
            let first = Server::redirecting(&format!("http://{}/", second.authority()));
            let arguments = json!({"case": "http", "authority": first.authority(), "count": 5});
            let report = scene.attack(arguments, &granted(&first).public());
            check(&report, &Expected::Denied)?;
            sees_nothing(&second)
        }),
        case("T-NET-08", "to one that is", |scene| {
            let second = Server::honest();
            let first = Server::redirecting(&format!("http://{}/", second.authority()));
            let arguments = json!({"case": "http", "authority": first.authority(), "count": 5});
            let report = scene.attack(arguments, &granted(&first).host(&second.authority()));
            check(&report, &Expected::Says("status 200 after 1 hops"))
        }),
        case("T-NET-08", "in a circle", |scene| {
            // Where it sends people is known only once it listens.
            let address = std::sync::Arc::new(std::sync::OnceLock::<String>::new());
            let own = std::sync::Arc::clone(&address);
            let server = Server::start(move |stream, _| {
                use std::io::{Read, Write};
                let _ = stream.read(&mut [0; 4096]);
                let location = own.get().cloned().unwrap_or_default();
                let _ = write!(
                    stream,
                    "HTTP/1.1 302 Found\r\nLocation: http://{location}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                );
            });
            let (name, authority) = by_name(scene, &server, "circle.test", 20);
            address.set(name.clone()).unwrap();
            let arguments = json!({"case": "http", "authority": name, "count": 1_000_000});
            let report = scene.attack(arguments, &authority);
            check(&report, &Expected::Fails(&[ErrorCase::LimitExceeded]))?;
            match server.connections() {
                20 => Ok(()),
                count => Err(format!("{count} connections")),
            }
        }),
    ]
}

#[test]
fn messages_stay_within_bounds() {
    run("hostile::network::messages_stay_within_bounds", || {
        let mut cases = vec![
            endless(
                "a body without end",
                "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
                vec![b'x'; 64 << 10],
            ),
            endless(
                "chunks without end",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                b"1000\r\n".iter().copied().chain([b'x'; 0x1000]).chain(*b"\r\n").collect(),
            ),
            endless(
                "a length of centuries",
                "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
                vec![b'x'; 64 << 10],
            ),
            endless(
                "header fields without end",
                "HTTP/1.1 200 OK\r\n",
                b"x-more: and more\r\n".to_vec(),
            ),
            endless(
                "a header field without end",
                "HTTP/1.1 200 OK\r\nx-long: ",
                vec![b'x'; 64 << 10],
            ),
            endless_interim_answers(),
            endless("no HTTP at all", "", vec![0xff; 4096]),
            case("T-NET-10", "an upload without end", |scene| {
                let server = Server::start(|stream, _| {
                    let mut buffer = [0; 64 << 10];
                    while matches!(std::io::Read::read(stream, &mut buffer), Ok(1..)) {}
                });
                let authority = granted(&server).body_bytes(1 << 20);
                let arguments = json!({"case": "http-upload", "method": "POST", "authority": server.authority(), "count": 1_u64 << 40});
                check(
                    &scene.attack(arguments, &authority),
                    &Expected::Fails(&[ErrorCase::LimitExceeded, ErrorCase::Failed]),
                )
            }),
            case("T-NET-11", "more requests than are granted", |scene| {
                let server = Server::honest();
                let (name, authority) = by_name(scene, &server, "flooded.test", 3);
                let arguments = json!({"case": "http-flood", "authority": name, "count": 50});
                let report = scene.attack(arguments, &authority);
                check(&report, &Expected::Says("3 worked, then"))?;
                match server.connections() {
                    3 => Ok(()),
                    count => Err(format!("{count} connections")),
                }
            }),
        ];
        cases.extend(forged());
        cases
    });
}

fn endless(name: &'static str, head: &'static str, chunk: Vec<u8>) -> Case {
    case("T-NET-10", name, move |scene| {
        let server = Server::endless(head, chunk);
        let authority = granted(&server).body_bytes(1 << 20);
        let report = scene.attack(get(&server.authority()), &authority);
        check(&report, &Expected::Fails(&[ErrorCase::LimitExceeded, ErrorCase::Failed]))
    })
}

/// Each is read and dropped, so only time is lost.
fn endless_interim_answers() -> Case {
    case("T-NET-10", "interim answers without end", |scene| {
        let server = Server::endless("", b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec());
        let authority = granted(&server).deadline_ms(500);
        let report = scene.attack(get(&server.authority()), &authority);
        check(
            &report,
            &Expected::Fails(&[ErrorCase::LimitExceeded, ErrorCase::Failed, ErrorCase::TimedOut]),
        )
    })
}

/// A server by a name of its own, so that only these requests count towards the limit.
fn by_name(scene: &Scene, server: &Server, name: &str, per_minute: u32) -> (String, Authority) {
    scene.names.know(name, &["127.0.0.1"]);
    let name = format!("{name}:{}", server.port());
    let authority = granted(server).host(&name).requests_per_minute(per_minute);
    (name, authority)
}

/// Fields and methods by which a request would be another than the one that was authorised.
fn forged() -> Vec<Case> {
    let fields: [(&str, &str, &str); 9] = [
        ("Host", "host", "metadata.internal"),
        ("Connection", "connection", "upgrade"),
        ("Upgrade", "upgrade", "websocket"),
        ("Transfer-Encoding", "transfer-encoding", "chunked"),
        ("Proxy-Authorization", "proxy-authorization", "Basic eDp5"),
        ("a length that is none", "content-length", "5, 6"),
        ("a length that lies", "content-length", "5"),
        ("a line break in a value", "x-a", "b\r\nhost: metadata.internal"),
        ("a line break in a name", "x-a\r\nhost", "metadata.internal"),
    ];
    let mut cases: Vec<Case> = fields
        .into_iter()
        .map(|(name, field, value)| {
            case("T-NET-09", name, move |scene| {
                let server = Server::honest();
                let arguments = json!({
                    "case": "http",
                    "method": "POST",
                    "authority": server.authority(),
                    "headers": [[field, value]],
                    "body": "01234GET /smuggled HTTP/1.1\r\nHost: metadata.internal\r\n\r\n",
                });
                let report = scene.attack(arguments, &granted(&server));
                only_its_own(&server, &report)
            })
        })
        .collect();
    for (name, method) in [
        ("a tunnel", "CONNECT"),
        ("an echo", "TRACE"),
        ("a method with a break", "GET / HTTP/1.1\r\nX:"),
    ] {
        cases.push(case("T-NET-09", name, move |scene| {
            let server = Server::honest();
            let arguments =
                json!({"case": "http", "method": method, "authority": server.authority()});
            let report = scene.attack(arguments, &granted(&server));
            check(
                &report,
                &Expected::Fails(&[ErrorCase::InvalidInput, ErrorCase::Denied, ErrorCase::Failed]),
            )?;
            sees_nothing(&server)
        }));
    }
    for (name, scheme) in [("a file", "file"), ("a socket", "ws"), ("no scheme", "\r\n")] {
        let arguments = json!({"case": "http", "scheme": scheme, "authority": "example.com", "path": "/etc/passwd"});
        cases.push(attack(
            "T-NET-09",
            name,
            arguments,
            public(),
            Expected::Fails(&[ErrorCase::InvalidInput, ErrorCase::Denied, ErrorCase::Failed]),
        ));
    }
    cases
}

/// Whatever the guest wrote, the server is told the host that was authorised and nothing else.
fn only_its_own(server: &Server, report: &CallReport) -> Verdict {
    for request in server.requests() {
        let lower = request.to_ascii_lowercase();
        let hosts: Vec<&str> = lower.lines().filter(|line| line.starts_with("host:")).collect();
        if hosts != [format!("host: {}", server.authority())] || lower.contains("metadata.internal")
        {
            return Err(format!(
                "the server was sent {request:?}; the guest got {:?}",
                shortened(report)
            ));
        }
        for forbidden in ["upgrade:", "proxy-authorization:", "smuggled"] {
            if lower.contains(forbidden) {
                return Err(format!("the server was sent {request:?}"));
            }
        }
    }
    Ok(())
}
