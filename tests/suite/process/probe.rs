//! What runs inside: one deed for each name.

use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};

/// What the test runner calls the probe: its path in this crate.
pub fn name() -> String {
    let (_, path) = module_path!().split_once("::").unwrap();
    format!("{path}::probe")
}

/// Not a test by itself; see the module above.
#[test]
#[ignore = "runs inside the sandbox, started by other tests"]
fn probe() {
    let Ok(name) = std::env::var("PROBE") else { return };
    let (name, argument) = name.split_once(':').unwrap_or((&name, ""));
    match name {
        "calls" => calls(),
        "x32" => x32(),
        "sockets" => sockets(argument),
        "proxy" => proxy(),
        "processes" => processes(argument),
        "fork-bomb" => fork_bomb(),
        "private-memory" => private_memory(),
        "shared-memory" => shared_memory(),
        "memory-of-many" => memory_of_many(),
        other => panic!("no probe {other}"),
    }
}

fn tell(name: &str, result: impl std::fmt::Display) {
    use std::io::Write;
    let mut stdout = io::stdout();
    writeln!(stdout, "\n=> {name} {result}").unwrap();
}

fn tell_io<T>(name: &str, result: io::Result<T>) {
    match result {
        Ok(_) => tell(name, "worked"),
        Err(error) => tell(name, error.raw_os_error().unwrap_or(-1)),
    }
}

/// Makes a system call by number and tells its error.
fn call(name: &str, number: libc::c_long, arguments: [usize; 5]) {
    let [a, b, c, d, e] = arguments;
    // SAFETY: every one of these is refused before the kernel looks at an argument; those that
    // are pointers are null or point to a C string.
    let answer = unsafe { libc::syscall(number, a, b, c, d, e) };
    if answer == 0 && (number == libc::SYS_clone || number == libc::SYS_clone3) {
        // SAFETY: the child of a call that should have been refused ends at once.
        unsafe { libc::_exit(0) };
    }
    let error = io::Error::last_os_error();
    tell_io(name, if answer == -1 { Err(error) } else { Ok(()) });
}

fn calls() {
    let text = c"/".as_ptr() as usize;
    let new_user = libc::CLONE_NEWUSER as usize;
    call("ptrace", libc::SYS_ptrace, [libc::PTRACE_ATTACH as usize, 1, 0, 0, 0]);
    call("process_vm_readv", libc::SYS_process_vm_readv, [1, 0, 0, 0, 0]);
    call("unshare", libc::SYS_unshare, [new_user, 0, 0, 0, 0]);
    call("clone", libc::SYS_clone, [new_user | libc::SIGCHLD as usize, 0, 0, 0, 0]);
    call("clone3", libc::SYS_clone3, [0, 0, 0, 0, 0]);
    call("setns", libc::SYS_setns, [0, 0, 0, 0, 0]);
    call("mount", libc::SYS_mount, [text, text, 0, libc::MS_BIND as usize, 0]);
    call("umount2", libc::SYS_umount2, [text, 0, 0, 0, 0]);
    call("pivot_root", libc::SYS_pivot_root, [text, text, 0, 0, 0]);
    call("open_tree", libc::SYS_open_tree, [usize::MAX, text, 1, 0, 0]);
    call("move_mount", libc::SYS_move_mount, [0, text, 0, text, 0]);
    call("fsopen", libc::SYS_fsopen, [text, 0, 0, 0, 0]);
    call("mount_setattr", libc::SYS_mount_setattr, [0, text, 0, 0, 0]);
    call("chroot", libc::SYS_chroot, [text, 0, 0, 0, 0]);
    call("keyctl", libc::SYS_keyctl, [0, 0, 0, 0, 0]);
    call("add_key", libc::SYS_add_key, [text, text, 0, 0, 0]);
    call("bpf", libc::SYS_bpf, [0, 0, 0, 0, 0]);
    call("perf_event_open", libc::SYS_perf_event_open, [0, 0, 0, 0, 0]);
    call("io_uring_setup", libc::SYS_io_uring_setup, [1, 0, 0, 0, 0]);
    call("userfaultfd", libc::SYS_userfaultfd, [0, 0, 0, 0, 0]);
    call("open_by_handle_at", libc::SYS_open_by_handle_at, [0, 0, 0, 0, 0]);
    call("name_to_handle_at", libc::SYS_name_to_handle_at, [0, text, 0, 0, 0]);
    call("pidfd_getfd", libc::SYS_pidfd_getfd, [0, 0, 0, 0, 0]);
    call("personality", libc::SYS_personality, [0x0040000, 0, 0, 0, 0]);
    call("personality-query", libc::SYS_personality, [0xffff_ffff, 0, 0, 0, 0]);
    call("openat2", libc::SYS_openat2, [0, 0, 0, 0, 0]);
    call(
        "openat-setuid",
        libc::SYS_openat,
        [
            libc::AT_FDCWD as usize,
            c"/tmp/x".as_ptr() as usize,
            (libc::O_CREAT | libc::O_WRONLY) as usize,
            0o4755,
            0,
        ],
    );
    call(
        "openat-not-creating",
        libc::SYS_openat,
        [libc::AT_FDCWD as usize, text, libc::O_RDONLY as usize, 0o4755, 0],
    );
    call(
        "tmpfile-setuid",
        libc::SYS_openat,
        [
            libc::AT_FDCWD as usize,
            c"/tmp".as_ptr() as usize,
            (libc::O_TMPFILE | libc::O_WRONLY) as usize,
            0o2755,
            0,
        ],
    );
    call("fchmodat2", 452, [libc::AT_FDCWD as usize, text, 0o4755, 0, 0]);
    call(
        "mknodat",
        libc::SYS_mknodat,
        [
            libc::AT_FDCWD as usize,
            c"/tmp/y".as_ptr() as usize,
            (libc::S_IFREG | 0o4755) as usize,
            0,
            0,
        ],
    );
    call("memfd_create", libc::SYS_memfd_create, [text, 0, 0, 0, 0]);
    call("shmget", libc::SYS_shmget, [0, 4096, 0o1600, 0, 0]);
    call("tiocsti", libc::SYS_ioctl, [0, libc::TIOCSTI as usize, text, 0, 0]);
    call("tiocsti-high", libc::SYS_ioctl, [0, libc::TIOCSTI as usize | 1 << 40, text, 0, 0]);
    call("sethostname", libc::SYS_sethostname, [text, 1, 0, 0, 0]);
    call("reboot", libc::SYS_reboot, [0, 0, 0, 0, 0]);
}

