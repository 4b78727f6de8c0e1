//! Which hosts may be reached, as data.
//!
//! Two questions, because a name is not a place. [`Network::permission`] is asked about the host
//! that a request names. [`Network::allows_address`] is asked about every address that it
//! resolves to, before it is dialled. A rule that names a host never opens a private address:
//! whoever owns the name could point it anywhere. [`Network::reach`] is both at once.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde::Serialize;

use super::Permission;
use super::address::{AddressClass, classify};
use super::host::HostName;
use super::rule::HostRule;

/// The ports that `public` speaks of. Services on others (22, 25, 6379) answer to anybody who
/// knocks, and a request can be made to look like theirs; they have to be named by a rule.
pub const PUBLIC_PORTS: [u16; 2] = [80, 443];

/// The hosts that may be reached. A rule can only add to what `public` gives; nothing is the
/// default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Network {
    /// For every name, and every address that is public, on [`PUBLIC_PORTS`].
    pub public: Permission,
    pub rules: Vec<HostRule>,
}

impl Network {
    /// Whether a request to `host` may be made. `method` is none where it cannot be seen, as in a
    /// tunnel. Where this is not [`Permission::Deny`], every address that the host resolves to
    /// still has to pass [`Network::allows_address`].
    pub fn permission(&self, host: &HostName, port: u16, method: Option<&str>) -> Permission {
        if port == 0 {
            return Permission::Deny;
        }
        let speaks = is_public(host) && PUBLIC_PORTS.contains(&port);
        let public = if speaks { self.public } else { Permission::Deny };
        self.best_rule(host, port, method).max(public)
    }

    /// Whether `address` may be dialled once the host is permitted: it is public, or a rule names
    /// that very address.
    pub fn allows_address(&self, address: IpAddr, port: u16) -> bool {
        let host = HostName::from(address);
        port != 0
            && (classify(address) == AddressClass::Public
                || self.rules.iter().any(|rule| {
                    !rule.is_empty()
                        && rule.port.is_none_or(|mine| mine == port)
                        && rule.host.same(&host)
                }))
    }

    /// Whether a request to `host` may be made by dialling `address`: the narrower of what the
    /// host and, unless it is public, the address are permitted. Unlike
    /// [`Network::allows_address`] it keeps to the methods and the asking of the address's rule,
    /// so that a name pointed at the address gets no more than the address itself would.
    pub fn reach(
        &self,
        host: &HostName,
        address: IpAddr,
        port: u16,
        method: Option<&str>,
    ) -> Permission {
        let dialled = match classify(address) {
            AddressClass::Public => Permission::Allow,
            _ => self.best_rule(&HostName::from(address), port, method),
        };
        self.permission(host, port, method).min(dialled)
    }

    /// Whether nothing can be reached.
    pub fn is_empty(&self) -> bool {
        self.public == Permission::Deny && self.rules.iter().all(HostRule::is_empty)
    }

    /// What both allow.
    pub fn intersect(&self, other: &Network) -> Network {
        let public = self.public.min(other.public);
        let common = self
            .rules
            .iter()
            .flat_map(|a| other.rules.iter().filter_map(move |b| a.intersect(b)))
            .chain(self.rules.iter().flat_map(|rule| lowered(rule, other.public)))
            .chain(other.rules.iter().flat_map(|rule| lowered(rule, self.public)))
            .filter(|rule| !(is_given_by_public(rule) && rule.permission <= public))
            .collect::<BTreeSet<HostRule>>();
        // No two of them are equal, so of two rules at most one covers the other.
        let rules = common
            .iter()
            .filter(|rule| !common.iter().any(|by| by != *rule && by.covers(rule)))
            .cloned()
            .collect();
        Network { public, rules }
    }

    /// Whether `other` allows all that this allows.
    ///
    /// For a host that is named, the answer can only change at a port or a method that some rule
    /// names; so it is enough to ask both about those, about one port that nobody names, and
    /// about a method that nobody names, which is what an unseen one is.
    pub fn inside(&self, other: &Network) -> bool {
        self.public <= other.public
            && self.rules.iter().filter(|rule| !rule.is_empty()).all(|rule| {
                let ports = match rule.port {
                    Some(port) => vec![port],
                    None => telling_ports(&rule.host, other),
                };
                let methods: Vec<Option<&str>> = match &rule.methods {
                    Some(methods) => methods.iter().map(|method| Some(method.as_str())).collect(),
                    // A rule of the other that lists methods cannot cover those it does not list.
                    None => vec![None],
                };
                ports.iter().all(|port| {
                    methods.iter().all(|method| {
                        other.permission(&rule.host, *port, *method) >= rule.permission
                    })
                })
            })
    }

    fn best_rule(&self, host: &HostName, port: u16, method: Option<&str>) -> Permission {
        if port == 0 {
            return Permission::Deny;
        }
        self.rules
            .iter()
            .filter(|rule| rule.matches(host, port, method))
            .map(|rule| rule.permission)
            .max()
            .unwrap_or_default()
    }
}

/// Whether `public` speaks of this host. A name may turn out to be private, but that is for the
/// address to answer.
fn is_public(host: &HostName) -> bool {
    match host {
        HostName::Name(_) => true,
        HostName::Address(address) => classify(*address) == AddressClass::Public,
    }
}

/// Whether `public` speaks of all that the rule speaks of.
fn is_given_by_public(rule: &HostRule) -> bool {
    is_public(&rule.host) && rule.port.is_some_and(|port| PUBLIC_PORTS.contains(&port))
}

/// What is left of the rule under a ceiling that holds for the public ports of public hosts only.
fn lowered(rule: &HostRule, public: Permission) -> impl Iterator<Item = HostRule> {
    PUBLIC_PORTS
        .into_iter()
        .filter(|port| is_public(&rule.host) && rule.port.is_none_or(|mine| mine == *port))
        .map(move |port| HostRule {
            host: rule.host.canonical(),
            port: Some(port),
            permission: rule.permission.min(public),
            ..rule.clone()
        })
        .filter(|lowered| !lowered.is_empty())
}

/// The ports that rules about `host` name, those that `public` speaks of, and one more.
fn telling_ports(host: &HostName, network: &Network) -> Vec<u16> {
    let named: BTreeSet<u16> = network
        .rules
        .iter()
        .filter(|rule| rule.host.same(host))
        .filter_map(|rule| rule.port)
        .chain(PUBLIC_PORTS)
        .collect();
    let unnamed = (1..=u16::MAX).find(|port| !named.contains(port));
    named.into_iter().filter(|port| *port != 0).chain(unnamed).collect()
}
