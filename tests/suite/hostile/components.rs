//! Components that no compiler would make: from text, and from honest ones by breaking them.

use std::fs;

use serde_json::json;
use xzatoma::policy::Authority;
use xzatoma::tool::CallReport;

use crate::harness::{Setup, TemporaryDirectory, World};

const TEMPLATE: &str = include_str!("../../components/wat/tool.wat");
/// Where the template's texts begin.
const TEXTS: u32 = 256;

/// A tool by hand: `tests/components/wat/tool.wat` with the parts that make it bad.
#[derive(Debug, Clone)]
pub struct Wat {
    name: String,
    description: String,
    parameters: String,
    version: String,
    before: String,
    imports: String,
    memory: String,
    items: String,
    realloc: String,
    describe: String,
    call: String,
    call_done: String,
    answer: Option<Vec<u8>>,
}

impl Wat {
    /// An honest one: its answer is `done`.
    pub fn named(name: &str) -> Wat {
        Wat {
            name: name.to_owned(),
            description: "Made by hand.".to_owned(),
            parameters: r#"{"type":"object"}"#.to_owned(),
            version: "0.1.0".to_owned(),
            before: String::new(),
            imports: String::new(),
            memory: r#"(memory $own (export "memory") 1)"#.to_owned(),
            items: String::new(),
            realloc: "(i32.const 32768)".to_owned(),
            describe: "(i32.const 16)".to_owned(),
            call: "(i32.const 64)".to_owned(),
            call_done: String::new(),
            answer: None,
        }
    }

    pub fn description(self, description: &str) -> Wat {
        Wat { description: description.to_owned(), ..self }
    }

    pub fn parameters(self, parameters: &str) -> Wat {
        Wat { parameters: parameters.to_owned(), ..self }
    }

    pub fn version(self, version: &str) -> Wat {
        Wat { version: version.to_owned(), ..self }
    }

    /// Items of the component before its own code, such as imports.
    pub fn before(self, items: &str) -> Wat {
        Wat { before: items.to_owned(), ..self }
    }

    /// Imports of the core module, all from an instance `$outside` that `before` makes.
    pub fn imports(self, imports: &str) -> Wat {
        Wat { imports: imports.to_owned(), ..self }
    }

    pub fn memory(self, memory: &str) -> Wat {
        Wat { memory: memory.to_owned(), ..self }
    }

    /// Further items of the core module.
    pub fn items(self, items: &str) -> Wat {
        Wat { items: items.to_owned(), ..self }
    }

    pub fn realloc(self, body: &str) -> Wat {
        Wat { realloc: body.to_owned(), ..self }
    }

    pub fn describe(self, body: &str) -> Wat {
        Wat { describe: body.to_owned(), ..self }
    }

    pub fn call(self, body: &str) -> Wat {
        Wat { call: body.to_owned(), ..self }
    }

    pub fn call_done(self, body: &str) -> Wat {
        Wat { call_done: body.to_owned(), ..self }
    }

    /// The bytes of the answer, as the canonical ABI lays it out.
    pub fn answer(self, words: &[u32]) -> Wat {
        Wat { answer: Some(words.iter().flat_map(|word| word.to_le_bytes()).collect()), ..self }
    }

    pub fn text(&self) -> String {
        let texts = [&self.name, &self.description, &self.parameters, "done"];
        let mut places = Vec::new();
        let mut bytes = Vec::new();
        for text in texts {
            let start = TEXTS + bytes.len() as u32;
            places.push([start, text.len() as u32]);
            bytes.extend_from_slice(text.as_bytes());
        }
        let [name, description, parameters, done] = [places[0], places[1], places[2], places[3]];
        // Name, description, parameters, whether it changes anything, and no capabilities.
        let definition = [name, description, parameters].concat().into_iter().chain([0, 0, 0]);
        let definition: Vec<u8> = definition.flat_map(u32::to_le_bytes).collect();
        // It worked; the text; no metadata.
        let worked = [0, done[0], done[1], 0, 0].into_iter().flat_map(u32::to_le_bytes).collect();
        let answer = self.answer.clone().unwrap_or(worked);
        TEMPLATE
            .replace("{{before}}", &self.before)
            .replace("{{imports}}", &self.imports)
            .replace(
                "{{with}}",
                if self.imports.is_empty() {
                    ""
                } else {
                    r#"(with "outside" (instance $outside))"#
                },
            )
            .replace("{{memory}}", &self.memory)
            .replace("{{items}}", &self.items)
            .replace("{{realloc}}", &self.realloc)
            .replace("{{describe}}", &self.describe)
            .replace("{{call}}", &self.call)
            .replace("{{call-done}}", &self.call_done)
            .replace("{{definition}}", &escaped(&definition))
            .replace("{{answer}}", &escaped(&answer))
            .replace("{{texts}}", &escaped(&bytes))
            .replace("{{version}}", &self.version)
    }

    pub fn bytes(&self) -> Vec<u8> {
        wat::parse_str(self.text()).unwrap()
    }
}

fn escaped(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:02x}")).collect()
}

/// A component in a sandbox of its own, which goes with it.
pub struct Loaded {
    world: World,
    pub name: String,
}

impl Loaded {
    pub fn call(&self, authority: &Authority) -> CallReport {
        self.world.call(&self.name, json!({}), authority)
    }
}

/// Loads a component by itself; why not, if it is refused.
pub fn load(component: &Wat) -> Result<Loaded, String> {
    load_bytes(&component.bytes())
}

pub fn load_bytes(bytes: &[u8]) -> Result<Loaded, String> {
    let mut world = World::with(Setup { without_built_ins: true, ..Setup::default() });
    let name = add_bytes(&mut world, bytes)?;
    Ok(Loaded { world, name })
}

/// Gives a component to a sandbox: the name of the tool, or why it is refused.
pub fn add_bytes(world: &mut World, bytes: &[u8]) -> Result<String, String> {
    let directory = TemporaryDirectory::new();
    let path = directory.path().join("component.wasm");
    fs::write(&path, bytes).unwrap();
    let added = world.add(&path);
    added.map(|tool| tool.definition().name.clone()).map_err(|error| error.reason)
}

/// An empty component in a component, and so on.
pub fn nested_components(depth: usize) -> Vec<u8> {
    const HEAD: [u8; 8] = [0, b'a', b's', b'm', 0x0d, 0, 1, 0];
    const COMPONENT_SECTION: u8 = 4;
    let mut bytes = HEAD.to_vec();
    for _ in 0..depth {
        let mut outer = HEAD.to_vec();
        outer.push(COMPONENT_SECTION);
        let mut length = bytes.len();
        while length >= 0x80 {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.extend_from_slice(&bytes);
        bytes = outer;
    }
    bytes
}

/// Pseudo-random numbers that are the same in every run: a failure can be repeated.
pub struct Seeded(u64);

impl Seeded {
    pub fn new(seed: u64) -> Seeded {
        Seeded(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// A copy with a few bytes changed, cut, doubled or moved.
pub fn mutated(honest: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Seeded::new(seed);
    let mut bytes = honest.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let length = 1 + random.below(16);
        let end = (at + length).min(bytes.len());
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes[at..end].fill([0, 0x7f, 0xff][random.below(3)]),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, copy);
            }
            _ => bytes.truncate(at.max(16)),
        }
    }
    bytes
}
