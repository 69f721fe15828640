//! Processor time, and the header of every printout: machine, cores, date, build.
//!
//! Times are read from `/proc`; where there is none they are 0 and the names unknown.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Processor time of all threads of this process so far [s]. Other programs disturb it less than wall time.
pub fn cpu_seconds() -> f64 {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.map(|task| on_cpu(&format!("{}/schedstat", task.path().display()))).sum()
}

/// Processor time of the calling thread so far [s].
pub fn thread_cpu_seconds() -> f64 {
    on_cpu("/proc/thread-self/schedstat")
}

/// The first number of a `schedstat` file is the time on the processor [ns].
fn on_cpu(path: &str) -> f64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

/// One line: processor, cores, load, date, build.
pub fn header() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split(": ").nth(1));
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?").to_owned();
    let (year, month, day) = today();
    format!(
        "{} | {cores} cores, load {load} | {year}-{month:02}-{day:02} UTC | {} | {} {}",
        model.unwrap_or("unknown processor"),
        if cfg!(debug_assertions) { "DEBUG build" } else { "release build" },
        output_of("rustc", &["--version"]),
        output_of("git", &["rev-parse", "--short", "HEAD"]),
    )
}

/// Prints one result on a line of its own, for `peers/table.py` to set against those of the peers.
pub fn result(key: &str, value: f64, unit: &str, more: &[(&str, f64)]) {
    let more: String = more.iter().map(|(name, number)| format!(", \"{name}\": {number}")).collect();
    println!(
        "RESULT {{\"key\": \"{key}\", \"value\": {value}, \"unit\": \"{unit}\", \"peer\": \"littoral\"{more}}}"
    );
}

/// The middle one of some times, the upper of two; 0 of none.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
}

/// Year, month and day in UTC.
fn today() -> (u64, u64, u64) {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    civil(seconds / 86_400)
}

/// The Gregorian date `days` after 1970-01-01, counting from 1 March of year 0 so that the leap day comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let (era, day) = (z / 146_097, z % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let from_january = if month < 10 { month + 3 } else { month - 9 };
    (400 * era + year + u64::from(from_january < 3), from_january, day - (153 * month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn dates_count_leap_years_as_the_calendar_does() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(59), (1970, 3, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_454), (2026, 1, 1));
    }
}
