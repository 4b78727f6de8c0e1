//! What a call answers when it worked.

use std::fmt::Display;

use crate::bindings::xzatoma::tool::types;

/// The text that the model reads, and facts for programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    text: String,
    metadata: Vec<(String, String)>,
}

impl Output {
    pub fn text(text: impl Into<String>) -> Self {
        Output { text: text.into(), metadata: Vec::new() }
    }

    /// Adds a fact, such as `with("exit_code", 0)`. A key that is already there is replaced:
    /// keys are unique by contract.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Display) -> Self {
        let value = value.to_string();
        match self.metadata.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => self.metadata.push((key.to_owned(), value)),
        }
        self
    }

    pub fn as_text(&self) -> &str {
        &self.text
    }

    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// The value of a fact.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Output::text(text)
    }
}

impl From<Output> for types::Output {
    fn from(output: Output) -> Self {
        types::Output { text: output.text, metadata: output.metadata }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_unique() {
        let output = Output::text("x").with("a", 1).with("b", "two").with("a", 3);
        assert_eq!(output.metadata(), [("a".into(), "3".into()), ("b".into(), "two".into())]);
        assert_eq!(output.fact("a"), Some("3"));
        assert_eq!(output.fact("c"), None);
    }
}
