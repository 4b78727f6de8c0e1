//! Precompiles the tools that need it.
//!
//! A tool needs it when its component changed, or when this build of the precompiler has not yet
//! seen it. The latter is remembered for every build, so that going back and forth between dev
//! and release compiles nothing: both give the same code, and only one copy is kept.
//!
//! The precompiler makes NAME.cwasm, the code, and beside the component NAME.json, what the tool
//! says about itself. It works in a directory of its own, so that only what changed is replaced.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use crate::command::Program;
use crate::failure::Failure;
use crate::files::{self, TemporaryDirectory};
use crate::step::note;

/// What the precompiler makes of NAME.wasm.
const OUTPUTS: [&str; 2] = ["cwasm", "json"];

/// How many builds of the precompiler a stamp remembers; more than the profiles in use.
const REMEMBERED_BUILDS: usize = 4;

/// Makes NAME.cwasm and NAME.json from NAME.wasm in `directory` for each name.
pub fn precompile(precompiler: &Path, directory: &Path, names: &[&str]) -> Result<(), Failure> {
    let build = fingerprint(&files::read(precompiler)?);
    let mut jobs = Vec::new();
    for name in names {
        let job = Job::new(directory, name)?;
        if !job.is_done_by(&build)? {
            jobs.push(job);
        }
    }
    if jobs.is_empty() {
        note("nothing has changed");
        return Ok(());
    }
    let scratch = TemporaryDirectory::new_in(directory, "precompile")?;
    for job in &jobs {
        files::write(&job.file_in(scratch.path(), "wasm"), &job.component)?;
    }
    Program::new(precompiler).args(arguments(&jobs, scratch.path())).run()?;
    jobs.iter().try_for_each(|job| job.finish(scratch.path(), &build))
}

struct Job<'a> {
    directory: &'a Path,
    name: &'a str,
    component: Vec<u8>,
}

impl<'a> Job<'a> {
    fn new(directory: &'a Path, name: &'a str) -> Result<Job<'a>, Failure> {
        let component = files::read(&directory.join(format!("{name}.wasm")))?;
        Ok(Job { directory, name, component })
    }

    fn file_in(&self, directory: &Path, extension: &str) -> PathBuf {
        directory.join(format!("{}.{extension}", self.name))
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.file_in(self.directory, extension)
    }

    fn is_done_by(&self, build: &str) -> Result<bool, Failure> {
        let there = OUTPUTS.iter().all(|extension| self.file(extension).is_file());
        Ok(there && self.builds()?.iter().any(|seen| seen == build))
    }

    /// The builds of the precompiler that gave the present output from the present component.
    fn builds(&self) -> Result<Vec<String>, Failure> {
        let stamp = files::read_if_there(&self.file("stamp"))?.unwrap_or_default();
        let stamp = String::from_utf8_lossy(&stamp);
        let mut lines = stamp.lines();
        if lines.next() != Some(&fingerprint(&self.component)) {
            return Ok(Vec::new());
        }
        Ok(lines.map(str::to_owned).collect())
    }

    /// Puts the new output in place, and notes where it came from.
    fn finish(&self, scratch: &Path, build: &str) -> Result<(), Failure> {
        let mut changed = false;
        for extension in OUTPUTS {
            let new = files::read(&self.file_in(scratch, extension))?;
            changed |= files::write_if_changed(&self.file(extension), &new)?;
        }
        let mut builds = if changed { Vec::new() } else { self.builds()? };
        builds.insert(0, build.to_owned());
        builds.truncate(REMEMBERED_BUILDS);
        let stamp = format!("{}\n{}\n", fingerprint(&self.component), builds.join("\n"));
        files::write_if_changed(&self.file("stamp"), stamp.as_bytes())?;
        Ok(())
    }
}

