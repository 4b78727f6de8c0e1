//! Look up, check and dial as one step.
//!
//! A name is looked up once. Every address of the answer is checked, and only checked addresses
//! are ever dialled: a server that answers a public address to the check and a private one to the
//! connection has no second look-up to answer. One address that may not be reached refuses the
//! whole name, since no honest name points both outside and inside.
//!
//! What the outcome was goes into the receipt of the call: a [`Denial`](crate::receipt::Denial)
//! for a refusal, and for everything that was tried an [`HttpUse`], written when its [`Entry`] is
//! dropped, whatever the reason.

mod resolve;
#[cfg(test)]
pub(super) mod support;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::rate::RateLimiter;
use crate::policy::{AddressClass, HostName, Network, Permission, classify};
use crate::receipt::{HttpUse, Ledger};
use crate::tool::{Answer, Approver, Question, ToolError};

pub use resolve::{Resolve, SystemResolver};

/// Longer than an honest resolver needs for a name that exists; shorter than the 30 s after which
/// the system's own gives up on a server that never answers.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// A dead first address must leave time for the second within [`CONNECT_TIMEOUT`].
const ADDRESS_TIMEOUT: Duration = Duration::from_secs(4);

/// All attempts for one connection together.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The ports that a grant for every public host speaks of. Other services (22, 25, 6379) answer to
/// anybody who knocks, and a request can be made to look like theirs; they have to be named.
const PUBLIC_PORTS: [u16; 2] = [80, 443];

/// Addresses tried for one connection. All answers are checked; dialling hundreds for one request
/// would make us somebody's port scanner.
const MAX_DIALLED: usize = 4;

/// Addresses that one name may have. More is no service, only work.
const MAX_ANSWERS: usize = 256;

/// Bytes of a URL kept in a receipt or shown in a question.
const MAX_SHOWN: usize = 2048;

/// Where somebody wants to connect to, and what for.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub host: &'a HostName,
    pub port: u16,
    /// None where the method cannot be seen, as in a tunnel.
    pub method: Option<&'a str>,
    /// The exact act as the user is shown it.
    pub act: &'a str,
}

/// Connects on behalf of one call of one tool, within that call's network grant.
#[derive(Clone)]
pub struct Dialler {
    tool: Arc<str>,
    network: Arc<Network>,
    /// The same grant without what it gives for every public host.
    named_only: Arc<Network>,
    resolver: Arc<dyn Resolve>,
    approver: Arc<dyn Approver>,
    ledger: Ledger,
    /// Whoever counts the requests to each host, and how many a minute may be made.
    rate: Option<(Arc<RateLimiter>, u32)>,
    lookup_timeout: Duration,
}

impl Dialler {
    pub fn new(
        tool: impl Into<Arc<str>>,
        network: Arc<Network>,
        resolver: Arc<dyn Resolve>,
        approver: Arc<dyn Approver>,
        ledger: Ledger,
    ) -> Self {
        let named_only =
            Arc::new(Network { public: Permission::Deny, rules: network.rules.clone() });
        Dialler {
            tool: tool.into(),
            network,
            named_only,
            resolver,
            approver,
            ledger,
            rate: None,
            lookup_timeout: LOOKUP_TIMEOUT,
        }
    }

    /// The same, with at most `per_minute` requests to a host. Only what the grant allows is
    /// counted, under the host's one true name: neither another spelling nor names that were
    /// refused change what is left.
    pub fn limited(self, rate: Arc<RateLimiter>, per_minute: u32) -> Self {
        Dialler { rate: Some((rate, per_minute)), ..self }
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The addresses that may be dialled for `target`, at least one, or why there are none.
    pub async fn authorise(&self, target: Target<'_>) -> Result<Vec<SocketAddr>, ToolError> {
        let Target { host, port, method, .. } = target;
        if port == 0 {
            return Err(ToolError::invalid_input(
                "port 0 cannot be connected to; name a port from 1 to 65535",
            ));
        }
        // Before the user is asked: what a yes would not allow is not worth a question.
        if let HostName::Address(address) = host {
            self.check_address(target, *address)?;
        }
        let grant = if PUBLIC_PORTS.contains(&port) { &self.network } else { &self.named_only };
        let permission = grant.permission(host, port, method);
        match permission {
            Permission::Allow => {}
            Permission::Ask => self.ask(target).await?,
            Permission::Deny => return Err(self.not_granted(target)),
        }
        self.count(target)?;
        match host {
            HostName::Address(address) => Ok(vec![SocketAddr::new(*address, port)]),
            // After the permission: a look-up alone already tells the name's owner something.
            HostName::Name(name) => {
                let answers = self.look_up(name).await?;
                let mut asked = permission == Permission::Ask;
                for answer in &answers {
                    let by_address = self.check_address(target, *answer)?;
                    if by_address == Permission::Ask && !asked {
                        self.ask(target).await?;
                        asked = true;
                    }
                }
                Ok(answers.into_iter().map(|answer| SocketAddr::new(answer, port)).collect())
            }
        }
    }

    /// Connects to the first address that answers. They must come from [`Dialler::authorise`].
    pub async fn connect(&self, addresses: &[SocketAddr]) -> Result<TcpStream, ToolError> {
        let attempts = async {
            let mut outcome = ToolError::failed("there is no address to connect to");
            for address in dialled(addresses) {
                outcome = match timeout(ADDRESS_TIMEOUT, TcpStream::connect(address)).await {
                    Ok(Ok(stream)) => return Ok(stream),
                    Ok(Err(error)) => {
                        ToolError::failed(format!("cannot connect to {address}: {error}"))
                    }
                    Err(_) => timed_out_connecting(address, ADDRESS_TIMEOUT),
                };
            }
            Err(outcome)
        };
        match timeout(CONNECT_TIMEOUT, attempts).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ToolError::timed_out(format!(
                "no address answered within {} s; try again later",
                CONNECT_TIMEOUT.as_secs()
            ))),
        }
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, ToolError> {
        let answers = match timeout(self.lookup_timeout, self.resolver.resolve(name)).await {
            Ok(Ok(answers)) => answers,
            Ok(Err(error)) => {
                return Err(ToolError::not_found(format!(
                    "host {name} cannot be looked up: {error}; check its spelling"
                )));
            }
            Err(_) => {
                return Err(ToolError::timed_out(format!(
                    "looking up host {name} took more than {} s; try again later",
                    self.lookup_timeout.as_secs()
                )));
            }
        };
        if answers.is_empty() {
            return Err(ToolError::not_found(format!(
                "host {name} has no address; check its spelling"
            )));
        }
        if answers.len() > MAX_ANSWERS {
            return Err(ToolError::limit_exceeded(format!(
                "host {name} has {} addresses, the limit is {MAX_ANSWERS}",
                answers.len()
            )));
        }
        Ok(answers)
    }

