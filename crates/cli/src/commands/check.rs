//! stub
use crate::args::CheckArgs;
use crate::failure::Failure;
/// stub
pub fn check(_args: &CheckArgs) -> Result<(), Failure> {
    todo!()
}
