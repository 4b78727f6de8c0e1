//! One rule about one host.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::Permission;
use super::host::{HostName, refusal};

/// One host, and what may be done there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct HostRule {
    pub host: HostName,
    /// None: every port.
    pub port: Option<u16>,
    /// None: every method. Empty: none at all. Methods are compared exactly; they are upper case.
    pub methods: Option<BTreeSet<String>>,
    pub permission: Permission,
}

impl HostRule {
    /// Reads `HOST` or `HOST:PORT`, allowed without asking. IPv6 addresses are in brackets.
    pub fn parse(text: &str) -> Result<HostRule, String> {
        let (host, port) = split_port(text)?;
        let port = port.map(|port| parse_port(text, port)).transpose()?;
        Ok(HostRule {
            host: HostName::parse(host)?,
            port,
            methods: None,
            permission: Permission::Allow,
        })
    }

    /// Whether there is anything that it allows, be it after asking.
    pub fn is_empty(&self) -> bool {
        self.permission == Permission::Deny
            || self.port == Some(0)
            || self.methods.as_ref().is_some_and(BTreeSet::is_empty)
    }

    pub(super) fn matches(&self, host: &HostName, port: u16, method: Option<&str>) -> bool {
        let method_matches = match (&self.methods, method) {
            (None, _) => true,
            (Some(methods), Some(method)) => methods.contains(method),
            // Inside a tunnel nobody sees the method, so a list of methods cannot be kept to.
            (Some(_), None) => false,
        };
        method_matches && self.port.is_none_or(|mine| mine == port) && self.host.same(host)
    }

    /// What both rules allow; none if they have nothing in common.
    pub(super) fn intersect(&self, other: &HostRule) -> Option<HostRule> {
        if !self.host.same(&other.host) {
            return None;
        }
        let port = match (self.port, other.port) {
            (Some(a), Some(b)) if a != b => return None,
            (a, b) => a.or(b),
        };
        let methods = match (&self.methods, &other.methods) {
            (Some(a), Some(b)) => Some(a & b),
            (a, b) => a.as_ref().or(b.as_ref()).cloned(),
        };
        let permission = self.permission.min(other.permission);
        let rule = HostRule { host: self.host.canonical(), port, methods, permission };
        (!rule.is_empty()).then_some(rule)
    }

    /// Whether this rule alone allows all that the other one allows.
    pub(super) fn covers(&self, other: &HostRule) -> bool {
        let methods = match (&self.methods, &other.methods) {
            (None, _) => true,
            (Some(mine), Some(theirs)) => theirs.is_subset(mine),
            (Some(_), None) => false,
        };
        methods
            && self.host.same(&other.host)
            && (self.port.is_none() || self.port == other.port)
            && self.permission >= other.permission
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.host)?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        if let Some(methods) = &self.methods {
            let methods: Vec<&str> = methods.iter().map(String::as_str).collect();
            write!(f, " ({})", methods.join(", "))?;
        }
        match self.permission {
            Permission::Deny => f.write_str(" denied"),
            Permission::Ask => f.write_str(" after asking"),
            Permission::Allow => Ok(()),
        }
    }
}

/// Takes `HOST:PORT` apart.
fn split_port(text: &str) -> Result<(&str, Option<&str>), String> {
    if text.starts_with('[') {
        let end = text.find(']').ok_or_else(|| refusal(text, "the bracket is not closed"))?;
        let (host, rest) = text.split_at(end + 1);
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(refusal(text, "only a port may follow the bracket")),
        };
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => {
            Err(refusal(text, "write an IPv6 address in brackets, as in [::1]:80"))
        }
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((text, None)),
    }
}

fn parse_port(text: &str, port: &str) -> Result<u16, String> {
    let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    match port.parse() {
        Ok(number) if digits && number != 0 => Ok(number),
        _ => Err(refusal(text, "the port is a number from 1 to 65535")),
    }
}
