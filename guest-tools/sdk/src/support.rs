//! What the code that `tool!` writes calls. Not for direct use.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde::de::DeserializeOwned;

use crate::bindings::xzatoma::tool::types;
use crate::{Error, Result};

/// The JSON Schema of the arguments of a tool's function.
///
/// Inlined, and without the keywords that some model APIs refuse: `$ref`, `$schema`, `format`.
pub fn parameters<A: JsonSchema>(_call: fn(A) -> Result) -> String {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.remove("title");
    RecursiveTransform(|schema: &mut schemars::Schema| {
        // Names of Rust types such as `uint64`, which JSON Schema does not know.
        schema.remove("format");
        if schema.get("default").is_some_and(|default| default.is_null()) {
            schema.remove("default");
        }
        // Doc comments break lines where the source does.
        if let Some(serde_json::Value::String(text)) = schema.get_mut("description") {
            *text = text.replace('\n', " ");
        }
    })
    .transform(&mut schema);
    schema.as_value().to_string()
}

/// Parses the arguments and calls the tool's function with them.
pub fn call<A: DeserializeOwned>(
    arguments: &str,
    call: fn(A) -> Result,
) -> std::result::Result<types::Output, types::ToolError> {
    parse(arguments).and_then(call).map(types::Output::from).map_err(types::ToolError::from)
}

fn parse<A: DeserializeOwned>(arguments: &str) -> Result<A> {
    let mut json = serde_json::Deserializer::from_str(arguments);
    let parsed = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        if inner.is_data() && path != "." {
            Error::invalid_input(format!("argument `{path}`: {inner}"))
        } else if inner.is_data() {
            Error::invalid_input(format!("the arguments do not fit: {inner}"))
        } else {
            Error::invalid_input(format!("the arguments are not valid JSON: {inner}"))
        }
    })?;
    json.end().map_err(|error| {
        Error::invalid_input(format!("the arguments must be one JSON object: {error}"))
    })?;
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        /// Where
        /// it is.
        path: String,
        /// How many.
        #[serde(default)]
        limit: Option<u64>,
        #[serde(default)]
        how: Option<How>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum How {
        Fast,
        Slow,
    }

    fn echo(arguments: Arguments) -> Result {
        Ok(crate::Output::text(format!(
            "{} {:?} {:?}",
            arguments.path, arguments.limit, arguments.how
        )))
    }

    fn refused(arguments: &str) -> String {
        match call(arguments, echo) {
            Err(types::ToolError::InvalidInput(message)) => message,
            other => panic!("{arguments} gave {other:?}"),
        }
    }

    #[test]
    fn the_schema_is_plain() {
        let text = parameters(echo);
        for word in ["$ref", "$defs", "$schema", "\"format\"", "\"title\"", "\"default\""] {
            assert!(!text.contains(word), "{word} in {text}");
        }
        let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], serde_json::json!(["path"]));
        assert_eq!(schema["properties"]["path"]["description"], "Where it is.");
        assert!(text.contains("\"fast\""), "{text}");
    }

    #[test]
    fn good_arguments_arrive() {
        let output = call(r#"{"path":"a","limit":3,"how":"slow"}"#, echo).unwrap();
        assert_eq!(output.text, "a Some(3) Some(Slow)");
    }

    #[test]
    fn bad_arguments_name_the_field() {
        let wrong_type = refused(r#"{"path":"a","limit":"many"}"#);
        assert!(wrong_type.contains("`limit`") && wrong_type.contains("u64"), "{wrong_type}");
        let wrong_case = refused(r#"{"path":"a","how":"odd"}"#);
        assert!(wrong_case.contains("`how`") && wrong_case.contains("fast"), "{wrong_case}");
        assert!(refused(r#"{"limit":1}"#).contains("`path`"));
        let unknown = refused(r#"{"path":"a","pth":"b"}"#);
        assert!(unknown.contains("`pth`") && unknown.contains("`limit`"), "{unknown}");
        assert!(refused("{").contains("not valid JSON"));
        assert!(refused(r#"{"path":"a"} x"#).contains("one JSON object"));
        // A hundred thousand levels neither overflow the stack nor get through.
        refused(&"[".repeat(100_000));
        refused(&format!("{{\"path\":{}", "[".repeat(100_000)));
    }
}
