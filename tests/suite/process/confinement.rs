//! What a confined process sees and may change.

use std::fs;

use xzatoma::capability::process::ProcessError;

use crate::process::support::*;

#[test]
fn the_host_s_files_are_not_there() {
    let (workspace, outside) = (Scratch::new(), Scratch::new());
    outside.write("secret", "secret");
    let home = std::env::var("HOME").unwrap_or_else(|_| "/root".to_owned());
    let mut paths =
        vec![outside.path("secret").display().to_string(), workspace.0.display().to_string(), home];
    paths.extend(
        ["/etc/shadow", "/etc/gshadow", "/etc/ssl/private", "/etc/ssh", "/root", "/home", "/sys"]
            .map(str::to_owned),
    );
    paths.extend(
        ["/var/run", "/run/docker.sock", "/boot", "/mnt", "/dev/tty", "/dev/vda"]
            .map(str::to_owned),
    );
    let script = "for path; do if [ -e $path ]; then echo $path; fi; done";
    let mut arguments = vec!["-c", script, "sh"];
    arguments.extend(paths.iter().map(String::as_str));
    assert_eq!(output(spec(&workspace, "sh", &arguments)), "");
    // And what is there is really the system's.
    assert_eq!(
        output(shell(&workspace, "test -r /etc/passwd && test -x /usr/bin/env && echo ok")),
        "ok\n"
    );
}

#[test]
fn nothing_can_be_written_but_the_workspace_and_temporary_files() {
    let workspace = Scratch::new();
    let script = "for path in / /usr /usr/bin /etc /proc /dev /run /var /opt; do \
                    if touch $path/new 2>/dev/null; then echo $path; fi; done; \
                  for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname \
                              /proc/sysrq-trigger /proc/self/oom_score_adj /etc/passwd \
                              /usr/bin/env; do \
                    if (echo 0 > $file) 2>/dev/null; then echo $file; fi; done; \
                  touch /tmp/a /var/tmp/b /tmp/home/c /dev/shm/d new && echo written";
    assert_eq!(output(shell(&workspace, script)), "written\n");
    assert!(workspace.exists("new"));
}