/// A system call by the numbers of another ABI: `getpid` there.
fn x32() {
    // SAFETY: takes nothing.
    unsafe { libc::syscall(0x4000_0000 + 39) };
    tell("x32", "survived");
}

fn socket(name: &str, family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) {
    // SAFETY: plain numbers.
    let answer = unsafe { libc::socket(family, kind, protocol) };
    let error = io::Error::last_os_error();
    tell_io(name, if answer == -1 { Err(error) } else { Ok(()) });
}

/// `argument` is a port of the host's loopback and the name of an abstract socket there.
fn sockets(argument: &str) {
    use std::os::linux::net::SocketAddrExt;
    let (port, name) = argument.split_once(',').unwrap();
    let port: u16 = port.parse().unwrap();
    tell_io("tcp-connect", TcpStream::connect(("127.0.0.1", port)));
    tell_io("tcp6-connect", TcpStream::connect(("::1", port)));
    tell_io("tcp-listen", TcpListener::bind(("127.0.0.1", 0)));
    tell_io("udp", UdpSocket::bind(("127.0.0.1", 0)));
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name).unwrap();
    tell_io("abstract", UnixStream::connect_addr(&address));
    tell_io("unix-connect", UnixStream::connect("/workspace/socket"));
    tell_io("unix-listen", UnixListener::bind("/tmp/listener"));
    tell_io("unix-pair", UnixStream::pair());
    socket("netlink", libc::AF_NETLINK, libc::SOCK_RAW, 0);
    socket("packet", libc::AF_PACKET, libc::SOCK_RAW, 0);
    socket("vsock", libc::AF_VSOCK, libc::SOCK_STREAM, 0);
    socket("raw", libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP);
    socket("ping", libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP);
    socket("sctp", libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_SCTP);
    socket("mptcp", libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_MPTCP);
    socket("alg", libc::AF_ALG, libc::SOCK_SEQPACKET, 0);
}

fn proxy() {
    use std::io::{Read, Write};
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
    {
        let url = std::env::var(name).unwrap();
        let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        stream.write_all(b"ping").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        tell(name, answer);
    }
}

/// `argument` is a process of the host's.
fn processes(argument: &str) {
    let host: i32 = argument.parse().unwrap();
    // SAFETY: signal 0 only asks.
    let kill = |pid: i32| match unsafe { libc::kill(pid, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    tell_io("kill-host", kill(host));
    tell_io("kill-first", kill(1));
    for file in ["mem", "environ", "fd/0", "root", "cwd", "exe", "maps"] {
        let path = format!("/proc/1/{file}");
        let result = match file {
            "fd/0" | "root" | "cwd" | "exe" => std::fs::read_link(&path).map(drop),
            _ => std::fs::File::open(&path).map(drop),
        };
        tell_io(file, result);
    }
    let numbers = std::fs::read_dir("/proc")
        .unwrap()
        .filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_str().unwrap().bytes().all(|byte| byte.is_ascii_digit())
        })
        .count();
    tell("visible", numbers);
}

fn fork_bomb() {
    loop {
        // SAFETY: parent and child both only go on forking.
        if unsafe { libc::fork() } == -1 {
            tell("fork", "refused");
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    }
}

fn map(bytes: usize, kind: libc::c_int) -> Option<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, at no particular place.
    let memory = unsafe {
        libc::mmap(std::ptr::null_mut(), bytes, protection, kind | libc::MAP_ANONYMOUS, -1, 0)
    };
    (memory != libc::MAP_FAILED).then_some(memory.cast())
}

fn touch(memory: *mut u8, bytes: usize) {
    for offset in (0..bytes).step_by(4096) {
        // SAFETY: inside a mapping of this size.
        unsafe { memory.add(offset).write_volatile(1) };
    }
}

fn private_memory() {
    for (name, bytes) in [("1GiB", 1 << 30), ("16MiB", 16 << 20)] {
        let given = map(bytes, libc::MAP_PRIVATE);
        if let Some(memory) = given {
            touch(memory, bytes);
        }
        tell(name, if given.is_some() { "given" } else { "refused" });
    }
}

fn shared_memory() {
    let bytes = 256 << 20;
    let memory = map(bytes, libc::MAP_SHARED).unwrap();
    touch(memory, bytes);
    std::thread::sleep(std::time::Duration::from_secs(30));
    tell("shared", "survived");
}

fn memory_of_many() {
    for _ in 0..5 {
        // SAFETY: the child touches memory of its own and sleeps.
        if unsafe { libc::fork() } == 0 {
            let bytes = 60 << 20;
            touch(map(bytes, libc::MAP_PRIVATE).unwrap(), bytes);
            std::thread::sleep(std::time::Duration::from_secs(30));
            // SAFETY: ends the child.
            unsafe { libc::_exit(0) };
        }
    }
    std::thread::sleep(std::time::Duration::from_secs(30));
    tell("many", "survived");
}
