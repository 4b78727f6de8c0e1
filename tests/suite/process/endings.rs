//! However it ends, nothing is left.

use std::time::{Duration, Instant};

use xzatoma::capability::process::{ProcessError, ProcessLimits, run};
use xzatoma::policy::Confinement;

use crate::process::support::*;

/// Sleepers in every relation to the first process: a child, one in a session of its own, one
/// whose parent has gone, and one that ignores signals.
fn sleepers(marker: &str) -> String {
    format!(
        "sleep {marker} & \
         setsid sleep {marker} & \
         (setsid sh -c 'sleep {marker} & exit' &) ; \
         sh -c 'trap \"\" TERM HUP INT; sleep {marker}' & \
         echo started; sleep 0.2; "
    )
}

#[test]
fn a_deadline_ends_the_whole_tree() {
    for confinement in [Confinement::Os, Confinement::None] {
        let workspace = Scratch::new();
        let marker = marker();
        let script = format!("{} sleep {marker}", sleepers(&marker));
        let mut spec = spec_at(confinement, &workspace, "sh", &["-c", &script]);
        spec.timeout = Duration::from_millis(1500);
        let start_time = Instant::now();
        match start(spec) {
            Err(ProcessError::TimedOut { stdout, duration, .. }) => {
                assert_eq!(stdout.bytes, b"started\n");
                assert!(duration >= Duration::from_millis(1500));
            }
            other => panic!("{confinement:?}: {other:?}"),
        }
        assert!(start_time.elapsed() < Duration::from_secs(6), "{:?}", start_time.elapsed());
        assert_eq!(alive(&marker), Vec::<String>::new(), "{confinement:?}");
    }
}

#[test]
fn what_runs_on_in_the_background_ends_with_the_program() {
    for confinement in [Confinement::Os, Confinement::None] {
        let workspace = Scratch::new();
        let marker = marker();
        let script = sleepers(&marker);
        let finished = start(spec_at(confinement, &workspace, "sh", &["-c", &script])).unwrap();
        assert_eq!(out(&finished), "started\n");
        assert_eq!(alive(&marker), Vec::<String>::new(), "{confinement:?}");
    }
}

#[test]
fn dropping_the_future_ends_the_tree() {
    for confinement in [Confinement::Os, Confinement::None] {
        let workspace = Scratch::new();
        let marker = marker();
        let script = format!("{} sleep {marker}", sleepers(&marker));
        let spec = spec_at(confinement, &workspace, "sh", &["-c", &script]);
        block_on(async {
            let helper = helper();
            let mut running = Box::pin(run(spec, &helper, |_| ()));
            let deadline = Instant::now() + Duration::from_secs(20);
            while alive(&marker).len() < 5 {
                assert!(Instant::now() < deadline, "{:?}", alive(&marker));
                let pause = Duration::from_millis(50);
                assert!(tokio::time::timeout(pause, &mut running).await.is_err());
            }
        });
        eventually("the tree is gone", || alive(&marker).is_empty());
        eventually("no zombie is left", || zombies() == 0);
    }
}

#[test]
fn dropping_the_future_at_any_moment_leaves_nothing() {
    let workspace = Scratch::new();
    let marker = marker();
    for step in 0..40 {
        let spec = spec(&workspace, "sleep", &[&marker]);
        block_on(async {
            let pause = Duration::from_millis(step);
            let ended = tokio::time::timeout(pause, run(spec, &helper(), |_| ())).await;
            assert!(ended.is_err(), "{ended:?}");
        });
    }
    eventually("the processes are gone", || alive(&marker).is_empty());
    eventually("no zombie is left", || zombies() == 0);
    eventually("no placeholder is left", || !workspace.exists(".git"));
}

#[test]
fn a_fork_bomb_is_bounded_and_ends() {
    let workspace = Scratch::new();
    let mut spec = probe(&workspace, "fork-bomb");
    spec.limits = ProcessLimits { processes: 64, ..spec.limits };
    spec.timeout = Duration::from_secs(10);
    let before = Instant::now();
    let result = start(spec);
    assert!(before.elapsed() < Duration::from_secs(30), "{:?}", before.elapsed());
    // Either the kernel refused it more processes until its time was up, or it had too many.
    match result {
        Err(ProcessError::Limit(text)) => assert!(text.contains("the limit is 64"), "{text}"),
        Err(ProcessError::TimedOut { stdout, .. }) => {
            let text = String::from_utf8_lossy(&stdout.bytes).into_owned();
            assert!(text.contains("refused"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

/// Not a real bomb: without a sandbox, only looking bounds what user 0 starts.
#[test]
fn too_many_processes_without_a_sandbox() {
    let workspace = Scratch::new();
    let marker = marker();
    let script = format!("for i in $(seq 200); do sleep {marker} & done; wait");
    let mut spec = spec_at(Confinement::None, &workspace, "sh", &["-c", &script]);
    spec.limits = ProcessLimits { processes: 64, ..spec.limits };
    match start(spec) {
        Err(ProcessError::Limit(text)) => assert!(text.contains("the limit is 64"), "{text}"),
        // The kernel was first.
        Ok(finished) => assert!(err(&finished).contains("fork"), "{}", err(&finished)),
        other => panic!("{other:?}"),
    }
    assert_eq!(alive(&marker), Vec::<String>::new());
}

#[test]
fn one_process_cannot_take_more_memory_than_the_limit() {
    let workspace = Scratch::new();
    let mut spec = probe(&workspace, "private-memory");
    spec.limits = ProcessLimits { memory_bytes: 128 << 20, ..spec.limits };
    let results = results(&output(spec));
    assert_eq!(results["1GiB"], "refused");
    assert_eq!(results["16MiB"], "given");
}

#[test]
fn a_tree_cannot_take_more_memory_than_the_limit() {
    for name in ["shared-memory", "memory-of-many"] {
        let workspace = Scratch::new();
        let mut spec = probe(&workspace, name);
        spec.limits = ProcessLimits { memory_bytes: 128 << 20, ..spec.limits };
        match start(spec) {
            Err(ProcessError::Limit(text)) => assert!(text.contains("128 MiB"), "{text}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn temporary_files_and_single_files_are_limited() {
    let workspace = Scratch::new();
    let mut spec = shell(
        &workspace,
        "head -c 20000000 /dev/zero > /tmp/large || echo full; \
         head -c 20000000 /dev/zero > large || echo large",
    );
    spec.limits.temporary_bytes = 10 << 20;
    spec.limits.file_bytes = 15 << 20;
    let finished = start(spec).unwrap();
    assert_eq!(out(&finished), "full\nlarge\n", "{}", err(&finished));
    assert_eq!(workspace.path("large").metadata().unwrap().len(), 15 << 20);
}
