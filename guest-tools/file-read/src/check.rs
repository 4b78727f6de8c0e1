//! Which parameters go with which operation.
//!
//! One tool has many operations, and a schema that says which parameter belongs to which would be
//! long and is refused by some model APIs. So it is checked here, by name: a parameter that is
//! missing or that the operation would ignore is an error, since ignoring it would surprise.

use xzatoma_tool::{Error, Result};

use crate::Request;

/// The optional parameters of a call and whether each was given.
pub struct Parameters<'a> {
    operation: &'a str,
    given: Vec<(&'a str, bool)>,
}

impl<'a> Parameters<'a> {
    /// Those of a reading operation. Empty texts, zero and false count as not given: models like
    /// to fill in what they do not need.
    pub fn of(operation: &'a str, request: &Request<'_>) -> Self {
        let text = |value: Option<&str>| value.is_some_and(|value| !value.is_empty());
        Parameters {
            operation,
            given: vec![
                ("path2", text(request.path2)),
                ("content", text(request.content)),
                ("pattern", text(request.pattern)),
                ("recursive", request.recursive == Some(true)),
                ("offset", request.offset.is_some_and(|offset| offset > 0)),
                ("limit", request.limit.is_some_and(|limit| limit > 0)),
                ("line_numbers", request.line_numbers == Some(true)),
            ],
        }
    }

    /// Adds a parameter that is a text.
    #[must_use]
    pub fn and(mut self, name: &'a str, value: Option<&str>) -> Self {
        self.given.push((name, value.is_some_and(|value| !value.is_empty())));
        self
    }

    /// Fails when a parameter was given that `used` does not name.
    pub fn only(&self, used: &[&str]) -> Result<()> {
        match self.given.iter().find(|(name, given)| *given && !used.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(Error::invalid_input(format!(
                "`{name}` has no meaning for operation {}, which takes {}; leave it out",
                self.operation,
                enumerate(used)
            ))),
        }
    }
}

/// The value of a parameter that the operation cannot do without.
pub fn required<'a, T: ?Sized>(operation: &str, name: &str, value: Option<&'a T>) -> Result<&'a T> {
    value.ok_or_else(|| Error::invalid_input(format!("operation {operation} needs `{name}`")))
}

fn enumerate(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_too_much_or_missing() {
        let request = Request {
            pattern: Some("*"),
            path2: Some(""),
            recursive: Some(false),
            ..Request::default()
        };
        let parameters = Parameters::of("read", &request).and("old_text", None);
        assert_eq!(parameters.only(&["path", "pattern"]), Ok(()));
        let error = parameters.only(&["path", "limit"]).unwrap_err();
        assert_eq!(error.case(), "invalid-input");
        assert!(error.message().contains("`pattern`"), "{error}");

        let parameters = parameters.and("old_text", Some("x"));
        assert!(parameters.only(&["pattern"]).unwrap_err().message().contains("`old_text`"));

        assert_eq!(required("edit", "old_text", Some("x")), Ok("x"));
        let error = required::<str>("edit", "old_text", None).unwrap_err();
        assert!(error.message().contains("`old_text`"), "{error}");
    }
}
