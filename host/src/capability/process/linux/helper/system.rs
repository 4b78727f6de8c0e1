//! What of the host's system a confined process sees, read-only.
//!
//! Programs need the system's own files: executables, libraries, certificates, time zones. None
//! of `/home`, `/root`, `/var`, `/run`, `/srv`, `/mnt` or `/sys` is here, and of `/etc` only what
//! is listed, because a host that runs as root could read all of it.

/// Directories that are mounted whole. A link among them, such as `/bin` on most systems, is made
/// again as a link.
pub const DIRECTORIES: [&str; 10] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libexec", "/opt", "/nix"];

/// Of `/etc`: what programs look up to work at all, and nothing that is secret anywhere.
/// `/etc/ssl` and `/etc/pki` also hold private keys, so only the public parts are named.
pub(super) const ETC: [&str; 39] = [
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "ethertypes",
    "fonts",
    "gai.conf",
    "group",
    "host.conf",
    "hosts",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "java-25-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "lsb-release",
    "magic",
    "mime.types",
    "networks",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki/ca-trust/extracted",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "python3",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

/// Devices without state of their own.
pub(super) const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Of the new `/proc`: what speaks of the whole machine's memory, keys and scheduler. A host that
/// runs as root owns these files, so their modes alone do not close them.
pub(super) const MASKED_PROC: [&str; 13] = [
    "acpi",
    "asound",
    "kallsyms",
    "kcore",
    "key-users",
    "keys",
    "kmsg",
    "latency_stats",
    "sched_debug",
    "scsi",
    "sysrq-trigger",
    "timer_list",
    "timer_stats",
];