    /// What the grant says about dialling `address` itself for `target`. A public address is left
    /// to the permission of the host; any other needs a rule of its own, whose methods and asking
    /// hold for every name that points there.
    fn check_address(&self, target: Target<'_>, address: IpAddr) -> Result<Permission, ToolError> {
        let Target { host, port, method, .. } = target;
        let class = classify(address);
        let permission = if !self.network.allows_address(address, port) {
            Permission::Deny
        } else if class == AddressClass::Public {
            Permission::Allow
        } else {
            self.network.permission(&HostName::from(address), port, method)
        };
        if permission != Permission::Deny {
            return Ok(permission);
        }
        let place = match host {
            HostName::Address(_) => format!("{address} is a {class} address"),
            HostName::Name(name) => format!("{name} resolves to {address}, a {class} address"),
        };
        let rule = format!("{class} addresses are reached only where a rule names them");
        let named = SocketAddr::new(address, port);
        self.ledger.denial(authority(host, port), format!("{place}; {rule}"));
        Err(ToolError::denied(format!("{place}; {rule}: allow it with --allow-host {named}")))
    }

    fn count(&self, target: Target<'_>) -> Result<(), ToolError> {
        let Some((rate, per_minute)) = &self.rate else { return Ok(()) };
        rate.admit(&target.host.to_string(), *per_minute).inspect_err(|error| {
            self.ledger.denial(authority(target.host, target.port), &error.message);
        })
    }

    fn not_granted(&self, target: Target<'_>) -> ToolError {
        let place = authority(target.host, target.port);
        let what = match target.method {
            Some(method) => format!("{method} {place}"),
            None => format!("a connection to {place}"),
        };
        self.ledger.denial(&place, format!("{what} is not in the network grant"));
        ToolError::denied(format!(
            "{what} is not granted: allow it with --allow-host {place}{}",
            if PUBLIC_PORTS.contains(&target.port) {
                ""
            } else {
                " (ports other than 80 and 443 must be named)"
            }
        ))
    }

    async fn ask(&self, target: Target<'_>) -> Result<(), ToolError> {
        let place = authority(target.host, target.port);
        // "Always" is remembered by subject: one for the port that everybody means, others apart,
        // so that a yes for a web page is not one for its host's mail server.
        let subject = if PUBLIC_PORTS.contains(&target.port) {
            format!("host {}", target.host)
        } else {
            format!("host {place}")
        };
        let question = Question { tool: self.tool.to_string(), subject, act: shown(target.act) };
        match self.approver.ask(question).await {
            Answer::Once | Answer::Session => Ok(()),
            Answer::Refuse => {
                self.ledger
                    .denial(&place, "the user was asked and refused, or nobody was there to ask");
                Err(ToolError::denied(format!(
                    "connecting to {place} was refused by the user, or nobody was there to ask: \
                     allow it beforehand with --allow-host {place}"
                )))
            }
        }
    }
}

/// The addresses that are tried, in their order.
pub(super) fn dialled(addresses: &[SocketAddr]) -> impl Iterator<Item = SocketAddr> + '_ {
    addresses.iter().copied().take(MAX_DIALLED)
}

fn timed_out_connecting(address: SocketAddr, after: Duration) -> ToolError {
    ToolError::timed_out(format!(
        "{address} did not answer within {} s; try again later",
        after.as_secs()
    ))
}

/// `HOST:PORT`, as `--allow-host` takes it.
pub(super) fn authority(host: &HostName, port: u16) -> String {
    format!("{host}:{port}")
}

/// Cut to what a receipt or a question holds.
fn shown(text: &str) -> String {
    match text.char_indices().find(|(at, _)| *at >= MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// One exchange on its way into the receipt, where it arrives when this is dropped.
pub(super) struct Entry {
    ledger: Ledger,
    pub(super) usage: HttpUse,
}

impl Entry {
    pub(super) fn new(ledger: &Ledger, method: &str, url: &str) -> Self {
        let usage = HttpUse {
            method: shown(method),
            url: shown(url),
            address: None,
            status: None,
            received_bytes: 0,
        };
        Entry { ledger: ledger.clone(), usage }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.ledger.http(self.usage.clone());
    }
}
