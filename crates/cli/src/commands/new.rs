//! stub
use crate::args::NewArgs;
use crate::failure::Failure;
/// stub
pub fn new(_args: &NewArgs) -> Result<(), Failure> {
    todo!()
}
