//! A tree of text files like a source repository's, the same one every time.

use std::path::Path;

/// Once in the whole tree.
pub const RARE: &str = "xylophonic_marmalade";
/// In about every fortieth line.
pub const COMMON: &str = "register";

const WORDS: [&str; 48] = [
    "let", "fn", "return", "struct", "value", "index", "buffer", "register", "pointer", "length",
    "if", "else", "while", "for", "match", "result", "error", "option", "string", "vector",
    "static", "const", "module", "import", "export", "public", "private", "memory", "thread",
    "signal", "socket", "request", "response", "handler", "context", "session", "token", "parse",
    "format", "print", "write", "read", "open", "close", "flush", "async", "await", "spawn",
];

/// A small generator of pseudo-random numbers (xorshift), seeded with a constant.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Writes files until they hold `bytes`, and answers how many there are.
pub fn make(root: &Path, bytes: usize) -> usize {
    let mut random = Random::new(0x5eed);
    let (mut written, mut files) = (0, 0);
    while written < bytes {
        let directory = root.join(format!("d{:02}/s{:02}", files / 640 % 64, files / 32 % 20));
        std::fs::create_dir_all(&directory).expect("a directory is made");
        // Most files are small, some are large: about 20 KB on average.
        let lines =
            20 + random.below(400) + if random.below(20) == 0 { random.below(4_000) } else { 0 };
        let mut text = String::new();
        for number in 0..lines {
            text.push_str(&" ".repeat(random.below(4) * 4));
            for _ in 0..3 + random.below(8) {
                text.push_str(WORDS[random.below(WORDS.len())]);
                text.push(if random.below(5) == 0 { '_' } else { ' ' });
            }
            text.push_str(match number % 3 {
                0 => "{\n",
                1 => ";\n",
                _ => "\n",
            });
        }
        if files == 777 {
            text.push_str(RARE);
            text.push('\n');
        }
        std::fs::write(directory.join(format!("f{files}.rs")), &text).expect("a file is written");
        written += text.len();
        files += 1;
    }
    files
}
