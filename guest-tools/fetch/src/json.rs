//! Indents JSON as text: numbers, escapes and the order of keys stay as they are.

/// Spaces of one level.
const INDENT: usize = 2;

/// Deeper levels are indented no further, so that deep nesting cannot make much out of little.
const MAX_INDENTED_LEVELS: usize = 50;

/// The same JSON over several lines; none where it is not valid. Stops once `enough` bytes are
/// there, since what comes after would be cut.
pub fn indent(json: &str, enough: usize) -> Option<String> {
    serde_json::from_str::<serde::de::IgnoredAny>(json).ok()?;
    let mut writer = Writer { out: String::new(), depth: 0 };
    let mut rest = json;
    while writer.out.len() <= enough
        && let Some(character) = rest.chars().next()
    {
        rest = match character {
            '"' => {
                let (string, after) = rest.split_at(string_length(rest));
                writer.out.push_str(string);
                after
            }
            other => {
                let after = &rest[other.len_utf8()..];
                writer.structure(other, after)
            }
        };
    }
    Some(writer.out)
}

struct Writer {
    out: String,
    depth: usize,
}

impl Writer {
    fn new_line(&mut self) {
        self.out.push('\n');
        let spaces = INDENT * self.depth.min(MAX_INDENTED_LEVELS);
        self.out.extend(std::iter::repeat_n(' ', spaces));
    }

    /// One character outside of strings; answers what is left.
    fn structure<'j>(&mut self, character: char, after: &'j str) -> &'j str {
        match character {
            '{' | '[' => {
                self.out.push(character);
                let inside = after.trim_start();
                if let Some(rest) = inside.strip_prefix(['}', ']']) {
                    self.out.push(if character == '{' { '}' } else { ']' });
                    return rest;
                }
                self.depth += 1;
                self.new_line();
                return inside;
            }
            '}' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                self.new_line();
                self.out.push(character);
            }
            ',' => {
                self.out.push(',');
                self.new_line();
            }
            ':' => self.out.push_str(": "),
            space if space.is_ascii_whitespace() => {}
            other => self.out.push(other),
        }
        after
    }
}

/// Bytes of the string that `text` begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn whole(json: &str) -> Option<String> {
        indent(json, usize::MAX)
    }

    #[test]
    fn nothing_but_space_changes() {
        assert_eq!(
            whole(r#"{"b":[1.10,{},[ ]],"a":"x, {\"y\": \\"}"#).unwrap(),
            "{\n  \"b\": [\n    1.10,\n    {},\n    []\n  ],\n  \"a\": \"x, {\\\"y\\\": \\\\\"\n}"
        );
        assert_eq!(
            whole(" 123456789012345678901234567890 ").unwrap(),
            "123456789012345678901234567890"
        );
        assert_eq!(whole("\"é\"").unwrap(), "\"é\"");
    }

    #[test]
    fn what_is_not_json_is_left_alone() {
        for text in ["", "{", "{a:1}", "[1,]", "[1] 2"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn deep_nesting_stays_small() {
        let deep = |levels| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        assert!(indent(&deep(100_000), 5000).unwrap().len() < 5200);
        assert!(whole(&deep(100)).unwrap().len() < 200 * 103);
        assert_eq!(indent("[1,2]", 3).unwrap(), "[\n  ");
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[\\PC\"\\\\{}\\[\\],:\n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_same_value_and_the_usual_form(value in json()) {
            let indented = whole(&value.to_string()).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Value>(&indented).unwrap(), &value);
            prop_assert_eq!(indented, serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
