//! Reading 100 MB through the sandbox against reading it natively. The tool also finds the lines;
//! the native side does not.

use std::io::Read;

use super::measure::{Figures, Promise, medians, millis, ratio};
use super::world::{Scratch, World, runtime};

const SIZE: usize = 100 << 20;

pub fn run(figures: &mut Figures) {
    let scratch = Scratch::new("read");
    let path = scratch.path().join("large.txt");
    let line = "a line of ordinary text that is neither long nor short, then the next\n";
    let text = line.repeat(SIZE / line.len());
    std::fs::write(&path, &text).expect("the file is written");
    let lines = text.lines().count();
    drop(text);
    let runtime = runtime();
    let world = runtime.block_on(World::new(scratch.path(), Vec::new()));
    // The last lines: the tool has to read everything before them, and to answer little.
    let arguments =
        format!(r#"{{"operation":"read","path":"large.txt","offset":{},"limit":2}}"#, lines - 2);
    let ours = || {
        let output = runtime.block_on(world.call("file_ops_readonly", &arguments));
        assert!(output.text.contains("a line of ordinary text"), "{}", output.text);
    };
    // In pieces, as the tool does it: one buffer for all of it would cost more than reading.
    let mut buffer = vec![0; 1 << 20];
    let native = || {
        let mut file = std::fs::File::open(&path).expect("the file opens");
        let mut size = 0;
        loop {
            match file.read(&mut buffer).expect("the file is read") {
                0 => break,
                read => size += read,
            }
        }
        assert!(size > SIZE / 2);
    };
    let (ours, native) = medians(9, ours, native);
    figures.add(
        "reading 100 MB and finding its lines, against only reading it",
        millis(ours),
        millis(native),
        Some(ratio(ours, native)),
        Some(Promise::AtMost(1.5)),
    );
}
