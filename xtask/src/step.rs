//! Headings for what takes time, with how long it took.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// Does `work` under a heading, and says how long it took when it is done.
pub fn step<T>(heading: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    eprintln!("==> {heading}");
    let start = Instant::now();
    let result = work();
    let took = readable(start.elapsed());
    match &result {
        Ok(_) => eprintln!("    done in {took}"),
        Err(Failure::Interrupted) => eprintln!("    interrupted after {took}"),
        Err(_) => eprintln!("    failed after {took}"),
    }
    result
}

/// Something worth knowing that is not an error.
pub fn note(text: &str) {
    eprintln!("    {text}");
}

pub fn readable(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_readable() {
        assert_eq!(readable(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(readable(Duration::from_secs(65)), "1 min 05 s");
        assert_eq!(readable(Duration::from_secs(3601)), "60 min 01 s");
    }
}
