//! The reading operations with their parameters, as both tools take them.

use xzatoma_tool::{Error, Result};

use crate::{Against, Page, Parameters, Place, ReadOptions, diff, find, list, read, required};

/// An operation that changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Read,
    List,
    Find,
    Diff,
}

/// The parameters of a reading operation, as given.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request<'a> {
    pub path: Option<&'a str>,
    pub path2: Option<&'a str>,
    pub content: Option<&'a str>,
    pub pattern: Option<&'a str>,
    pub recursive: Option<bool>,
    pub offset: Option<u64>,
    pub limit: Option<u64>,
    pub line_numbers: Option<bool>,
}

/// Runs one; `given` are all the parameters of the call.
pub fn run(operation: Operation, request: &Request<'_>, given: &Parameters<'_>) -> Result {
    let file = |name| Place::resolve(required(name, "path", request.path)?);
    let directory = || Place::resolve(request.path.unwrap_or("."));
    let offset = request.offset;
    // Filled in rather than meant, as in `Parameters`.
    let limit = request.limit.filter(|limit| *limit > 0);
    let path2 = request.path2.filter(|path| !path.is_empty());
    match operation {
        Operation::Read => {
            given.only(&["path", "offset", "limit", "line_numbers"])?;
            let line_numbers = request.line_numbers.unwrap_or(false);
            read(&file("read")?, ReadOptions { offset, limit, line_numbers })
        }
        Operation::List => {
            given.only(&["path", "recursive", "offset", "limit"])?;
            list(&directory()?, request.recursive.unwrap_or(false), Page { offset, limit })
        }
        Operation::Find => {
            given.only(&["path", "pattern", "recursive", "offset", "limit"])?;
            let pattern = required("find", "pattern", request.pattern)?;
            let recursive = request.recursive.unwrap_or(true);
            find(&directory()?, pattern, recursive, Page { offset, limit })
        }
        Operation::Diff => {
            given.only(&["path", "path2", "content"])?;
            let file = file("diff")?;
            match (path2, request.content) {
                (Some(path2), None) => diff(&file, Against::File(&Place::resolve(path2)?)),
                (None, Some(text)) => diff(&file, Against::Text(text)),
                (None, None) => {
                    Err(Error::invalid_input("operation diff needs `path2` or `content`"))
                }
                (Some(_), Some(_)) => Err(Error::invalid_input(
                    "operation diff takes `path2` or `content`, not both; leave one out",
                )),
            }
        }
    }
}
