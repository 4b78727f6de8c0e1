//! Where every case starts: a workspace full of traps, secrets beside it, and the sandbox.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rustix::fs::{CWD, Mode};
use serde_json::{Value, json};
use xzatoma::capability::http::dial::Resolve;
use xzatoma::policy::Authority;
use xzatoma::tool::CallReport;

use super::tree::{Outside, Tree};
use crate::harness::grant::{self, Add};
use crate::harness::{Setup, World, test_component};

/// The hostile tool imports the `process` interface, which is linked only where the grant has a
/// program. This one does not exist: it opens the interface and nothing else.
pub const NO_PROGRAM: &str = "a-program-that-does-not-exist";

/// Linear memory of a case: enough for every honest need, and soon full.
const MEMORY_MIB: u64 = 64;
/// Cases that are not about time have enough of it, also on a busy machine.
const DEADLINE_MS: u64 = 20_000;

/// What the host keeps to itself, below the workspace.
pub const OWN: &str = "own/xzatoma";

/// The workspace to read, and the hostile tool linked.
pub fn reading() -> Authority {
    grant::reading().program(NO_PROGRAM).memory_mib(MEMORY_MIB).deadline_ms(DEADLINE_MS)
}

/// The same, to write.
pub fn writing() -> Authority {
    grant::writing().program(NO_PROGRAM).memory_mib(MEMORY_MIB).deadline_ms(DEADLINE_MS)
}

pub struct Scene {
    pub world: World,
    pub outside: Outside,
    pub names: Arc<Names>,
}

impl Scene {
    pub fn new() -> Scene {
        let names = Arc::new(Names::default());
        let resolver: Arc<dyn Resolve> = Arc::clone(&names) as Arc<dyn Resolve>;
        let setup = Setup { resolver: Some(resolver), hidden: vec![OWN], ..Setup::default() };
        let mut world = World::with(setup);
        for name in ["canary", "hostile"] {
            world.add(&test_component(name)).unwrap();
        }
        let outside = Outside::fill(&world.outside());
        Scene { world, outside, names }
    }

    /// Calls the hostile tool.
    pub fn attack(&self, arguments: Value, authority: &Authority) -> CallReport {
        self.world.call("hostile", arguments, authority)
    }

    /// The same, with the time that the caller waited.
    pub fn timed_attack(&self, arguments: Value, authority: &Authority) -> (CallReport, Duration) {
        let started = Instant::now();
        let report = self.attack(arguments, authority);
        (report, started.elapsed())
    }

    /// Whether an honest tool still does its work.
    pub fn canary(&self) -> Result<(), String> {
        let (a, b) = (20_000, 22);
        let report = self.world.call("canary", json!({"a": a, "b": b}), &grant::nothing());
        match report.result {
            Ok(output) if output.text == (a + b).to_string() => Ok(()),
            other => Err(format!("the canary answered {other:?}")),
        }
    }

    /// The workspace as every case finds it.
    pub fn stage(&self) {
        let (workspace, outside) = (self.world.workspace(), self.world.outside());
        clear(&workspace);
        fill(&workspace, &outside).unwrap();
    }

    /// What no tool may change, whatever its grant.
    pub fn protected(&self) -> Tree {
        let workspace = self.world.workspace();
        let paths = [".git", "nested/.git", "module/.git", "far/down/.git", "own"];
        Tree::of_all(&paths.map(|path| workspace.join(path)))
    }

    /// All of the workspace.
    pub fn everything(&self) -> Tree {
        Tree::of(&self.world.workspace())
    }
}

/// Empties a directory without removing it: the sandbox has it open.
fn clear(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match fs::symlink_metadata(&path).unwrap().is_dir() {
            true => fs::remove_dir_all(&path).unwrap(),
            false => fs::remove_file(&path).unwrap(),
        }
    }
}

fn fill(workspace: &Path, outside: &Path) -> io::Result<()> {
    let write = |path: &str, text: &str| {
        let path = workspace.join(path);
        fs::create_dir_all(path.parent().unwrap_or(workspace))?;
        fs::write(path, text)
    };
    write("notes.txt", "alpha\nbeta\n")?;
    write("src/main.txt", "gamma\n")?;
    write("script.sh", "#!/bin/sh\n")?;
    fs::set_permissions(workspace.join("script.sh"), fs::Permissions::from_mode(0o755))?;
    fs::create_dir(workspace.join("empty"))?;

    for repository in ["", "nested/", "far/down/"] {
        write(&format!("{repository}.git/HEAD"), "ref: refs/heads/main\n")?;
        write(&format!("{repository}.git/config"), "[core]\n")?;
        write(&format!("{repository}.git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n")?;
        write(&format!("{repository}.git/objects/ab/cdef"), "blob\n")?;
    }
    write("nested/file.txt", "delta\n")?;
    write("module/.git", "gitdir: ../.git/modules/module\n")?;
    write("module/file.txt", "epsilon\n")?;
    write(&format!("{OWN}/token.txt"), "OWN-SECRET\n")?;
    write("own/else.txt", "not secret\n")?;

    let link = |target: &Path, name: &str| symlink(target, workspace.join(name));
    link(&outside.join("secret.txt"), "absolute-link")?;
    link(Path::new("../outside/secret.txt"), "up-link")?;
    link(Path::new("../outside"), "up-directory")?;
    link(outside, "absolute-directory")?;
    link(Path::new("not-there-yet.txt"), "dangling")?;
    link(Path::new("../outside/new.txt"), "dangling-up")?;
    link(&outside.join("new.txt"), "dangling-absolute")?;
    link(Path::new("/proc/self"), "proc-link")?;
    link(Path::new("/proc/self/fd/0"), "proc-descriptor")?;
    link(Path::new("/proc/self/root/etc/passwd"), "proc-root")?;
    link(Path::new(".git"), "git-link")?;
    link(Path::new(".git/hooks"), "hooks-link")?;
    link(Path::new("loop-two"), "loop-one")?;
    link(Path::new("loop-one"), "loop-two")?;
    link(Path::new("own/xzatoma"), "own-link")?;
    fs::hard_link(outside.join("linked.txt"), workspace.join("hard-link.txt"))?;
    fs::hard_link(outside.join("moved.txt"), workspace.join("hard-moved.txt"))?;
    fs::hard_link(workspace.join(".git/config"), workspace.join("hard-config"))?;

    rustix::fs::mknodat(
        CWD,
        workspace.join("fifo"),
        rustix::fs::FileType::Fifo,
        Mode::from_raw_mode(0o666),
        0,
    )?;
    // The file stays when the listener is closed.
    UnixListener::bind(workspace.join("socket")).map(drop)
}

/// Names that the tests own. What is not in the list does not exist; nobody outside is asked.
#[derive(Default)]
pub struct Names {
    known: Mutex<BTreeMap<String, Vec<IpAddr>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub fn know(&self, name: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.known.lock().unwrap().insert(name.to_owned(), addresses);
    }

    /// What was looked up since the last time.
    pub fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(name.to_owned());
        if name == "hangs.test" {
            std::future::pending::<()>().await;
        }
        let known = self.known.lock().unwrap().get(name).cloned();
        known.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such name"))
    }
}

/// A path below the workspace, for what a case prepares by itself.
pub fn below(scene: &Scene, path: &str) -> PathBuf {
    scene.world.workspace().join(path)
}
