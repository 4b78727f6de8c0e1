//! `.git` is not written, whatever its form, and a new one does not stay.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use xzatoma::capability::process::{ProcessError, run};

use crate::process::support::*;

/// All that is below a directory, with content, kind and times.
fn snapshot(path: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut pending = vec![path.to_owned()];
    while let Some(path) = pending.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let mut line = format!("{} {:?} ", path.display(), metadata.modified().unwrap());
        if metadata.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if metadata.is_symlink() {
            line.push_str(&fs::read_link(&path).unwrap().to_string_lossy());
        } else {
            line.push_str(&fs::read_to_string(&path).unwrap());
        }
        lines.push(line);
    }
    lines.sort();
    lines
}

fn repository(workspace: &Scratch, path: &str) {
    workspace.write(&format!("{path}/.git/config"), "[core]\n");
    workspace.write(&format!("{path}/.git/hooks/sample"), "hook\n");
    workspace.write(&format!("{path}/.git/HEAD"), "ref: refs/heads/main\n");
}

const TRICKS: &str = "
    echo x > .git/config; echo x >> .git/hooks/sample; (: > .git/HEAD); echo x > .git/hooks/new;
    rm -rf .git; rm .git/config; mv .git moved; mv .git/hooks hooks; mkdir .git/new;
    ln .git/config linked && echo x > linked; ln -s x .git/link; touch .git/config;
    chmod 777 .git .git/config; truncate -s 0 .git/config; cp /etc/passwd .git/config;
    touch -d 2001-01-01 .git/config .git; mkdir d; mv d .git; mv -T d .git;
    dd if=/dev/zero of=.git/config bs=1 count=1; ln -sfn /tmp .git;
    (exec 3<>.git/config && echo x >&3)
";

#[test]
fn a_repository_is_not_written() {
    let workspace = Scratch::new();
    repository(&workspace, ".");
    let before = snapshot(&workspace.path(".git"));
    let finished = start(shell(&workspace, &format!("{TRICKS}\n cat .git/HEAD"))).unwrap();
    assert_eq!(out(&finished), "ref: refs/heads/main\n");
    assert_eq!(snapshot(&workspace.path(".git")), before);
    assert!(!workspace.exists("linked"));
    assert_eq!(finished.denials, Vec::<String>::new());
}

#[test]
fn a_nested_repository_is_not_written() {
    let workspace = Scratch::new();
    repository(&workspace, "vendor/deep/lib");
    let before = snapshot(&workspace.path("vendor/deep/lib/.git"));
    let script = format!("cd vendor/deep/lib; {TRICKS}\n cd /workspace; rm -rf vendor");
    start(shell(&workspace, &script)).unwrap();
    assert_eq!(snapshot(&workspace.path("vendor/deep/lib/.git")), before);
}

#[test]
fn a_git_file_is_not_written_nor_what_it_names() {
    let workspace = Scratch::new();
    workspace.write("sub/.git", "gitdir: ../.bare/modules/sub\n");
    workspace.write(".bare/modules/sub/config", "[core]\n");
    workspace.write("tree/.git", &format!("gitdir: {}\n", workspace.path(".trees/tree").display()));
    workspace.write(".trees/tree/config", "[core]\n");
    let before = ["sub/.git", ".bare/modules/sub", "tree/.git", ".trees/tree"]
        .map(|path| snapshot(&workspace.path(path)));
    let script = "for file in sub/.git tree/.git; do echo x > $file; rm $file; mv $file moved; \
                  ln $file linked; cp /etc/passwd $file; done; \
                  for dir in .bare/modules/sub .trees/tree; do \
                  echo x > $dir/config; rm -rf $dir; mkdir $dir/hooks; done";
    let finished = start(shell(&workspace, script)).unwrap();
    assert_eq!(finished.denials, Vec::<String>::new());
    let after = ["sub/.git", ".bare/modules/sub", "tree/.git", ".trees/tree"]
        .map(|path| snapshot(&workspace.path(path)));
    assert_eq!(after, before);
}

#[test]
fn a_link_called_git_is_restored_and_what_it_leads_to_protected() {
    let workspace = Scratch::new();
    workspace.write("real/config", "[core]\n");
    symlink("real", workspace.path(".git")).unwrap();
    fs::create_dir(workspace.path("sub")).unwrap();
    symlink(workspace.path("real"), workspace.path("sub/.git")).unwrap();
    // A link to what is around it must not turn everything read-only.
    fs::create_dir(workspace.path("loop")).unwrap();
    symlink("..", workspace.path("loop/.git")).unwrap();
    let before = snapshot(&workspace.path("real"));
    let script = "echo x > real/config; rm .git sub/.git; mkdir .git; echo x > .git/config; \
                  echo ok > written; cat written";
    let finished = start(shell(&workspace, script)).unwrap();
    assert_eq!(out(&finished), "ok\n", "{}", err(&finished));
    assert_eq!(snapshot(&workspace.path("real")), before);
    assert_eq!(fs::read_link(workspace.path(".git")).unwrap(), Path::new("real"));
    assert_eq!(fs::read_link(workspace.path("sub/.git")).unwrap(), workspace.path("real"));
    assert_eq!(finished.denials.len(), 3, "{:?}", finished.denials);
    assert_eq!(workspace.read("git-not-allowed.1/config"), "x\n");
}

