//! A program runs, and gets exactly what it is given.

use std::fs;
use std::time::Duration;

use xzatoma::capability::process::{
    LimitedChild, ProcessError, availability, resolve_program, search_path,
};
use xzatoma::policy::Confinement;

use crate::process::support::*;

const BOTH: [Confinement; 2] = [Confinement::Os, Confinement::None];

#[test]
fn this_system_confines() {
    assert_eq!(availability(&helper()), Ok(()));
    // Asked again, inside a runtime.
    assert_eq!(block_on(async { availability(&helper()) }), Ok(()));
}

#[test]
fn output_and_exit_code() {
    for confinement in BOTH {
        let workspace = Scratch::new();
        let script = "echo out; echo err >&2; exit 7";
        let finished = start(spec_at(confinement, &workspace, "sh", &["-c", script])).unwrap();
        assert_eq!((finished.exit_code, finished.signal), (Some(7), None));
        assert_eq!((out(&finished).as_str(), err(&finished).as_str()), ("out\n", "err\n"));
        assert_eq!(finished.denials, Vec::<String>::new());
        assert!(finished.duration > Duration::ZERO);
    }
}

#[test]
fn signals() {
    for confinement in BOTH {
        let workspace = Scratch::new();
        let finished =
            start(spec_at(confinement, &workspace, "sh", &["-c", "kill -9 $$"])).unwrap();
        assert_eq!((finished.exit_code, finished.signal), (None, Some(9)));
        // A broken pipe ends a program as usual: nothing of ours is inherited.
        let script = "yes | head -1; sh -c 'kill -13 $$'; echo $?";
        let finished = start(spec_at(confinement, &workspace, "sh", &["-c", script])).unwrap();
        assert_eq!(out(&finished), "y\n141\n", "{}", err(&finished));
    }
}

#[test]
fn standard_input() {
    for confinement in BOTH {
        let workspace = Scratch::new();
        let mut large = spec_at(confinement, &workspace, "wc", &["-c"]);
        large.stdin = vec![b'x'; 3_000_000];
        assert_eq!(output(large).trim(), "3000000");
        // Nobody has to read it.
        let mut unread = spec_at(confinement, &workspace, "true", &[]);
        unread.stdin = vec![b'x'; 3_000_000];
        assert_eq!(output(unread), "");
        assert_eq!(output(spec_at(confinement, &workspace, "cat", &[])), "");
    }
}

#[test]
fn output_is_capped_and_counted() {
    let workspace = Scratch::new();
    let mut flood = shell(&workspace, "head -c 100000000 /dev/zero; head -c 50 /dev/zero >&2");
    flood.max_output = 1000;
    let finished = start(flood).unwrap();
    assert_eq!(finished.stdout.bytes.len(), 1000);
    assert_eq!(finished.stdout.dropped, 99_999_000);
    assert_eq!((finished.stderr.bytes.len(), finished.stderr.dropped), (50, 0));
}

#[test]
fn the_environment_is_exact() {
    // There is something to inherit that must not be.
    assert!(std::env::vars_os().count() > 4);
    let workspace = Scratch::new();
    let mut spec = spec(&workspace, "env", &[]);
    spec.environment.insert("LANG".to_owned(), "C.UTF-8".to_owned());
    spec.environment.insert("HOME".to_owned(), "/elsewhere".to_owned());
    let path = std::env::join_paths(&spec.search_path).unwrap().into_string().unwrap();
    let text = output(spec);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let path = format!("PATH={path}");
    assert_eq!(lines, ["HOME=/tmp/home", "LANG=C.UTF-8", &path, "TMPDIR=/tmp"]);
}

#[test]
fn no_descriptor_but_the_streams() {
    use std::os::fd::AsRawFd;
    let kept = fs::File::open("/dev/null").unwrap();
    // SAFETY: a descriptor of ours; now a child would inherit it.
    unsafe { libc::fcntl(kept.as_raw_fd(), libc::F_SETFD, 0) };
    for confinement in BOTH {
        let workspace = Scratch::new();
        // The last one is the listing itself.
        let listing = output(spec_at(confinement, &workspace, "ls", &["/proc/self/fd"]));
        assert_eq!(listing, "0\n1\n2\n3\n");
    }
}

#[test]
fn the_working_directory() {
    for confinement in BOTH {
        let workspace = Scratch::new();
        workspace.write("deep/down/file", "here");
        let mut inside = spec_at(confinement, &workspace, "cat", &["file"]);
        inside.directory = "/workspace/deep/down".to_owned();
        assert_eq!(output(inside), "here");
        let mut missing = spec_at(confinement, &workspace, "true", &[]);
        missing.directory = "/workspace/missing".to_owned();
        let error = start(missing).unwrap_err();
        assert!(matches!(&error, ProcessError::NotFound(text) if text.contains("missing")));
    }
}

#[test]
fn an_unconfined_process_cannot_leave_by_its_working_directory() {
    let workspace = Scratch::new();
    std::os::unix::fs::symlink("/etc", workspace.path("out")).unwrap();
    for directory in ["/workspace/out", "/workspace/../etc", "/etc"] {
        let mut spec = spec_at(Confinement::None, &workspace, "true", &[]);
        spec.directory = directory.to_owned();
        let error = start(spec).unwrap_err();
        assert!(matches!(error, ProcessError::Denied(_)), "{directory}: {error:?}");
    }
}

