//! What kind of place an IP address is.
//!
//! Only [`AddressClass::Public`] may be reached without being named. An IPv6 address that carries
//! an IPv4 address counts as what it carries: the packet ends there, whatever the spelling. A
//! translator with a prefix of its own choosing cannot be recognised; its prefix is part of the
//! public space and only its operator knows it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressClass {
    /// Global unicast that is none of the others.
    Public,
    Unspecified,
    Loopback,
    /// RFC 1918, unique local, site local.
    Private,
    /// Between a provider and its customers (100.64.0.0/10).
    Shared,
    LinkLocal,
    /// Where a cloud hands credentials to its machines.
    Metadata,
    Multicast,
    Documentation,
    Benchmarking,
    /// Set aside for anything else, or not given out.
    Reserved,
}

impl AddressClass {
    pub fn as_str(self) -> &'static str {
        match self {
            AddressClass::Public => "public",
            AddressClass::Unspecified => "unspecified",
            AddressClass::Loopback => "loopback",
            AddressClass::Private => "private",
            AddressClass::Shared => "shared",
            AddressClass::LinkLocal => "link-local",
            AddressClass::Metadata => "metadata",
            AddressClass::Multicast => "multicast",
            AddressClass::Documentation => "documentation",
            AddressClass::Benchmarking => "benchmarking",
            AddressClass::Reserved => "reserved",
        }
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    use AddressClass::*;
    // Other clouds use addresses in the link-local and private ranges, which are refused as such.
    match address.octets() {
        [169, 254, 169, 254] | [100, 100, 100, 200] | [168, 63, 129, 16] => Metadata,
        [0, 0, 0, 0] => Unspecified,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Private,
        [100, 64..=127, ..] => Shared,
        [127, ..] => Loopback,
        [169, 254, ..] => LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Documentation,
        [198, 18..=19, ..] => Benchmarking,
        // "This network"; protocol assignments; 6to4 relays; AS112 sinks; AMT relays. Nobody
        // serves anything there.
        [0, ..]
        | [192, 0, 0, _]
        | [192, 88, 99, _]
        | [192, 31, 196, _]
        | [192, 175, 48, _]
        | [192, 52, 193, _] => Reserved,
        [224..=239, ..] => Multicast,
        [240..=255, ..] => Reserved,
        _ => Public,
    }
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    use AddressClass::*;
    const CLOUD_METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    match address {
        Ipv6Addr::UNSPECIFIED => return Unspecified,
        Ipv6Addr::LOCALHOST => return Loopback,
        CLOUD_METADATA => return Metadata,
        _ => {}
    }
    let inner = carried(address);
    if let Some(class) =
        inner.iter().flatten().map(|v4| classify_v4(*v4)).find(|class| *class != Public)
    {
        return class;
    }
    match address.segments() {
        // Mapped, and the well-known translation prefix: in daily use, and the address inside is
        // where it goes. It is public, or we would not be here.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => Public,
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Private,
        [0xfe80..=0xfebf, ..] => LinkLocal,
        [0xff00..=0xffff, ..] => Multicast,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => Documentation,
        [0x2001, 2, 0, ..] => Benchmarking,
        // Protocol assignments, Teredo and ORCHID among them; AS112 sinks.
        [0x2001, 0..=0x01ff, ..] | [0x2620, 0x4f, 0x8000, ..] => Reserved,
        [0x2000..=0x3fff, ..] => Public,
        // Only 2000::/3 is given out as global unicast.
        _ => Reserved,
    }
}

/// The IPv4 addresses inside an IPv6 address, for every transition scheme whose form it has.
fn carried(address: Ipv6Addr) -> [Option<Ipv4Addr>; 3] {
    let s = address.segments();
    let last = join(s[6], s[7]);
    let by_prefix = match s {
        // Compatible, mapped, translated; NAT64 with the well-known and the local prefix. The
        // local one may hold its address elsewhere too, but is never public in any case.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..]
        | [0x64, 0xff9b, 1, ..] => [Some(last), None],
        // 6to4.
        [0x2002, high, low, ..] => [Some(join(high, low)), None],
        // Teredo: its server in the clear, its client with every bit turned over.
        [0x2001, 0, high, low, ..] => [Some(join(high, low)), Some(join(!s[6], !s[7]))],
        _ => [None, None],
    };
    // ISATAP marks the lower half, under any prefix.
    let isatap = matches!(s, [_, _, _, _, 0 | 0x200, 0x5efe, ..]).then_some(last);
    [by_prefix[0], by_prefix[1], isatap]
}

fn join(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}
