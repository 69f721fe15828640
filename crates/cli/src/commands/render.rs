//! stub
use crate::args::RenderArgs;
use crate::failure::Failure;
/// stub
pub fn render(_args: &RenderArgs) -> Result<(), Failure> {
    todo!()
}
