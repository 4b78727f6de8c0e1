//! Both sides of every boundary of the special ranges.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::super::AddressClass::*;
use super::super::*;
use super::{config, ip};

/// First and last address of a range, its class, and the classes of the addresses around it.
type Row = (&'static str, &'static str, AddressClass, AddressClass, AddressClass);

fn step(address: IpAddr, up: bool) -> Option<IpAddr> {
    let next = |bits: u128| if up { bits.checked_add(1) } else { bits.checked_sub(1) };
    match address {
        IpAddr::V4(v4) => {
            let bits = u32::try_from(next(v4.to_bits().into())?).ok()?;
            Some(Ipv4Addr::from_bits(bits).into())
        }
        IpAddr::V6(v6) => next(v6.to_bits()).map(|bits| Ipv6Addr::from_bits(bits).into()),
    }
}

fn check((first, last, class, before, after): Row) {
    let (first, last) = (ip(first), ip(last));
    for inside in [first, last] {
        assert_eq!(classify(inside), class, "{inside}");
    }
    for (neighbour, expected) in [(step(first, false), before), (step(last, true), after)] {
        if let Some(neighbour) = neighbour {
            assert_eq!(classify(neighbour), expected, "{neighbour}");
        }
    }
}

#[test]
fn ranges_of_ipv4() {
    let rows: [Row; 23] = [
        ("0.0.0.0", "0.0.0.0", Unspecified, Unspecified, Reserved),
        ("0.0.0.1", "0.255.255.255", Reserved, Unspecified, Public),
        ("10.0.0.0", "10.255.255.255", Private, Public, Public),
        ("100.64.0.0", "100.127.255.255", Shared, Public, Public),
        ("100.100.100.200", "100.100.100.200", Metadata, Shared, Shared),
        ("127.0.0.0", "127.255.255.255", Loopback, Public, Public),
        ("168.63.129.16", "168.63.129.16", Metadata, Public, Public),
        ("169.254.0.0", "169.254.255.255", LinkLocal, Public, Public),
        ("169.254.169.254", "169.254.169.254", Metadata, LinkLocal, LinkLocal),
        ("172.16.0.0", "172.31.255.255", Private, Public, Public),
        ("192.0.0.0", "192.0.0.255", Reserved, Public, Public),
        ("192.0.2.0", "192.0.2.255", Documentation, Public, Public),
        ("192.31.196.0", "192.31.196.255", Reserved, Public, Public),
        ("192.52.193.0", "192.52.193.255", Reserved, Public, Public),
        ("192.88.99.0", "192.88.99.255", Reserved, Public, Public),
        ("192.168.0.0", "192.168.255.255", Private, Public, Public),
        ("192.175.48.0", "192.175.48.255", Reserved, Public, Public),
        ("198.18.0.0", "198.19.255.255", Benchmarking, Public, Public),
        ("198.51.100.0", "198.51.100.255", Documentation, Public, Public),
        ("203.0.113.0", "203.0.113.255", Documentation, Public, Public),
        ("224.0.0.0", "239.255.255.255", Multicast, Public, Reserved),
        ("240.0.0.0", "255.255.255.254", Reserved, Multicast, Reserved),
        ("255.255.255.255", "255.255.255.255", Reserved, Reserved, Public),
    ];
    rows.into_iter().for_each(check);
}

#[test]
fn ranges_of_ipv6() {
    let rows: [Row; 18] = [
        ("::", "::", Unspecified, Unspecified, Loopback),
        ("::1", "::1", Loopback, Unspecified, Reserved),
        ("100::", "100::ffff:ffff:ffff:ffff", Reserved, Reserved, Reserved),
        ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", Reserved, Reserved, Reserved),
        ("1000::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved, Reserved, Public),
        ("2001:1::", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", Reserved, Reserved, Benchmarking),
        ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Benchmarking, Reserved, Reserved),
        ("2001:2:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved, Benchmarking, Public),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Documentation, Public, Public),
        ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", Reserved, Public, Public),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Documentation, Public, Public),
        ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved, Public, Private),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved, Reserved, Reserved),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private, Reserved, Reserved),
        ("fd00:ec2::254", "fd00:ec2::254", Metadata, Private, Private),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", LinkLocal, Reserved, Private),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private, LinkLocal, Multicast),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Multicast, Private, Public),
    ];
    rows.into_iter().for_each(check);
    // The edges of ranges that carry something, where the inside depends on it.
    for public in [
        "2000::",
        "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:200::",
        "2001:ffff::",
        "2003::",
        "2606:4700:4700::1111",
    ] {
        assert_eq!(classify(ip(public)), Public, "{public}");
    }
}

