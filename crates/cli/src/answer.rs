//! Standard output carries the answer of a command and nothing else.

use crate::failure::Failure;
use std::io::{ErrorKind, Write};

/// Writes `text` and a line break to standard output. A reader that has seen enough (`| head`) is not an error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Io(format!("cannot write the answer: {e}")))
        }
        _ => Ok(()),
    }
}

/// A number of things: `1 triangle`, `3 triangles`.
pub fn count(n: usize, one: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {one}{plural}")
}

/// A length in the unit that reads best: `2.5 mm`, `31 µm`, `1.2 m`.
pub fn length(metres: f64) -> String {
    let size = metres.abs();
    let (value, unit) = match size {
        _ if size >= 1.0 || size == 0.0 => (metres, "m"),
        _ if size >= 1e-3 => (metres * 1e3, "mm"),
        _ if size >= 1e-6 => (metres * 1e6, "µm"),
        _ => return format!("{metres:.1e} m"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A duration: `0.4 s`, `12 s`, `3:05`, `2:00:00`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "?".into();
    }
    let whole = seconds.round() as u64;
    match whole {
        0..10 => format!("{seconds:.1} s"),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{}:{:02}", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60),
    }
}

fn three_digits(x: f64) -> String {
    match x.abs() {
        a if a >= 100.0 => format!("{x:.0}"),
        a if a >= 10.0 => format!("{x:.1}"),
        _ => format!("{x:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well_at_every_size() {
        assert_eq!([length(1.234), length(0.0025), length(3.1e-5)], ["1.23 m", "2.50 mm", "31.0 µm"]);
        assert_eq!([length(0.0), length(-2e-9)], ["0.00 m", "-2.0e-9 m"]);
        assert_eq!([duration(0.44), duration(12.2), duration(185.0)], ["0.4 s", "12 s", "3:05"]);
        assert_eq!([duration(7200.0), duration(f64::NAN)], ["2:00:00", "?"]);
        assert_eq!([count(1, "tet"), count(0, "tet")], ["1 tet", "0 tets"]);
    }
}
