//! What the tests share.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use xzatoma::capability::process::{
    Finished, GrantedDir, HelperExe, ProcessError, ProcessLimits, ProcessSpec, Program,
    resolve_program, run, search_path,
};
use xzatoma::policy::Confinement;

pub fn helper() -> HelperExe {
    HelperExe::at(env!("CARGO_BIN_EXE_xzatoma"))
}

/// A directory of its own that goes away with the test.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("process-test-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path.canonicalize().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    pub fn names(&self, name: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(name))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn granted(guest: &str, host: &Path, writable: bool) -> GrantedDir {
    GrantedDir {
        guest_path: guest.to_owned(),
        host_path: host.to_owned(),
        handle: Arc::new(File::open(host).unwrap()),
        writable,
    }
}

/// A confined process in a writable workspace; the tests change what they are about.
pub fn spec(workspace: &Scratch, program: &str, arguments: &[&str]) -> ProcessSpec {
    spec_at(Confinement::Os, workspace, program, arguments)
}

pub fn spec_at(
    confinement: Confinement,
    workspace: &Scratch,
    program: &str,
    arguments: &[&str],
) -> ProcessSpec {
    let dirs = vec![granted("/workspace", &workspace.0, true)];
    let path = std::env::var_os("PATH").unwrap();
    let search_path = search_path(&path, &dirs, &[], confinement);
    let found = resolve_program(program, "/workspace", &search_path, &dirs, &[], confinement);
    ProcessSpec {
        program: Program::Path(found.unwrap()),
        name: program.to_owned(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        directory: "/workspace".to_owned(),
        environment: BTreeMap::new(),
        search_path,
        dirs,
        toolchains: Vec::new(),
        hidden: Vec::new(),
        confinement,
        limits: ProcessLimits { memory_bytes: 512 << 20, ..ProcessLimits::default() },
        stdin: Vec::new(),
        timeout: Duration::from_secs(60),
        max_output: 1 << 20,
        proxy: false,
    }
}

pub fn shell(workspace: &Scratch, script: &str) -> ProcessSpec {
    spec(workspace, "sh", &["-c", script])
}

/// The test executable as the program, doing what `probe` names.
pub fn probe(workspace: &Scratch, probe: &str) -> ProcessSpec {
    let own = std::env::current_exe().unwrap();
    let mut spec = spec(
        workspace,
        "sh",
        &["--exact", &crate::process::probe::name(), "--ignored", "--nocapture"],
    );
    spec.dirs.push(granted("/tests", own.parent().unwrap(), false));
    spec.program = Program::Path(Path::new("/tests").join(own.file_name().unwrap()));
    spec.environment.insert("PROBE".to_owned(), probe.to_owned());
    spec
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

pub fn start(spec: ProcessSpec) -> Result<Finished, ProcessError> {
    block_on(run(spec, &helper(), |_| panic!("nobody asked for a listener")))
}

pub fn out(finished: &Finished) -> String {
    String::from_utf8_lossy(&finished.stdout.bytes).into_owned()
}

pub fn err(finished: &Finished) -> String {
    String::from_utf8_lossy(&finished.stderr.bytes).into_owned()
}

/// Runs it, expects that it succeeds, and answers what it printed.
pub fn output(spec: ProcessSpec) -> String {
    let finished = start(spec).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(finished.exit_code, Some(0), "{}{}", out(&finished), err(&finished));
    out(&finished)
}

/// What a probe printed, line by line as `name result`.
pub fn probed(workspace: &Scratch, name: &str) -> BTreeMap<String, String> {
    results(&output(probe(workspace, name)))
}

pub fn results(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| line.split_once("=> "))
        .filter_map(|(_, line)| line.split_once(' '))
        .map(|(name, result)| (name.to_owned(), result.to_owned()))
        .collect()
}

/// Processes of this machine with `marker` in their arguments, the shell's own text aside.
pub fn alive(marker: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(arguments) = fs::read(format!("/proc/{pid}/cmdline")) else { continue };
        if arguments.split(|byte| *byte == 0).any(|argument| argument == marker.as_bytes()) {
            found.push(format!("{pid} {}", String::from_utf8_lossy(&arguments)));
        }
    }
    found
}

/// Waits until a condition holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within 20 s");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A number of seconds to sleep that no other test uses, to find the sleepers by.
pub fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("9{:07}.{number}", std::process::id())
}

/// Children of this process that have ended and that nobody waited for.
pub fn zombies() -> usize {
    let own = std::process::id().to_string();
    let mut count = 0;
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, rest)) = stat.rsplit_once(')') else { continue };
        let mut fields = rest.split_ascii_whitespace();
        if fields.next() == Some("Z") && fields.next() == Some(&own) {
            count += 1;
        }
    }
    count
}
