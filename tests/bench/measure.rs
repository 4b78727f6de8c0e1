//! Timing, and the table at the end.

use std::time::{Duration, Instant};

/// One line: something measured, what it is compared with, and what is promised.
struct Figure {
    name: String,
    ours: String,
    other: String,
    ratio: Option<f64>,
    promise: Option<Promise>,
}

/// A bound that the project promises to keep.
#[derive(Clone, Copy)]
pub enum Promise {
    AtLeast(f64),
    AtMost(f64),
}

impl Promise {
    fn holds(self, value: f64) -> bool {
        match self {
            Promise::AtLeast(bound) => value >= bound,
            Promise::AtMost(bound) => value <= bound,
        }
    }

    fn text(self) -> String {
        match self {
            Promise::AtLeast(bound) => format!(">= {bound}"),
            Promise::AtMost(bound) => format!("<= {bound}"),
        }
    }
}

#[derive(Default)]
pub struct Figures(Vec<Figure>);

impl Figures {
    pub fn add(
        &mut self,
        name: &str,
        ours: impl Into<String>,
        other: impl Into<String>,
        ratio: Option<f64>,
        promise: Option<Promise>,
    ) {
        self.0.push(Figure {
            name: name.to_owned(),
            ours: ours.into(),
            other: other.into(),
            ratio,
            promise,
        });
    }

    pub fn print(&self) {
        let head = ["what", "xzatoma", "compared with", "ratio", "promise", ""];
        let rows: Vec<[String; 6]> = self
            .0
            .iter()
            .map(|figure| {
                let kept = match (figure.ratio, figure.promise) {
                    (Some(ratio), Some(promise)) if promise.holds(ratio) => "kept",
                    (Some(_), Some(_)) => "MISSED",
                    _ => "",
                };
                [
                    figure.name.clone(),
                    figure.ours.clone(),
                    figure.other.clone(),
                    figure.ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
                    figure.promise.map(Promise::text).unwrap_or_default(),
                    kept.to_owned(),
                ]
            })
            .collect();
        let widths: Vec<usize> = (0..6)
            .map(|column| {
                rows.iter()
                    .map(|row| row[column].len())
                    .chain([head[column].len()])
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let line = |cells: Vec<&str>| {
            let padded: Vec<String> =
                cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            println!("{}", padded.join("  ").trim_end());
        };
        line(head.to_vec());
        for row in &rows {
            line(row.iter().map(String::as_str).collect());
        }
    }

    pub fn json(&self) -> String {
        let figures: Vec<_> = self
            .0
            .iter()
            .map(|figure| {
                serde_json::json!({
                    "name": figure.name,
                    "xzatoma": figure.ours,
                    "compared_with": figure.other,
                    "ratio": figure.ratio,
                    "promise": figure.promise.map(Promise::text),
                    "kept": figure.ratio.zip(figure.promise).map(|(ratio, promise)| promise.holds(ratio)),
                })
            })
            .collect();
        serde_json::json!({ "figures": figures }).to_string()
    }
}

/// The median of `count` runs.
pub fn median(count: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..count)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// The medians of two things measured in turn, so that a busy moment hits both.
pub fn medians(
    count: usize,
    mut one: impl FnMut(),
    mut other: impl FnMut(),
) -> (Duration, Duration) {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..count {
        ones.push(median(1, &mut one));
        others.push(median(1, &mut other));
    }
    ones.sort_unstable();
    others.sort_unstable();
    (ones[count / 2], others[count / 2])
}

pub fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

pub fn micros(time: Duration) -> String {
    format!("{:.1} us", time.as_secs_f64() * 1e6)
}

pub fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