#[test]
fn programs_come_from_the_path_and_never_from_the_workspace() {
    let workspace = Scratch::new();
    for name in ["ls", "bin/ls", "only-here"] {
        workspace.write(name, "#!/bin/sh\necho planted\n");
        make_executable(&workspace, name);
    }
    workspace.write("not-executable", "");
    let dirs = [granted("/workspace", &workspace.0, true)];
    let planted = workspace.path("bin");
    let path = format!("{}:.::bin:{}:/usr/bin:/bin", workspace.0.display(), planted.display());
    for confinement in BOTH {
        let found = search_path(path.as_ref(), &dirs, &[], confinement);
        assert!(found.iter().all(|path| path.is_absolute() && !path.starts_with(&workspace.0)));
        let resolve =
            |name: &str| resolve_program(name, "/workspace", &found, &dirs, &[], confinement);
        let ls = resolve("ls").unwrap();
        assert!(ls == *"/usr/bin/ls" || ls == *"/bin/ls", "{ls:?}");
        assert!(matches!(resolve("only-here"), Err(ProcessError::NotFound(_))));
        assert!(matches!(resolve("missing"), Err(ProcessError::NotFound(_))));
        assert!(matches!(resolve("./missing"), Err(ProcessError::NotFound(_))));
        assert!(matches!(resolve("./not-executable"), Err(ProcessError::Denied(_))));
        assert!(matches!(resolve("./bin"), Err(ProcessError::Denied(_))));
        assert!(matches!(resolve(""), Err(ProcessError::NotFound(_))));
        let home = match confinement {
            Confinement::Os => "/workspace".into(),
            Confinement::None => workspace.0.clone(),
        };
        assert_eq!(resolve("./only-here").unwrap(), home.join("only-here"));
        assert_eq!(resolve("bin/../only-here").unwrap(), home.join("only-here"));
        assert_eq!(resolve("/workspace/bin/ls").unwrap(), home.join("bin/ls"));
    }
    let hidden = resolve_program("/root/x", "/workspace", &[], &dirs, &[], Confinement::Os);
    assert!(matches!(hidden, Err(ProcessError::NotFound(_))));
    assert_eq!(output(spec(&workspace, "./only-here", &[])), "planted\n");
}

#[test]
fn a_link_from_the_path_into_the_workspace_is_passed_over() {
    let (workspace, bin) = (Scratch::new(), Scratch::new());
    workspace.write("tool", "#!/bin/sh\n");
    make_executable(&workspace, "tool");
    std::os::unix::fs::symlink(workspace.path("tool"), bin.path("tool")).unwrap();
    let dirs = [granted("/workspace", &workspace.0, true)];
    let found = search_path(bin.0.as_os_str(), &dirs, &[], Confinement::None);
    assert_eq!(found, std::slice::from_ref(&bin.0));
    let tool = resolve_program("tool", "/workspace", &found, &dirs, &[], Confinement::None);
    assert!(matches!(tool, Err(ProcessError::NotFound(_))), "{tool:?}");
}

#[test]
fn a_file_that_is_no_program_is_told() {
    let workspace = Scratch::new();
    workspace.write("text", "no interpreter\n");
    workspace.write("script", "#!/no/such/interpreter\n");
    for name in ["text", "script"] {
        make_executable(&workspace, name);
    }
    let error = start(spec(&workspace, "./text", &[])).unwrap_err();
    assert!(matches!(&error, ProcessError::Failed(text) if text.contains("interpreter")));
    let error = start(spec(&workspace, "./script", &[])).unwrap_err();
    assert!(matches!(&error, ProcessError::NotFound(text) if text.contains("interpreter")));
}

#[test]
fn arguments_that_are_too_long_or_not_text() {
    let workspace = Scratch::new();
    let long = "x".repeat(4_000_000);
    let error = start(spec(&workspace, "true", &[&long])).unwrap_err();
    assert!(matches!(error, ProcessError::Limit(_)), "{error:?}");
    let error = start(spec(&workspace, "true", &["a\0b"])).unwrap_err();
    assert!(matches!(error, ProcessError::Failed(_)), "{error:?}");
    // Larger than one message between host and helper.
    let many = vec!["0123456789"; 50_000];
    assert_eq!(
        output(spec(&workspace, "sh", &[&["-c", "echo $#", "sh"][..], &many].concat())),
        "50000\n"
    );
}

#[test]
fn a_toolchain_is_there_read_only_at_its_own_path() {
    let (workspace, tools) = (Scratch::new(), Scratch::new());
    tools.write("bin/tool", "#!/bin/sh\necho tool\n");
    make_executable(&tools, "bin/tool");
    let tool = tools.path("bin/tool");
    let script = format!("{0}; echo x >> {0} && echo changed", tool.display());
    let mut spec = shell(&workspace, &script);
    spec.toolchains = vec![tools.path("missing"), tools.0.clone()];
    let finished = start(spec).unwrap();
    assert_eq!(out(&finished), "tool\n", "{}", err(&finished));
}

#[test]
fn our_own_executable_as_a_limited_child() {
    let child = |max_stdout| LimitedChild {
        arguments: vec!["--version".to_owned()],
        stdin: Vec::new(),
        memory_bytes: 512 << 20,
        deadline: Duration::from_secs(30),
        max_stdout,
    };
    let finished = block_on(child(1000).run(&helper())).unwrap();
    assert_eq!(finished.exit_code, Some(0), "{}", err(&finished));
    assert!(!finished.stdout.bytes.is_empty());
    let error = block_on(child(1).run(&helper())).unwrap_err();
    assert!(matches!(error, ProcessError::Limit(_)), "{error:?}");
}

fn make_executable(workspace: &Scratch, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(workspace.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}
