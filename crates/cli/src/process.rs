//! What the operating system says about this process. Known on Linux; `None`, and so absent from the report, elsewhere.

use std::fs;

/// Linux counts processor time for user programs in units of 1/100 s (`USER_HZ`) on every architecture Rust knows.
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor time of all threads so far [s].
pub fn cpu_seconds() -> Option<f64> {
    cpu_seconds_of(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// The same without the rounding to ticks, at the cost of reading a file a thread.
pub fn fine_cpu_seconds() -> Option<f64> {
    let mut nanoseconds = 0.0;
    for task in fs::read_dir("/proc/self/task").ok()?.flatten() {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        nanoseconds += text.split(' ').next()?.parse::<f64>().ok()?;
    }
    Some(nanoseconds * 1e-9)
}

/// Largest resident memory so far [MB = 10⁶ bytes].
pub fn peak_rss_mb() -> Option<f64> {
    peak_rss_mb_of(&fs::read_to_string("/proc/self/status").ok()?)
}

fn cpu_seconds_of(stat: &str) -> Option<f64> {
    // The second field is the program's name in brackets and may hold spaces: count behind its last bracket.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let user: u64 = fields.get(11)?.parse().ok()?;
    let system: u64 = fields.get(12)?.parse().ok()?;
    Some((user + system) as f64 / TICKS_PER_SECOND)
}

fn peak_rss_mb_of(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_an_odd_program_name() {
        let stat = "7 (a ) b) R 1 7 7 0 -1 4194304 99 0 0 0 150 25 0 0 20 0 3 0 1000 1 1";
        assert_eq!(cpu_seconds_of(stat), Some(1.75));
        assert_eq!(cpu_seconds_of("nonsense"), None);
        assert_eq!(peak_rss_mb_of("Name:\tx\nVmHWM:\t  1000 kB\n"), Some(1.024));
        assert_eq!(peak_rss_mb_of("Name:\tx\n"), None);
    }
}
