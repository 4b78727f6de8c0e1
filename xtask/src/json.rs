//! Reads JSON, as Cargo writes it.
//!
//! Cargo answers every question about the workspace and its artifacts in JSON. A reader of a few
//! lines keeps this program without dependencies and spares it from guessing at file names.

use std::collections::BTreeMap;

/// Cargo's answers are a handful of levels deep; more is not one of them.
const MAX_DEPTH: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.skip_space();
        if reader.at == text.len() { Ok(value) } else { Err(reader.wrong("the end")) }
    }

    /// The member of an object; null where there is none.
    pub fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => members.get(name).unwrap_or(&Json::Null),
            _ => &Json::Null,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of a list; none of anything else.
    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(elements) => elements,
            _ => &[],
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, expected: &str) -> String {
        format!("not JSON: expected {expected} at byte {}", self.at)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(token.as_bytes());
        if found {
            self.at += token.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("fewer levels"));
        }
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.elements(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.accept("null") => Ok(Json::Null),
            _ if self.accept("true") => Ok(Json::Bool(true)),
            _ if self.accept("false") => Ok(Json::Bool(false)),
            _ => Err(self.wrong("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        let mut members = BTreeMap::new();
        self.at += 1;
        self.skip_space();
        if self.accept("}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_space();
            let name = self.string()?;
            self.skip_space();
            if !self.accept(":") {
                return Err(self.wrong("`:`"));
            }
            members.insert(name, self.value(depth + 1)?);
            self.skip_space();
            if self.accept("}") {
                return Ok(Json::Object(members));
            }
            if !self.accept(",") {
                return Err(self.wrong("`,` or `}`"));
            }
        }
    }

    fn elements(&mut self, depth: usize) -> Result<Json, String> {
        let mut elements = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.accept("]") {
            return Ok(Json::List(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.skip_space();
            if self.accept("]") {
                return Ok(Json::List(elements));
            }
            if !self.accept(",") {
                return Err(self.wrong("`,` or `]`"));
            }
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        while self.peek().is_some_and(|byte| b"+-.eE0123456789".contains(&byte)) {
            self.at += 1;
        }
        self.text[start..self.at].parse().map(Json::Number).map_err(|_| self.wrong("a number"))
    }

    fn string(&mut self) -> Result<String, String> {
        if !self.accept("\"") {
            return Err(self.wrong("a string"));
        }
        let mut string = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = rest.find(['"', '\\']) else {
                return Err(self.wrong("the end of a string"));
            };
            string.push_str(&rest[..plain]);
            self.at += plain;
            if self.accept("\"") {
                return Ok(string);
            }
            self.at += 1;
            string.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let letter = self.peek().ok_or_else(|| self.wrong("an escape"))?;
        let character = match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.code_point();
            }
            _ => return Err(self.wrong("an escape")),
        };
        self.at += 1;
        Ok(character)
    }

    fn code_point(&mut self) -> Result<char, String> {
        let first = self.hex()?;
        let code = if (0xD800..0xDC00).contains(&first) && self.accept("\\u") {
            let second = self.hex()?;
            0x10000 + ((first - 0xD800) << 10) + (second.wrapping_sub(0xDC00) & 0x3FF)
        } else {
            first
        };
        char::from_u32(code).ok_or_else(|| self.wrong("a character"))
    }

    fn hex(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4).ok_or_else(|| self.wrong("4 digits"))?;
        let code = u32::from_str_radix(digits, 16).map_err(|_| self.wrong("4 digits"))?;
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_cargo_writes() {
        let json = Json::parse(
            r#" {"a":[1,-2.5e1,true,false,null],"b":{"c":"x\"\\\/\n\u00e9\ud83d\ude00é"},"d":{},"e":[]} "#,
        )
        .unwrap();
        assert_eq!(json.get("a").list()[1], Json::Number(-25.0));
        assert_eq!(json.get("b").get("c").text(), Some("x\"\\/\n\u{e9}\u{1f600}\u{e9}"));
        assert_eq!(json.get("d"), &Json::Object(BTreeMap::new()));
        assert_eq!(json.get("e").list(), &[]);
        assert_eq!(json.get("missing").get("deeper").text(), None);
    }

    #[test]
    fn refuses_what_is_not_json() {
        let deep = "[".repeat(100_000);
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{a:1}",
            "\"open",
            "\"\\x\"",
            "\"\\u12\"",
            "1 2",
            "nul",
            &deep,
        ] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
    }
}
