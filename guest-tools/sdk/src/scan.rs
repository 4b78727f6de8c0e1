//! Walks a granted directory; the host hands over whole files in batches.

use crate::Result;
pub use crate::bindings::xzatoma::tool::scan::{Batch, File, Options, Totals, Walk};

/// Begins a walk at `root`, a file or a directory.
pub fn open(root: &str, options: &Options) -> Result<Walk> {
    Ok(Walk::open(root, options)?)
}

/// The next batch, in the order of the paths; none at the end.
pub fn next(walk: &Walk) -> Result<Option<Batch>> {
    Ok(walk.next()?)
}

/// The files of a batch with their bytes.
pub fn files(batch: &Batch) -> impl Iterator<Item = (&str, &[u8])> {
    let mut start = 0;
    batch.files.iter().map(move |file| {
        let end = (file.end as usize).min(batch.data.len());
        let bytes = batch.data.get(start..end).unwrap_or_default();
        start = end;
        (file.path.as_str(), bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_cut_where_the_host_said() {
        let file = |path: &str, end| File { path: path.into(), end };
        let batch = Batch {
            files: vec![file("a", 2), file("b", 2), file("c", 5)],
            data: b"aaccc".to_vec(),
        };
        let cut: Vec<_> = files(&batch).collect();
        assert_eq!(cut, [("a", &b"aa"[..]), ("b", &b""[..]), ("c", &b"ccc"[..])]);
    }
}
