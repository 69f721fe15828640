//! `littoral view`: a run in the browser, while it goes on or after.

use crate::answer;
use crate::args::ViewArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::view::browser;
use crate::view::routes::Site;
use crate::view::server;
use std::io::Write;
use std::time::Duration;

/// How often it looks whether it shall end: too short to notice, too long to cost anything.
const PATIENCE: Duration = Duration::from_millis(50);

/// Serves the page of a run until Ctrl-C, which is how it ends well.
pub fn view(args: &ViewArgs) -> Result<(), Failure> {
    let site = Site::open(&args.dir)?;
    let listener = server::listen(args.port)?;
    let port = listener.local_addr().map_err(|e| Failure::Io(format!("cannot tell the port: {e}")))?.port();
    interrupt::listen();
    server::serve(listener, site);
    let address = format!("http://127.0.0.1:{port}/");
    answer::print(&address)?;
    tell(&format!("showing {} until Ctrl-C", args.dir.display()));
    if !args.no_open {
        let port_on_both_sides = format!("{port}:127.0.0.1:{port}");
        browser::open(&address, move || {
            tell(&format!(
                "no browser could be opened here: open the address yourself; \
                 from another machine, after ssh -L {port_on_both_sides}"
            ));
        });
    }
    while !interrupt::requested() {
        std::thread::sleep(PATIENCE);
    }
    // Threads that still answer only read: they end with the program.
    Ok(())
}

/// A line on standard error; that nobody reads it is no error.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