#[test]
fn a_repository_that_is_not_there_cannot_be_made_at_the_root() {
    let workspace = Scratch::new();
    let script = "mkdir .git || echo no; echo x > .git || echo no; mkdir -p .git/hooks || echo no; \
                  mkdir d; mv -T d .git || echo no; ln -s d .git/x || echo no; \
                  rmdir .git || echo no; mv .git other || echo no";
    let finished = start(shell(&workspace, script)).unwrap();
    assert_eq!(out(&finished), "no\n".repeat(7), "{}", err(&finished));
    assert_eq!(workspace.names("."), ["d"]);
    assert_eq!(finished.denials, Vec::<String>::new());
}

#[test]
fn a_repository_made_elsewhere_is_put_away_and_told() {
    let workspace = Scratch::new();
    repository(&workspace, "kept");
    let script = "mkdir -p a/.git/hooks b c/x; echo hook > a/.git/hooks/pre-commit; \
                  echo gitdir: /tmp > b/.git; mv c/x c/.git; ln -s /etc d.git; mkdir e; \
                  ln -s /etc e/.git; mkdir -p f/.GIT f/git~1; mkfifo c/.git/fifo; mkdir g; \
                  mkfifo g/.git";
    let finished = start(shell(&workspace, script)).unwrap();
    assert_eq!(finished.exit_code, Some(0), "{}", err(&finished));
    for name in ["a", "b", "c", "e", "g"] {
        assert_eq!(workspace.names(name), ["git-not-allowed.1"], "{name}");
    }
    assert_eq!(workspace.names("f"), ["git-not-allowed.1", "git-not-allowed.2"]);
    assert_eq!(workspace.read("a/git-not-allowed.1/hooks/pre-commit"), "hook\n");
    assert!(workspace.exists("kept/.git/config"));
    assert_eq!(finished.denials.len(), 7, "{:?}", finished.denials);
    assert!(finished.denials.iter().any(|line| line.starts_with("/workspace/a/.git: ")));
    // A second time the name is taken.
    let again = start(shell(&workspace, "mkdir a/.git")).unwrap();
    assert_eq!(again.denials.len(), 1);
    assert_eq!(workspace.names("a"), ["git-not-allowed.1", "git-not-allowed.2"]);
}

#[test]
fn moving_what_is_around_a_repository_does_not_help() {
    let workspace = Scratch::new();
    repository(&workspace, "lib");
    let script = "mv lib moved; echo x > moved/.git/config; \
                  mkdir -p lib/.git/hooks; echo x > lib/.git/hooks/pre-commit";
    let finished = start(shell(&workspace, script)).unwrap();
    // The kernel lets a directory with a mount below it be moved. The mount stays on what it
    // covers, and what took the old place is found.
    assert_eq!(workspace.read("moved/.git/config"), "[core]\n");
    assert_eq!(workspace.names("lib"), ["git-not-allowed.1"]);
    assert_eq!(finished.denials.len(), 1, "{:?}", finished.denials);
}

#[test]
fn a_deadline_does_not_save_a_planted_repository() {
    let workspace = Scratch::new();
    let mut spec = shell(&workspace, "mkdir -p a/.git; sleep 100");
    spec.timeout = Duration::from_secs(1);
    match start(spec) {
        Err(ProcessError::TimedOut { denials, .. }) => assert_eq!(denials.len(), 1),
        other => panic!("{other:?}"),
    }
    assert_eq!(workspace.names("a"), ["git-not-allowed.1"]);
}

#[test]
fn processes_that_share_a_workspace_share_the_placeholder() {
    let workspace = Scratch::new();
    let script = |seconds: &str| {
        shell(&workspace, &format!("sleep {seconds}; mkdir .git/x || mkdir .git || echo no"))
    };
    let helper = helper();
    let finished = block_on(async {
        let (first, second, third) = tokio::join!(
            run(script("0"), &helper, |_| ()),
            run(script("0.5"), &helper, |_| ()),
            run(script("1"), &helper, |_| ()),
        );
        [first.unwrap(), second.unwrap(), third.unwrap()]
    });
    for finished in &finished {
        assert_eq!(out(finished), "no\n", "{}", err(finished));
        assert_eq!(finished.denials, Vec::<String>::new());
    }
    assert_eq!(workspace.names("."), Vec::<String>::new());
}

#[test]
fn a_placeholder_that_a_dead_host_left_goes_with_the_next_process() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = Scratch::new();
    fs::create_dir(workspace.path(".git")).unwrap();
    fs::set_permissions(workspace.path(".git"), fs::Permissions::from_mode(0o1555)).unwrap();
    start(shell(&workspace, "true")).unwrap();
    assert!(!workspace.exists(".git"));
    // One that somebody made stays, even when it is empty.
    fs::create_dir(workspace.path(".git")).unwrap();
    start(shell(&workspace, "true")).unwrap();
    assert!(workspace.exists(".git"));
}

#[test]
fn a_workspace_that_cannot_be_searched_is_refused() {
    let workspace = Scratch::new();
    let deep: String = (0..210).map(|_| "d/").collect();
    fs::create_dir_all(workspace.path(&deep)).unwrap();
    let error = start(shell(&workspace, "true")).unwrap_err();
    assert!(matches!(&error, ProcessError::Limit(text) if text.contains("levels")), "{error:?}");
    assert_eq!(workspace.names("."), ["d"]);
    // For reading nothing has to be searched.
    let mut spec = shell(&workspace, "echo ok");
    spec.dirs = vec![granted("/workspace", &workspace.0, false)];
    assert_eq!(output(spec), "ok\n");
}
