//! Ctrl-C and the polite kill signal: the first asks the run to save itself, the second ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Exit status of an interrupted program.
const STATUS: i32 = 130;

/// From here on signals are noted instead of ending the program.
pub fn listen() {
    // Where no handler can be installed a signal ends the program as usual; the report and checkpoint on disk stay good.
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(STATUS);
        }
    });
}

/// True once a signal came.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
