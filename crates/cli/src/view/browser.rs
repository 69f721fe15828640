//! Opens an address in the browser of this machine's user.

use std::process::{Command, Stdio};

/// Opens `address`, and calls `failed` where that does not work. Does not wait for the browser.
pub fn open(address: &str, failed: impl FnOnce() + Send + 'static) {
    let Some(mut command) = opener(address) else { return failed() };
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(mut child) => {
            std::thread::spawn(move || {
                if !child.wait().is_ok_and(|status| status.success()) {
                    failed();
                }
            });
        }
        Err(_) => failed(),
    }
}

/// The command that hands an address to the desktop; `None` without a desktop, where it would start a browser in the
/// terminal, or wait for one.
fn opener(address: &str) -> Option<Command> {
    if cfg!(target_os = "macos") {
        let mut command = Command::new("open");
        command.arg(address);
        return Some(command);
    }
    if cfg!(windows) {
        let mut command = Command::new("cmd");
        // The empty word is the title of a window, which `start` takes first.
        command.args(["/C", "start", "", address]);
        return Some(command);
    }
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let mut command = Command::new("xdg-open");
    command.arg(address);
    has_display.then_some(command)
}