/// Pairs of component and output, as the precompiler takes them.
fn arguments(jobs: &[Job<'_>], scratch: &Path) -> impl Iterator<Item = PathBuf> {
    jobs.iter().flat_map(|job| ["wasm", "cwasm"].map(|extension| job.file_in(scratch, extension)))
}

/// Tells builds apart; nobody gains anything by forging one in his own target directory.
fn fingerprint(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    format!("{:016x}-{}", hasher.finish(), bytes.len())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    /// Written by another process: a file that this one has open for writing, if only until a
    /// program that another test starts at that moment has closed it, cannot be run.
    fn write_program(path: &Path, script: &str) {
        let write = "printf %s \"$1\" > \"$2\" && chmod +x \"$2\"";
        Program::new("sh").args(["-c", write, "sh", script]).arg(path).run().unwrap();
    }

    /// A precompiler that notes its arguments and "compiles" by copying behind a heading.
    fn precompiler(directory: &Path, heading: &str) -> PathBuf {
        let path = directory.join(format!("precompiler-{}", fingerprint(heading.as_bytes())));
        let log = directory.join("log");
        let script = format!(
            "#!/bin/sh\n# build: {heading}\nset -e\necho \"$@\" >> {log}\n\
             while [ $# -gt 0 ]; do {{ echo {output}; cat \"$1\"; }} > \"$2\"; \
             echo described > \"${{1%.wasm}}.json\"; shift 2; done\n",
            log = log.display(),
            output = heading.split(' ').next().unwrap(),
        );
        write_program(&path, &script);
        path
    }

    fn runs(directory: &Path) -> Vec<String> {
        let log = files::read_if_there(&directory.join("log")).unwrap().unwrap_or_default();
        String::from_utf8(log).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_what_changed_is_precompiled() {
        let temporary = files::TemporaryDirectory::new("precompile").unwrap();
        let at = temporary.path();
        fs::write(at.join("a.wasm"), "A").unwrap();
        fs::write(at.join("b.wasm"), "B").unwrap();
        let dev = precompiler(at, "engine1 dev");

        precompile(&dev, at, &["a", "b"]).unwrap();
        assert_eq!(fs::read_to_string(at.join("a.cwasm")).unwrap(), "engine1\nA");
        assert_eq!(runs(at).len(), 1);
        assert_eq!(runs(at)[0].split(' ').count(), 4, "two pairs");

        precompile(&dev, at, &["a", "b"]).unwrap();
        assert_eq!(runs(at).len(), 1, "nothing changed");

        fs::write(at.join("b.wasm"), "B2").unwrap();
        precompile(&dev, at, &["a", "b"]).unwrap();
        assert_eq!(runs(at).len(), 2);
        let second = &runs(at)[1];
        let pair: Vec<_> = second.split(' ').map(|path| Path::new(path).file_name()).collect();
        assert_eq!(pair, [Some("b.wasm".as_ref()), Some("b.cwasm".as_ref())], "only b");
        assert_eq!(fs::read_to_string(at.join("b.cwasm")).unwrap(), "engine1\nB2");

        for output in ["a.cwasm", "a.json"] {
            fs::remove_file(at.join(output)).unwrap();
            precompile(&dev, at, &["a", "b"]).unwrap();
            assert_eq!(fs::read_to_string(at.join("a.cwasm")).unwrap(), "engine1\nA");
            assert_eq!(fs::read_to_string(at.join("a.json")).unwrap(), "described\n");
        }
    }

    #[test]
    fn two_builds_of_one_engine_share_the_output() {
        let temporary = files::TemporaryDirectory::new("precompile-two").unwrap();
        let at = temporary.path();
        fs::write(at.join("a.wasm"), "A").unwrap();
        let (dev, release) = (precompiler(at, "engine1 dev"), precompiler(at, "engine1 release"));

        precompile(&dev, at, &["a"]).unwrap();
        let written = fs::metadata(at.join("a.cwasm")).unwrap().modified().unwrap();
        for build in [&release, &dev, &release] {
            precompile(build, at, &["a"]).unwrap();
        }
        assert_eq!(runs(at).len(), 2, "each build once");
        assert_eq!(fs::metadata(at.join("a.cwasm")).unwrap().modified().unwrap(), written);

        let newer = precompiler(at, "engine2 dev");
        precompile(&newer, at, &["a"]).unwrap();
        assert_eq!(fs::read_to_string(at.join("a.cwasm")).unwrap(), "engine2\nA");
        precompile(&release, at, &["a"]).unwrap();
        assert_eq!(fs::read_to_string(at.join("a.cwasm")).unwrap(), "engine1\nA");
    }

    #[test]
    fn a_precompiler_that_fails_leaves_nothing_behind() {
        let temporary = files::TemporaryDirectory::new("precompile-fails").unwrap();
        let at = temporary.path();
        fs::write(at.join("a.wasm"), "A").unwrap();
        let broken = at.join("broken");
        write_program(&broken, "#!/bin/sh\necho half > \"$2\"\nexit 3\n");

        let failure = precompile(&broken, at, &["a"]).unwrap_err().to_string();
        assert!(failure.contains("broken") && failure.contains('3'), "{failure}");
        let left: Vec<_> = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }
}