#[test]
fn a_directory_granted_for_reading_is_not_written() {
    let (workspace, other) = (Scratch::new(), Scratch::new());
    other.write("file", "old");
    other.write("run", "#!/bin/sh\necho runs\n");
    fs::set_permissions(other.path("run"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let before = other.path("file").metadata().unwrap().modified().unwrap();
    let script = "cat /other/file; echo; /other/run; cd /other; \
                  echo x > file; echo x >> file; (: > file); echo x > new; mkdir dir; rm file; \
                  mv file moved; mv file /workspace/moved; ln file linked; ln -s x link; \
                  ln file /workspace/linked; touch file; chmod 777 file; truncate -s 0 file; \
                  touch -d 2001-01-01 file";
    let mut spec = shell(&workspace, script);
    spec.dirs.push(granted("/other", &other.0, false));
    let finished = start(spec).unwrap();
    assert_eq!(out(&finished), "old\nruns\n");
    assert_eq!(other.names("."), ["file", "run"]);
    assert_eq!(other.read("file"), "old");
    let after = other.path("file").metadata().unwrap();
    assert_eq!(after.modified().unwrap(), before);
    // Moving to another mount is a copy, and then a removal that fails.
    assert_eq!(workspace.names("."), ["moved"]);
}

#[test]
fn a_writable_directory_inside_one_for_reading() {
    let workspace = Scratch::new();
    workspace.write("src/file", "source");
    workspace.write("out/file", "old");
    let mut spec = shell(&workspace, "echo new > out/file; echo new > src/file");
    spec.dirs = vec![
        granted("/workspace/out", &workspace.path("out"), true),
        granted("/workspace", &workspace.0, false),
    ];
    start(spec).unwrap();
    assert_eq!(workspace.read("out/file"), "new\n");
    assert_eq!(workspace.read("src/file"), "source");
    assert_eq!(workspace.names("."), ["out", "src"]);
    assert_eq!(workspace.names("out"), ["file"]);
}

#[test]
fn a_granted_directory_that_was_swapped_is_refused() {
    let (workspace, secret) = (Scratch::new(), Scratch::new());
    secret.write("file", "secret");
    fs::create_dir(workspace.path("dir")).unwrap();
    let dir = granted("/workspace/dir", &workspace.path("dir"), true);
    fs::rename(workspace.path("dir"), workspace.path("moved")).unwrap();
    std::os::unix::fs::symlink(&secret.0, workspace.path("dir")).unwrap();
    let mut swapped = shell(&workspace, "cat file; echo x > file");
    swapped.directory = "/granted".to_owned();
    swapped.dirs =
        vec![xzatoma::capability::process::GrantedDir { guest_path: "/granted".to_owned(), ..dir }];
    // It was moved, so it is found under its new name; what is at the old one is not touched.
    let finished = start(swapped.clone()).unwrap();
    assert_eq!(out(&finished), "");
    assert_eq!(secret.read("file"), "secret");
    assert_eq!(workspace.read("moved/file"), "x\n");
    fs::remove_dir_all(workspace.path("moved")).unwrap();
    let error = start(swapped).unwrap_err();
    assert!(matches!(error, ProcessError::NotFound(_)), "{error:?}");
}

#[test]
fn places_that_cannot_be_granted() {
    let workspace = Scratch::new();
    for guest in ["/", "/proc", "/proc/1", "/dev/x", "relative", "/a/../proc", ""] {
        let mut spec = shell(&workspace, "true");
        spec.dirs = vec![granted(guest, &workspace.0, true)];
        let error = start(spec).unwrap_err();
        assert!(matches!(error, ProcessError::Denied(_)), "{guest}: {error:?}");
        assert_eq!(workspace.names("."), Vec::<String>::new());
    }
}

#[test]
fn hidden_paths_are_neither_read_nor_written() {
    let workspace = Scratch::new();
    workspace.write("config/xzatoma/token", "secret");
    workspace.write("store.db", "conversations");
    std::os::unix::fs::symlink("config", workspace.path("alias")).unwrap();
    let script = "cat config/xzatoma/token alias/xzatoma/token store.db; \
                  ls config/xzatoma; echo x > config/xzatoma/token; echo x > config/xzatoma/new; \
                  echo x > store.db; rm -rf config; rm store.db; mv store.db moved; \
                  mv config/xzatoma moved; chmod 700 moved; mv config moved && mkdir -p config/xzatoma; \
                  mkdir -p cache/xzatoma; chmod 777 cache; mkdir -p cache/xzatoma; \
                  echo x > cache/xzatoma/new; echo x > cache/new; rmdir cache; \
                  echo fine > config/other && echo end";
    let mut spec = shell(&workspace, script);
    // By another path than the real one, and one that is not there yet.
    spec.hidden = vec![
        workspace.path("alias/xzatoma"),
        workspace.path("store.db"),
        workspace.path("cache/xzatoma"),
    ];
    let finished = start(spec).unwrap();
    assert_eq!(out(&finished), "end\n");
    assert_eq!(workspace.read("config/xzatoma/token"), "secret");
    assert_eq!(workspace.names("config/xzatoma"), ["token"]);
    assert_eq!(workspace.names("config"), ["other", "xzatoma"]);
    assert_eq!(workspace.read("store.db"), "conversations");
    // What cannot be moved is copied, as far as it can be read.
    assert_eq!(workspace.names("moved"), Vec::<String>::new());
    assert_eq!(workspace.names("."), ["alias", "config", "moved", "store.db"]);
}

#[test]
fn no_file_that_runs_as_its_owner_is_left_behind() {
    let workspace = Scratch::new();
    let script = "cp /bin/sh one; chmod u+s one; chmod 2755 one; chmod 755 one; mkdir d; chmod g+s d; \
                  install -m 4755 /bin/sh two; chmod +t d; echo end";
    let finished = start(shell(&workspace, script)).unwrap();
    assert_eq!(out(&finished), "end\n");
    for name in workspace.names(".") {
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &workspace.path(&name).metadata().unwrap().permissions(),
        );
        assert_eq!(mode & 0o6000, 0, "{name}: {mode:o}");
    }
    assert!(workspace.exists("one"));
}

#[test]
fn a_directory_inside_a_hidden_one_is_refused() {
    let workspace = Scratch::new();
    let mut spec = shell(&workspace, "true");
    spec.hidden = vec![workspace.0.parent().unwrap().to_owned()];
    let error = start(spec).unwrap_err();
    assert!(matches!(error, ProcessError::Denied(_)), "{error:?}");
}
