//! Spellings of hosts, with the URL standard's own parser as the second opinion.

use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;
use proptest::sample::select;

use super::super::*;
use super::{config, ip};

fn address(text: &str) -> HostName {
    HostName::Address(ip(text))
}

#[test]
fn every_spelling_of_an_address_is_that_address() {
    for text in [
        "169.254.169.254",
        "169.254.169.254.",
        "2852039166",
        "0xA9FEA9FE",
        "0XA9FEA9FE",
        "025177524776",
        "0251.0376.0251.0376",
        "0xa9.0xfe.0xa9.0xfe",
        "169.254.43518",
        "169.16689662",
        "0251.254.0xa9.254",
        "0000000000000251.254.169.254",
        "[::ffff:169.254.169.254]",
        "::ffff:a9fe:a9fe",
    ] {
        assert_eq!(HostName::parse(text), Ok(address("169.254.169.254")), "{text}");
    }
    assert_eq!(HostName::parse("0"), Ok(address("0.0.0.0")));
    assert_eq!(HostName::parse("0x"), Ok(address("0.0.0.0")));
    assert_eq!(HostName::parse("127.1"), Ok(address("127.0.0.1")));
    assert_eq!(HostName::parse("255.255.255.255"), Ok(address("255.255.255.255")));
    assert_eq!(HostName::parse("4294967295"), Ok(address("255.255.255.255")));
    assert_eq!(HostName::parse("[64:FF9B::A9FE:A9FE]"), Ok(address("64:ff9b::a9fe:a9fe")));
    assert_eq!(HostName::parse("::1"), Ok(address("::1")));
}

#[test]
fn names_are_lower_case_without_the_last_dot() {
    for (text, name) in [
        ("Docs.RS", "docs.rs"),
        ("docs.rs.", "docs.rs"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("_service.a-b.example", "_service.a-b.example"),
        ("1.example", "1.example"),
        ("0xg", "0xg"),
        ("1e3", "1e3"),
        ("0x-1", "0x-1"),
        ("localhost", "localhost"),
    ] {
        assert_eq!(HostName::parse(text), Ok(HostName::Name(name.to_owned())));
    }
}

#[test]
fn what_is_not_certain_is_refused() {
    for text in [
        "",
        ".",
        "..",
        "a..b",
        ".a",
        "a..",
        "a b",
        " a",
        "a\t",
        "a\n",
        "a\0",
        "a\0.example",
        "u@a",
        "a/b",
        "a\\b",
        "a#b",
        "a?b",
        "a%2e",
        "a:80",
        "a*b",
        "bücher.example",
        "a\u{3002}b",
        "１２７.0.0.1",
        "\u{212a}.example",
        "[::1",
        "::1]",
        "[]",
        "[::1%eth0]",
        "::1%1",
        "fe80::1%25eth0",
        "[127.0.0.1]",
        "[[::1]]",
        "256.1.1.1",
        "1.256.1.1",
        "1.1.256.1",
        "1.2.3.4.5",
        "1.2.3.256",
        "1.2.65536",
        "4294967296",
        "08.1.1.1",
        "0x100000000",
        "a.1",
        "1.2.3.0xg.4",
        "99999999999999999999999",
        "1.-2.3.4",
        "docs.rs.0x1",
    ] {
        assert!(HostName::parse(text).is_err(), "{text:?} is {:?}", HostName::parse(text));
    }
}

#[test]
fn the_limits_of_dns() {
    let label = "a".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
    assert_eq!(longest.len(), 253);
    assert!(HostName::parse(&longest).is_ok());
    assert!(HostName::parse(&format!("{longest}.")).is_ok());
    assert!(HostName::parse(&format!("{longest}a")).is_err());
    assert!(HostName::parse(&format!("{label}a.example")).is_err());
}

#[test]
fn a_refusal_is_short_and_shows_no_control_characters() {
    let message = HostName::parse(&"\u{1b}]52;".repeat(10_000)).unwrap_err();
    assert!(message.len() < 1000 && !message.contains('\u{1b}'), "{message}");
}

/// One number in any of the forms that the C library reads.
fn spelled(number: u32, form: u8, zeros: usize) -> String {
    let zeros = "0".repeat(zeros);
    match form {
        0 => number.to_string(),
        1 => format!("0{zeros}{number:o}"),
        2 => format!("0x{zeros}{number:x}"),
        _ => format!("0X{zeros}{number:X}"),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_form_of_every_address(
        bits in any::<u32>(),
        parts in 1_u32..=4,
        forms in any::<[u8; 4]>(),
        zeros in 0_usize..4,
        dot in any::<bool>(),
    ) {
        let mut words: Vec<String> = (0..parts - 1)
            .map(|i| spelled(bits >> (24 - 8 * i) & 0xff, forms[i as usize] % 4, zeros))
            .collect();
        let rest = u64::from(bits) & ((1_u64 << (32 - 8 * (parts - 1))) - 1);
        words.push(spelled(rest as u32, forms[3] % 4, zeros));
        let text = words.join(".") + if dot { "." } else { "" };
        let expected = HostName::Address(IpAddr::V4(Ipv4Addr::from_bits(bits)));
        prop_assert_eq!(HostName::parse(&text), Ok(expected), "{}", text);
    }

    /// Wherever the URL standard sees an address we see the same one; where we see a name, so
    /// does it, and the same.
    #[test]
    fn agrees_with_the_url_standard(pieces in proptest::collection::vec(select(vec![
        "0", "1", "7", "9", "255", "256", "0x", "x", "f", "a", "G", "-", "_", ".", ".", ".", "[", "]", ":", "::",
        "ffff", "%", "@", " ", "\0", "é", "\u{3002}", "4294967295", "\u{ad}", "xn--",
    ]), 0..9)) {
        let text = pieces.concat();
        let ours = HostName::parse(&text);
        match url::Host::parse(&text) {
            Ok(url::Host::Ipv4(theirs)) => {
                // Refusing what it makes of odd characters is fine; another answer is not.
                if let Ok(ours) = ours {
                    prop_assert_eq!(ours, HostName::from(IpAddr::V4(theirs)), "{:?}", text);
                } else {
                    prop_assert!(!text.is_ascii() || text.contains('%'), "{:?} is {}", text, theirs);
                }
            }
            Ok(url::Host::Ipv6(theirs)) => {
                prop_assert_eq!(ours, Ok(HostName::from(IpAddr::V6(theirs))), "{:?}", text);
            }
            Ok(url::Host::Domain(theirs)) => match ours {
                Ok(HostName::Name(ours)) => {
                    prop_assert_eq!(ours, theirs.trim_end_matches('.'), "{:?}", text);
                }
                Ok(HostName::Address(ours)) => prop_assert!(false, "{:?} is {}", text, ours),
                Err(_) => {}
            },
            Err(_) => if let Ok(HostName::Address(IpAddr::V4(ours))) = ours {
                prop_assert!(false, "{:?} is {}", text, ours);
            },
        }
    }

    #[test]
    fn what_is_shown_is_read_back(text in "[a-zA-Z0-9.:_x\\[\\]-]{0,12}") {
        if let Ok(host) = HostName::parse(&text) {
            prop_assert_eq!(HostName::parse(&host.to_string()), Ok(host));
        }
    }
}