#[test]
fn carried_addresses_by_example() {
    for (text, class) in [
        ("::ffff:169.254.169.254", Metadata),
        ("::169.254.169.254", Metadata),
        ("::ffff:0:127.0.0.1", Loopback),
        ("64:ff9b::a9fe:a9fe", Metadata),
        ("64:ff9b::808:808", Public),
        ("64:ff9b:1::a9fe:a9fe", Metadata),
        ("64:ff9b:1::808:808", Reserved),
        ("64:ff9b:1:a9fe:a9:fe00::", Unspecified),
        ("64:ff9b:2::808:808", Reserved),
        ("64:ff9b::1:808:808", Reserved),
        ("2002:a9fe:a9fe::", Metadata),
        ("2002:a00:1::1", Private),
        ("2002:808:808::1", Public),
        ("2002:808:808::5efe:a00:1", Private),
        ("2001:0:a00:1::f7f7:f7f7", Private),
        ("2001:0:808:808::f5ff:fffe", Private),
        ("2001:0:808:808::5601:5601", Metadata),
        ("2001:0:808:808::f7f7:f7f7", Reserved),
        ("2606:4700::5efe:7f00:1", Loopback),
        ("2606:4700::200:5efe:c0a8:1", Private),
        ("2606:4700::5efe:808:808", Public),
        ("2606:4700::5efd:7f00:1", Public),
        ("2606:4700::100:5efe:7f00:1", Public),
        ("fe80::5efe:808:808", LinkLocal),
        ("::8.8.8.8", Reserved),
        ("::2", Reserved),
        ("::fffe:8.8.8.8", Reserved),
        ("::ffff:8.8.8.8", Public),
        ("::1:ffff:8.8.8.8", Reserved),
    ] {
        assert_eq!(classify(ip(text)), class, "{text}");
    }
}

/// Addresses near the boundaries more often than chance would have it.
fn any_v4() -> impl Strategy<Value = Ipv4Addr> {
    let first = proptest::sample::select(vec![
        0_u8, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 255, 8,
    ]);
    let near = (first, any::<[u8; 3]>()).prop_map(|(a, [b, c, d])| Ipv4Addr::new(a, b, c, d));
    prop_oneof![near, any::<u32>().prop_map(Ipv4Addr::from_bits)]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_carries_it_is_never_wider(v4 in any_v4(), other in any::<u128>()) {
        let class = classify(v4.into());
        let low = u128::from(v4.to_bits());
        let prefix = |text: &str| text.parse::<Ipv6Addr>().unwrap().to_bits();
        let of = |bits: u128| classify(Ipv6Addr::from_bits(bits).into());
        prop_assert_eq!(of(prefix("::ffff:0:0") | low), class);
        prop_assert_eq!(of(prefix("64:ff9b::") | low), class);
        let after_6to4 = other >> 48;
        let teredo_server = prefix("2001::") | low << 64 | other & u128::from(u64::MAX);
        let teredo_client = prefix("2001:0:808:808::") | u128::from(!v4.to_bits());
        let carriers = [
            low,
            prefix("::ffff:0:0:0") | low,
            prefix("64:ff9b:1::") | low,
            prefix("2002::") | low << 80 | after_6to4,
            teredo_server,
            teredo_client,
            prefix("2606:4700::5efe:0:0") | low,
            prefix("2606:4700:0:0:200:5efe::") | low,
        ];
        for bits in carriers {
            prop_assert!(class == Public || of(bits) != Public, "{}", Ipv6Addr::from_bits(bits));
        }
    }

    /// The standard library's opinion where it has one.
    #[test]
    fn agrees_with_the_standard_library(v4 in any_v4(), bits in any::<u128>()) {
        if v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast()
            || v4.is_broadcast() || v4.is_documentation() || v4.is_unspecified() {
            prop_assert_ne!(classify(v4.into()), Public);
        }
        let v6 = Ipv6Addr::from_bits(bits);
        if v6.is_multicast() || v6.is_unique_local() || v6.is_unicast_link_local() || v6.segments()[0] >> 13 != 1 {
            prop_assert_ne!(classify(v6.into()), Public);
        }
    }
}
