//! Grants by a few words: `grant::reading().host("127.0.0.1:8080").deadline_ms(500)`.

use xzatoma::policy::{Access, Authority, DirGrant, Dirs, GuestPath, HostRule, Permission};

/// No authority at all, with the default limits.
pub fn nothing() -> Authority {
    Authority::default()
}

/// The workspace, to read.
pub fn reading() -> Authority {
    nothing().dir("/workspace", Access::Read)
}

/// The workspace, to read and write.
pub fn writing() -> Authority {
    nothing().dir("/workspace", Access::Write)
}

/// Adds to an authority.
pub trait Add: Sized {
    /// A directory by its guest path.
    fn dir(self, path: &str, access: Access) -> Self;
    /// `HOST` or `HOST:PORT`, as `--allow-host` takes it.
    fn host(self, rule: &str) -> Self;
    /// Every public address.
    fn public(self) -> Self;
    /// A program, as `--allow-command` takes it.
    fn program(self, name: &str) -> Self;
    fn deadline_ms(self, deadline: u64) -> Self;
    fn memory_mib(self, memory: u64) -> Self;
    fn body_bytes(self, bytes: u64) -> Self;
    fn requests_per_minute(self, requests: u32) -> Self;
}

impl Add for Authority {
    fn dir(mut self, path: &str, access: Access) -> Self {
        let added = DirGrant { path: GuestPath::parse(path).unwrap(), access };
        self.dirs = Dirs::new(self.dirs.iter().cloned().chain([added]));
        self
    }

    fn host(mut self, rule: &str) -> Self {
        self.network.rules.push(HostRule::parse(rule).unwrap());
        self
    }

    fn public(mut self) -> Self {
        self.network.public = Permission::Allow;
        self
    }

    fn program(mut self, name: &str) -> Self {
        self.programs.named.insert(name.to_owned(), Permission::Allow);
        self
    }

    fn deadline_ms(mut self, deadline: u64) -> Self {
        self.limits.deadline_ms = deadline;
        self
    }

    fn memory_mib(mut self, memory: u64) -> Self {
        self.limits.memory_bytes = memory << 20;
        self
    }

    fn body_bytes(mut self, bytes: u64) -> Self {
        self.limits.http_body_bytes = bytes;
        self
    }

    fn requests_per_minute(mut self, requests: u32) -> Self {
        self.limits.requests_per_minute = requests;
        self
    }
}
