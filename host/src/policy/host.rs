//! The name of a host, read once and the same for everybody.
//!
//! What a resolver or a URL parser takes for an address must be an address here too, or
//! `http://2852039166/` would be a harmless name to the check and 169.254.169.254 to the socket.
//! So every number form is read as the C library and the URL standard read it, and what cannot be
//! read with certainty is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Serialize, Serializer};

/// The limits of DNS.
const MAX_NAME_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

/// A host, by name or by address. Made by [`HostName::parse`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostName {
    /// Lower case, ASCII (punycode), without the trailing dot.
    Name(String),
    /// An IPv4 address that was written as a mapped IPv6 address is here as IPv4.
    Address(IpAddr),
}

impl HostName {
    /// Reads a host as it stands in a URL: a name, an IPv4 address in any form, or an IPv6 address
    /// with or without brackets. No port.
    pub fn parse(text: &str) -> Result<HostName, String> {
        if text.is_empty() {
            return Err("the host is empty".to_owned());
        }
        if let Some(rest) = text.strip_prefix('[') {
            let inner =
                rest.strip_suffix(']').ok_or_else(|| refusal(text, "the bracket is not closed"))?;
            return parse_v6(inner);
        }
        if text.contains(':') {
            return parse_v6(text);
        }
        parse_name(text)
    }

    /// The one form in which each address stands in the result of an intersection.
    pub(super) fn canonical(&self) -> HostName {
        match self {
            HostName::Name(_) => self.clone(),
            HostName::Address(address) => HostName::from(*address),
        }
    }

    /// Whether both are the same place, even if one was not made by [`HostName::parse`] and holds
    /// a mapped address.
    pub(super) fn same(&self, other: &HostName) -> bool {
        match (self, other) {
            (HostName::Name(a), HostName::Name(b)) => a == b,
            (HostName::Address(a), HostName::Address(b)) => a.to_canonical() == b.to_canonical(),
            _ => false,
        }
    }
}

impl From<IpAddr> for HostName {
    fn from(address: IpAddr) -> Self {
        HostName::Address(address.to_canonical())
    }
}

impl fmt::Display for HostName {
    /// As in a URL: IPv6 in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostName::Name(name) => f.write_str(name),
            HostName::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            HostName::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl Serialize for HostName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The text is quoted with its control characters escaped, and cut: it may come from a stranger.
pub(super) fn refusal(text: &str, why: &str) -> String {
    const SHOWN_CHARACTERS: usize = 80;
    let shown: String = text.chars().take(SHOWN_CHARACTERS).collect();
    format!("{shown:?} is not a host: {why}")
}

fn parse_v6(text: &str) -> Result<HostName, String> {
    if text.contains('%') {
        return Err(refusal(text, "zone ids are not supported"));
    }
    match text.parse::<Ipv6Addr>() {
        Ok(address) => Ok(HostName::from(IpAddr::V6(address))),
        Err(_) => Err(refusal(text, "not an IPv6 address")),
    }
}

fn parse_name(text: &str) -> Result<HostName, String> {
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    if name.len() > MAX_NAME_BYTES {
        return Err(refusal(text, "longer than 253 bytes"));
    }
    if !name.is_ascii() {
        return Err(refusal(text, "write international names in their ASCII form (xn--)"));
    }
    // Whatever else a URL can hold (userinfo, paths, escapes, spaces) is left out by this.
    if !name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.')) {
        return Err(refusal(text, "only letters, digits, `-`, `_` and `.` are allowed"));
    }
    let labels: Vec<&str> = name.split('.').collect();
    if labels.iter().any(|label| label.is_empty() || label.len() > MAX_LABEL_BYTES) {
        return Err(refusal(text, "a label is empty or longer than 63 bytes"));
    }
    if labels.last().is_some_and(|label| looks_like_number(label)) {
        return match parse_v4(&labels) {
            Some(address) => Ok(HostName::Address(IpAddr::V4(address))),
            None => Err(refusal(text, "it ends in a number but is not an IPv4 address")),
        };
    }
    Ok(HostName::Name(name))
}

/// Whether a last label makes the whole an IPv4 address, as the URL standard has it.
fn looks_like_number(label: &str) -> bool {
    match label.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => label.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// One to four numbers, the last of which fills all the bytes that are left.
fn parse_v4(labels: &[&str]) -> Option<Ipv4Addr> {
    let numbers = labels.iter().map(|label| parse_number(label)).collect::<Option<Vec<u64>>>()?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|number| *number > 0xff) {
        return None;
    }
    let bits_left = 32 - 8 * first.len();
    if *last >= 1 << bits_left {
        return None;
    }
    let high = first.iter().fold(0, |sum, number| sum << 8 | number);
    u32::try_from(high << bits_left | last).ok().map(Ipv4Addr::from_bits)
}

/// Decimal, octal after `0`, hexadecimal after `0x`. The text is lower case.
fn parse_number(label: &str) -> Option<u64> {
    let (digits, radix) = match label.strip_prefix("0x") {
        // The URL standard reads a bare `0x` as zero.
        Some("") => ("0", 16),
        Some(hex) => (hex, 16),
        None if label.len() > 1 && label.starts_with('0') => (label, 8),
        None => (label, 10),
    };
    // The standard's reader would take a sign; the labels here cannot hold `+`, but can hold `-`.
    digits
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then(|| u64::from_str_radix(digits, radix).ok())?
}
