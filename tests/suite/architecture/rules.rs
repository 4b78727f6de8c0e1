//! The absences that can be seen in the source, as data. `docs/explanation/architecture.md` has
//! the reasons; the ids and the allowed places are the same there and here.

/// Something that is not there.
pub struct Absence {
    pub id: &'static str,
    pub rules: &'static [Rule],
    /// Files and directories (with `/` at the end) where it may be all the same.
    pub allowed: &'static [&'static str],
}

/// Words that must not be named in a part of the host.
pub struct Rule {
    /// Files and directories (with `/` at the end); none: everywhere.
    pub scope: &'static [&'static str],
    /// As [`names`](super::source::names) takes them.
    pub words: &'static [&'static str],
}

const EVERYWHERE: &[&str] = &[];

/// The absences that the rest of the module checks in another way.
pub const CHECKED_APART: [&str; 3] = ["A-12", "A-13", "A-14"];

pub const ABSENCES: &[Absence] = &[
    Absence {
        id: "A-1",
        rules: &[Rule { scope: EVERYWHERE, words: &["wasmtime*"] }],
        allowed: &["sandbox/", "capability/"],
    },
    Absence {
        id: "A-2",
        rules: &[Rule { scope: EVERYWHERE, words: &["reqwest*", "hyper*"] }],
        allowed: &["capability/http/"],
    },
    Absence {
        id: "A-3",
        rules: &[Rule {
            scope: EVERYWHERE,
            words: &[
                "process::Command",
                "Command::new",
                "tokio::process",
                "fork",
                "vfork",
                "clone3",
                "execve",
                "execv",
                "execveat",
                "posix_spawn",
                "libc::clone",
                "SYS_clone",
                "SYS_clone3",
            ],
        }],
        allowed: &["capability/process/"],
    },
    Absence {
        id: "A-4",
        rules: &[Rule { scope: EVERYWHERE, words: OPENING_BY_NAME }],
        allowed: &[
            "capability/files/roots.rs",
            "capability/process/linux/lookup.rs",
            "capability/process/linux/diagnosis.rs",
            "capability/process/linux/helper/",
            "sandbox/cache.rs",
            "sandbox/library.rs",
            "sandbox/precompile.rs",
            "cli/options.rs",
            "cli/session.rs",
        ],
    },
    Absence {
        id: "A-5",
        rules: &[Rule {
            scope: EVERYWHERE,
            words: &[
                "print!",
                "println!",
                "eprint!",
                "eprintln!",
                "dbg!",
                "io::stdout",
                "io::stderr",
            ],
        }],
        allowed: &[
            "cli/",
            "bin/precompile.rs",
            "sandbox/cache.rs",
            "capability/process/linux/helper/mod.rs",
        ],
    },
    Absence {
        id: "A-6",
        rules: &[
            Rule { scope: &["policy/"], words: OPENING_BY_NAME },
            Rule { scope: &["policy/"], words: CONNECTING },
            Rule { scope: &["policy/"], words: ENVIRONMENT },
            Rule {
                scope: &["policy/"],
                words: &[
                    "std::env",
                    "std::io",
                    "std::os",
                    "std::process",
                    "std::thread",
                    "File",
                    "Instant",
                    "SystemTime",
                    "cap_std*",
                    "libc*",
                    "reqwest*",
                    "rustix*",
                    "tokio*",
                    "tracing*",
                ],
            },
        ],
        allowed: &[],
    },
    Absence {
        id: "A-7",
        rules: &[
            Rule { scope: &["policy/"], words: &["crate::*"] },
            Rule {
                scope: &["tool.rs", "receipt.rs"],
                words: &["crate::capability", "crate::sandbox", "crate::cli"],
            },
            Rule { scope: &["capability/"], words: &["crate::sandbox", "crate::cli"] },
            Rule { scope: &["sandbox/"], words: &["crate::cli"] },
            Rule {
                scope: &["capability/files/"],
                words: &["capability::http", "capability::process", "capability::scan"],
            },
            Rule {
                scope: &["capability/http/"],
                words: &["capability::files", "capability::process", "capability::scan"],
            },
            Rule {
                scope: &["capability/scan/"],
                words: &["capability::http", "capability::process"],
            },
        ],
        allowed: &[],
    },
    Absence {
        id: "A-8",
        rules: &[Rule { scope: EVERYWHERE, words: CONNECTING }],
        allowed: &[
            "capability/http/",
            "capability/sockets.rs",
            "capability/process/linux/helper/init.rs",
        ],
    },
    Absence {
        id: "A-9",
        rules: &[Rule { scope: EVERYWHERE, words: ENVIRONMENT }],
        allowed: &[
            "cli/session.rs",
            "capability/process/host.rs",
            "capability/process/linux/run.rs",
        ],
    },
    Absence {
        id: "A-10",
        rules: &[Rule { scope: EVERYWHERE, words: &["unsafe"] }],
        allowed: &[
            "sandbox/library.rs",
            "sandbox/cache.rs",
            "sandbox/precompile.rs",
            "capability/process/linux/",
        ],
    },
    Absence {
        id: "A-11",
        rules: &[Rule { scope: EVERYWHERE, words: &["bindgen!"] }],
        allowed: &["capability/bindings.rs"],
    },
];

/// Ways to reach a file by its name alone. `std::fs::File` by itself is none: it is also how an
/// open file is held, and what opens one is listed.
const OPENING_BY_NAME: &[&str] = &[
    "std::fs",
    "tokio::fs",
    "cap_std::fs",
    "ambient_authority",
    "open_ambient*",
    "File::open",
    "File::create",
    "File::create_new",
    "File::options",
    "OpenOptions",
    "DirBuilder",
    "CWD",
    "AT_FDCWD",
    "fs::open",
    "libc::open",
    ".canonicalize",
    ".exists",
    ".try_exists",
    ".read_dir",
    ".symlink_metadata",
];

const CONNECTING: &[&str] = &[
    "TcpListener::bind",
    "TcpSocket",
    "TcpStream",
    "ToSocketAddrs",
    "UdpSocket",
    "UnixDatagram",
    "UnixStream",
    "getaddrinfo",
    "lookup_host",
];

const ENVIRONMENT: &[&str] = &[
    "env::current_dir",
    "env::home_dir",
    "env::temp_dir",
    "env::var",
    "env::var_os",
    "env::vars",
    "env::vars_os",
];
