//! Ways out, as a hostile program would try them.

use std::collections::BTreeMap;

use crate::process::support::*;

#[test]
fn calls_that_are_denied() {
    let workspace = Scratch::new();
    let results = probed(&workspace, "calls");
    let expected = |name: &str| match name {
        "clone3" | "openat2" | "memfd_create" => libc::ENOSYS.to_string(),
        "personality-query" | "openat-not-creating" => "worked".to_owned(),
        _ => libc::EPERM.to_string(),
    };
    assert!(results.len() > 25, "{results:?}");
    let wrong: BTreeMap<&String, &String> =
        results.iter().filter(|(name, result)| expected(name) != **result).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_by_another_abi_kill() {
    let workspace = Scratch::new();
    let finished = start(probe(&workspace, "x32")).unwrap();
    assert_eq!(finished.signal, Some(libc::SIGSYS), "{}", out(&finished));
}

#[test]
fn no_privilege_is_left() {
    let workspace = Scratch::new();
    let status = output(spec(&workspace, "cat", &["/proc/self/status"]));
    let field = |name: &str| -> String {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name}: {status}")).trim().to_owned()
    };
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(field(set), "0000000000000000", "{set}");
    }
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2");
    assert!(field("Seccomp_filters:").parse::<u32>().unwrap() >= 2);
}

#[test]
fn other_processes_cannot_be_seen_or_touched() {
    let workspace = Scratch::new();
    let results = probed(&workspace, &format!("processes:{}", std::process::id()));
    assert_eq!(results["kill-host"], libc::ESRCH.to_string());
    for file in ["mem", "environ", "fd/0", "root", "cwd", "exe", "maps"] {
        assert!(["1", "13"].contains(&results[file].as_str()), "{file}: {}", results[file]);
    }
    // Landlock keeps signals inside too, where the kernel has that.
    // SAFETY: asks for the version and makes nothing.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, 1u32)
    };
    if version >= 6 {
        assert_eq!(results["kill-first"], libc::EPERM.to_string());
    }
    // The first process of the sandbox, and the probe.
    assert_eq!(results["visible"], "2");
}

#[test]
fn a_program_has_no_terminal_and_a_session_of_its_own() {
    let workspace = Scratch::new();
    let stat = output(spec(&workspace, "cat", &["/proc/self/stat"]));
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let (group, session, terminal) = (fields[2], fields[3], fields[4]);
    assert_eq!((group, session, terminal), ("2", "2", "0"));
    let finished = start(shell(&workspace, "echo x > /dev/tty")).unwrap();
    assert_ne!(finished.exit_code, Some(0));
}
